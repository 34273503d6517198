"""Runs the tests on JAX, each group in a process of its own."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"

# Folders and files of `tests/` that run on JAX wherever all tests run: the backend, and
# a step with each thing that is put into it. `KERAS_BACKEND=jax pytest` runs the rest
# of these folders too.
GROUPS = {
    "backend": ["backend", "metrics", "weighting", "expressions/test_functions.py"],
    "derivatives": ["derivatives"],
    "layers": ["layers", "networks/test_networks.py", "residuals", "sampling"],
    "optimizers": ["optimizers/test_fit.py", "optimizers/test_gauss_newton.py"],
    "training": ["callbacks/test_annealing.py", "training/test_ensemble.py"],
    "users": ["test_citizenship.py", "training/test_guard.py", "geometry/test_toy.py"],
}
# What need not run on JAX at all, and why.
ONCE = {
    "common": "files, locks and settings: no tensors",
    "distribution": "TensorFlow alone, or programs of their own on JAX",
    "examples": "their tables, figures and records, and long trainings",
    "solvers": "classical solvers in NumPy and SciPy",
    "spec": "SymPy and NumPy: no tensors but those of `expressions`",
    "test_architecture.py": "reads the documentation",
    "test_docs.py": "the documentation shows what TensorFlow prints",
    "test_package.py": "reads the sources",
    "test_readme.py": "the README's program, on Keras's default backend",
    "test_typing.py": "a type checker reads the sources",
}


# What is left to `KERAS_BACKEND=jax pytest` whole.
LATER = {"diagnostics", "plot", "problems", "reliability", "test_bad_inputs.py"}


def test_every_folder_runs_on_jax_or_is_said_not_to():
    there = {p.name for p in TESTS.iterdir() if p.is_dir() and [*p.rglob("test_*.py")]}
    there |= {path.name for path in TESTS.glob("test_*.py")}
    run = {name.split("/")[0] for group in GROUPS.values() for name in group}
    assert run | ONCE.keys() | LATER == there
    assert not run & ONCE.keys() and not (run | ONCE.keys()) & LATER


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
