"""What the tests of the examples share.

They find `examples`, which is not installed, behind all that is.
"""

import pathlib
import runpy
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]
sys.path.append(str(ROOT))


@pytest.fixture
def run_program(tmp_path, monkeypatch, capsys):
    """Function that runs a program of `examples` in `tmp_path`; returns what it prints.

    In this process, which has imported and compiled already much of what they need.
    """

    def run(name, *arguments):
        path = ROOT / "examples" / name
        monkeypatch.chdir(tmp_path)
        monkeypatch.syspath_prepend(str(path.parent))
        monkeypatch.setattr(sys, "argv", [str(path), *map(str, arguments)])
        runpy.run_path(str(path), run_name="__main__")
        return capsys.readouterr().out

    return run


@pytest.fixture
def benchmarks(monkeypatch):
    """The benchmarks' own modules can be imported."""
    monkeypatch.syspath_prepend(str(ROOT / "examples" / "benchmarks"))
