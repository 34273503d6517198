"""Functions that Keras has no public interface for, a folder for each backend.

The public functions and classes in the modules of a backend's folder are those of this
package. Both folders have the names that other folders use.
"""

import importlib
import pkgutil
from typing import TYPE_CHECKING, Any

import keras

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...


BACKENDS = ("tensorflow", "jax")  # folders of this package


def _load(name):
    if name not in BACKENDS:
        raise ImportError(
            f"keraspinn runs on Keras's backends {' and '.join(BACKENDS)}. Received: "
            f"'{name}'. Set the environment variable KERAS_BACKEND to one of them "
            "before Keras is imported."
        )
    folder = importlib.import_module(f"keraspinn.backend.{name}")
    prefix = f"{folder.__name__}."
    names = [module.name for module in pkgutil.iter_modules(folder.__path__, prefix)]
    return {
        public: value
        for module in map(importlib.import_module, names)
        for public, value in vars(module).items()
        if getattr(value, "__module__", "") == module.__name__
        and not public.startswith("_")
    }


globals().update(_load(keras.backend.backend()))
