"""Runs the tests on JAX, each group in a process of its own."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"

# Folders and files of `tests/`, in groups that take about as long as one another.
GROUPS = {
    "backend": ["backend"],
    "callbacks": ["callbacks"],
    "derivatives": ["derivatives", "metrics", "weighting"],
    "diagnostics": ["diagnostics", "plot"],
    "networks": ["layers", "networks", "residuals", "sampling"],
    "optimizers": ["optimizers"],
    "problems": ["geometry", "expressions", "problems", "reliability"],
    "training": ["training"],
    "users": ["test_bad_inputs.py", "test_citizenship.py"],
}
# What would only be run twice, and why.
ONCE = {
    "common": "files, locks and settings: no tensors",
    "distribution": "TensorFlow alone",
    "examples": "their tables, figures and records, and long trainings",
    "solvers": "classical solvers in NumPy and SciPy",
    "spec": "SymPy and NumPy: no tensors but those of `expressions`",
    "test_architecture.py": "reads the documentation",
    "test_docs.py": "the documentation shows what TensorFlow prints",
    "test_package.py": "reads the sources",
    "test_readme.py": "the README's program, on Keras's default backend",
    "test_typing.py": "a type checker reads the sources",
}


def test_every_folder_runs_here_or_is_said_to_run_once():
    there = {p.name for p in TESTS.iterdir() if p.is_dir() and [*p.rglob("test_*.py")]}
    there |= {path.name for path in TESTS.glob("test_*.py")}
    run = [name for group in GROUPS.values() for name in group]
    assert sorted([*run, *ONCE]) == sorted(there)


@pytest.mark.parametrize("group", GROUPS)
def test_on_jax(group):
    run(*GROUPS[group])


def test_on_jax_in_single_precision():
    """JAX's own default, in which most of the others cannot run."""
    run("backend/test_jax.py", "backend/test_every_backend.py", JAX_ENABLE_X64="0")


def run(*names, **environment):
    command = [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider"]
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    settings = {
        "KERAS_BACKEND": "jax",
        "JAX_ENABLE_X64": "1",
        "BY_TEST_ON_JAX": "1",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "PYTHONPATH": path,
    }
    result = subprocess.run(
        [*command, *(str(TESTS / name) for name in names)],
        env=os.environ | settings | environment,
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stdout[-12000:] + result.stderr[-3000:]
    assert re.search(r"\d+ passed", result.stdout), result.stdout[-3000:]
