import pytest


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    """References are computed, and no test finds what another has left."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
