"""Settings that must be made before TensorFlow is imported, and hypothesis's."""

import os
import re
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
# Most of the tests' time is XLA's; what it compiles here runs for moments.
os.environ.setdefault(
    "XLA_FLAGS",
    "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true",
)

import keras
import numpy as np
import pytest
from hypothesis import settings

import keraspinn as kp

# The first call of a TensorFlow function takes long; that is no failure. Where every
# change is checked the same examples are drawn, so that only a change can fail there.
settings.register_profile(
    "keraspinn", deadline=None, derandomize=bool(os.environ.get("CI"))
)
settings.load_profile("keraspinn")

# What is not collected on another backend, beside files that import TensorFlow for
# their own tensors and gradients: the folders that test what only TensorFlow has.
TENSORFLOW_ALONE = {
    "distribution": "tf.distribute's replicas and workers",
}
_IMPORT = re.compile(r"^(import tensorflow|from tensorflow)", re.MULTILINE)


def pytest_ignore_collect(collection_path, config):
    """Leave out, on other backends, what tests TensorFlow."""
    if keras.backend.backend() == "tensorflow":
        return None
    path = Path(collection_path)
    if path.is_dir():
        return True if path.name in TENSORFLOW_ALONE else None
    if path.suffix == ".py" and _IMPORT.search(path.read_text("utf-8")):
        return True
    return None


@pytest.fixture(autouse=True)
def _seeded():
    """Draw the same initial weights in each run, and in whichever order of tests."""
    keras.utils.set_random_seed(0)


@pytest.fixture
def goes_on_to_the_bit(tmp_path):
    """Function that fits, saves, loads and resumes: all must end in the same numbers.

    It takes what makes a model, an optimizer's class, the points and callbacks.
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
            return [*model.get_weights(), *model.extra_training_state().values()]

        backup = kp.callbacks.BackupAndRestore(tmp_path, delete_checkpoint=False)
        trained(2, backup).save(path := tmp_path / "toy.keras")
        ends = [trained(4, backup), trained(2, model=kp.load_model(path)), trained(4)]
        if x is not None:
            del ends[1]  # a sampler's memory is the backup's, not the model's
        for *went_on, undisturbed in zip(*map(state, ends), strict=True):
            for end in went_on:
                np.testing.assert_array_equal(end, undisturbed)

    return check
