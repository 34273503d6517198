"""Functions that Keras has no public interface for, a folder for each backend."""

import importlib
import types
from typing import TYPE_CHECKING

import keras

if TYPE_CHECKING:  # every folder has the same names
    from keraspinn.backend.tensorflow import *  # noqa: F403

BACKENDS = ("tensorflow", "jax")  # folders of this package


def _load(name):
    if name not in BACKENDS:
        raise ImportError(
            f"keraspinn runs on Keras's backends {' and '.join(BACKENDS)}. Received: "
            f"'{name}'. Set the environment variable KERAS_BACKEND to one of them "
            "before Keras is imported."
        )
    module = importlib.import_module(f"keraspinn.backend.{name}")
    return {
        public: value
        for public, value in vars(module).items()
        if not public.startswith("_") and not isinstance(value, types.ModuleType)
    }


globals().update(_load(keras.backend.backend()))
