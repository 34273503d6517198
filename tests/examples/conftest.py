"""What the tests of the benchmarks share."""

import pathlib

import pytest

BENCHMARKS = pathlib.Path(__file__).parents[2] / "examples" / "benchmarks"


@pytest.fixture
def benchmarks(monkeypatch):
    """The benchmarks' own modules can be imported."""
    monkeypatch.syspath_prepend(str(BENCHMARKS))
