import pytest


@pytest.fixture(autouse=True)
def separate_cache(tmp_path, monkeypatch):
    """Use a separate cache, so that each test computes its references."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
