"""Fixtures of the tests of the examples."""

import pathlib
import runpy
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture
def run_program(tmp_path, monkeypatch, capsys):
    """Function that runs a program of `examples` in `tmp_path` and returns its output.

    It runs in this process, which has imported and compiled most of it already.
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
    """Make the modules of the benchmarks importable."""
    monkeypatch.syspath_prepend(str(ROOT / "examples" / "benchmarks"))
