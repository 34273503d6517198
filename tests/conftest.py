"""Settings of the backend and of hypothesis, skipped tests, and shared fixtures."""
# ruff: noqa: E402

import os
import shutil
import sys
import tempfile
from pathlib import Path

# `examples` is not installed: it is found behind all installed packages, and before a
# test imports the folder `tests/examples` under its name.
sys.path.append(str(Path(__file__).parents[1]))
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
# XLA takes most of the tests' time, to compile programs that run for moments. On a GPU
# such flags end the process: `XLA_FLAGS=` switches them off.
os.environ.setdefault(
    "XLA_FLAGS",
    "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true "
    "--xla_cpu_use_fusion_emitters=false --xla_cpu_parallel_codegen_split_count=1",
)
# Threads of two processes that wait for each other multiply small matrices 3 x slower.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("JAX_ENABLE_X64", "1")  # half of the tests compute in float64
# Tests compile the same small models again and again: the first process of a run and
# those that it starts share the programs that JAX has compiled.
COMPILED = "JAX_COMPILATION_CACHE_DIR"
if IS_FIRST := COMPILED not in os.environ:
    os.environ[COMPILED] = tempfile.mkdtemp(prefix="compiled_by_jax")
os.environ["JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS"] = "0"
os.environ["JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES"] = "-1"

import keras
import numpy as np
import pytest
from hypothesis import settings

import keraspinn as kp
from runs_on import elsewhere

# The first call of a TensorFlow function takes long, without a deadline. Continuous
# integration draws the same examples each time, so that only a change can fail.
settings.register_profile(
    "keraspinn", deadline=None, derandomize=bool(os.environ.get("CI"))
)
settings.load_profile("keraspinn")

TESTS = Path(__file__).parent
# Folders of slow tests: commands of studies, and processes on several devices.
SLOW = ("distribution", "examples")
ELSEWHERE = elsewhere()


def pytest_pycollect_makemodule(module_path, parent):
    """Skip files of the other backend with the reason, without importing them."""
    path = module_path.relative_to(TESTS)
    for name in (folder.as_posix() for folder in (path, *path.parents)):
        if name in ELSEWHERE:
            return _Skipped.from_parent(parent, path=module_path, why=ELSEWHERE[name])
    return None


def pytest_unconfigure():
    """Remove the compiled programs."""
    if IS_FIRST:
        shutil.rmtree(os.environ[COMPILED], ignore_errors=True)


class _Skipped(pytest.Module):
    def __init__(self, *arguments, why, **named):
        super().__init__(*arguments, **named)
        self._why = why

    def collect(self):
        pytest.skip(self._why)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Skip the tests that run on the other backend, and mark folders as slow."""
    for item in items:
        path = item.path.relative_to(TESTS).as_posix()
        if path.startswith(SLOW):
            item.add_marker(pytest.mark.slow)
        test, bracket, parameters = item.name.partition("[")
        for name in (item.name, test, f"*{bracket}{parameters}"):
            if why := ELSEWHERE.get(f"{path}::{name}"):
                item.add_marker(pytest.mark.skip(reason=why))


@pytest.fixture(autouse=True)
def _seeded():
    """Draw the same initial weights in each run and in any order of tests."""
    keras.utils.set_random_seed(0)


@pytest.fixture
def assert_resume_is_bit_exact(tmp_path):
    """Function that fits, saves, loads and resumes, and compares the bits of the state.

    It takes functions that make a model and callbacks, an optimizer class and points.
    """

    def check(make, optimizer=keras.optimizers.Adam, x=None, callbacks=tuple):
        def trained(epochs, *more, model=None):
            if model is None:
                keras.utils.set_random_seed(0)
                model = make()
                model.compile(optimizer(), jit_compile=False)
            run = {"steps_per_epoch": 5, "batch_size": 16, "verbose": 0}
            model.fit(x, epochs=epochs, callbacks=[*callbacks(), *more], **run)
            return model

        def state(model):
            return list(map(keras.ops.convert_to_numpy, model.trainer.state_variables))

        backup = kp.callbacks.BackupAndRestore(tmp_path, delete_checkpoint=False)
        trained(2, backup).save(path := tmp_path / "toy.keras")
        ends = [trained(4, backup), trained(2, model=kp.load_model(path)), trained(4)]
        for *resumed, undisturbed in zip(*map(state, ends), strict=True):
            for end in resumed:
                np.testing.assert_array_equal(end, undisturbed)

    return check
