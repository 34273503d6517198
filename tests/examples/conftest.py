"""What the tests of the examples share.

They find `examples`, which is not installed, behind all that is.
"""

import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
sys.path.append(str(ROOT))


@pytest.fixture
def benchmarks(monkeypatch):
    """The benchmarks' own modules can be imported."""
    monkeypatch.syspath_prepend(str(ROOT / "examples" / "benchmarks"))
