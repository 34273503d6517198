"""Runs the tests on JAX, each group in a process of its own."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from runs_on import RUNS_ON, elsewhere

ROOT = Path(__file__).parents[2]
TESTS = ROOT / "tests"
ABSENT = TESTS / "backend" / "absent"

NOT_ON_JAX = elsewhere(on_jax=True, single=False)
# The longest are groups by themselves, and what is not named here is the last group.
LONG = ["callbacks", "derivatives", "diagnostics", "examples", "expressions"]
LONG += ["geometry", "networks", "optimizers", "training"]
LONG += ["test_citizenship.py", "test_docs.py"]
FOLDERS = {path.relative_to(TESTS).parts[0] for path in TESTS.rglob("test_*.py")}
GROUPS = {name: [name] for name in LONG}
GROUPS["others"] = sorted(FOLDERS - set(LONG) - NOT_ON_JAX.keys())
# As where TensorFlow is not installed; Keras loads it in the others if it is.
WITHOUT_TENSORFLOW = ["examples", "training"]


def test_the_list_names_what_there_is():
    for name in (name for names in RUNS_ON.values() for name in names):
        path, _, test = name.partition("::")
        assert (TESTS / path).exists(), name
        if test and not test.startswith("*"):
            assert f"def {test}(" in (TESTS / path).read_text("utf-8"), name


@pytest.mark.parametrize("group", GROUPS)
def test_on_jax(group):
    run(*GROUPS[group], without=group in WITHOUT_TENSORFLOW)


def test_on_jax_in_single_precision():
    """JAX's own default, in which most of the others cannot run."""
    names = "backend/test_jax.py", "backend/test_every_backend.py"
    run(*names, JAX_ENABLE_X64="0")


def run(*names, without=False, **environment):
    command = [sys.executable, "-m", "pytest", "-q", "-rs", "-p", "no:cacheprovider"]
    paths = [str(ABSENT)] * without + [str(ROOT), os.environ.get("PYTHONPATH", "")]
    settings = {
        "KERAS_BACKEND": "jax",
        "JAX_ENABLE_X64": "1",
        "TF_CPP_MIN_LOG_LEVEL": "3",
        "PYTHONPATH": os.pathsep.join(paths),
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
