import numpy as np
import pytest

from keraspinn.common.cache import cache_directory, cached

ARRAY = np.linspace(0, 1, 5)


@pytest.fixture
def directory(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "keraspinn"


def compute():
    return ARRAY.copy()


def not_again():
    raise AssertionError("It is in the cache.")


def test_cached_value_is_computed_once(directory):
    assert (cached("five", compute) == ARRAY).all()
    assert [path.name for path in directory.iterdir()] == ["five.npz"]
    assert (cached("five", not_again) == ARRAY).all()
    with pytest.raises(AssertionError):
        cached("six", not_again)


@pytest.mark.parametrize(
    "spoil",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"nonsense"),
        lambda path: path.write_bytes(path.read_bytes()[:-30]),
        lambda path: path.write_bytes(path.read_bytes()[:60] + b"x" * 400),
        lambda path: np.savez(path, other=ARRAY),
        lambda path: np.savez(path, array=np.array([{}], dtype=object)),
    ],
)
def test_unreadable_files_are_computed_again(directory, spoil):
    cached("five", compute)
    spoil(directory / "five.npz")
    assert (cached("five", compute) == ARRAY).all()
    assert (cached("five", not_again) == ARRAY).all()


def test_works_without_a_writable_directory(directory, monkeypatch):
    directory.write_text("a file where the directory should be")
    assert (cached("five", compute) == ARRAY).all()


def test_cache_directory(directory, monkeypatch, tmp_path):
    assert cache_directory() == directory
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", "")
    assert cache_directory() == tmp_path / ".cache" / "keraspinn"
