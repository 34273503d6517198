"""Settings that must be made before TensorFlow is imported, and hypothesis's."""

import os
import re
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

import keras
import pytest
from hypothesis import settings

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
