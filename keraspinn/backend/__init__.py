"""What Keras has no public interface for, one folder for each Keras backend."""

import importlib
import types
from typing import TYPE_CHECKING

import keras

if TYPE_CHECKING:  # what every folder has, seen in one of them
    from keraspinn.backend.tensorflow import *  # noqa: F403

BACKENDS = ("tensorflow", "jax")  # folders of this package


def _load(name):
    if name not in BACKENDS:
        raise ImportError(
            f"keraspinn runs on Keras's backends {' and '.join(BACKENDS)}. Received: "
            f"'{name}'. Set the environment variable KERAS_BACKEND to one of them "
            "before Keras is imported. What stands in another's way is that many "
            "steps run as one compiled program with second derivatives inside, which "
            f"'{name}' has no folder for in keraspinn/backend."
        )
    module = importlib.import_module(f"keraspinn.backend.{name}")
    return {
        own: value
        for own, value in vars(module).items()
        if not own.startswith("_") and not isinstance(value, types.ModuleType)
    }


globals().update(_load(keras.backend.backend()))
