"""What Keras has no public interface for, one folder for each Keras backend."""

import importlib
from typing import TYPE_CHECKING

import keras

if TYPE_CHECKING:  # what every folder has, seen in one of them
    from keraspinn.backend.tensorflow import *  # noqa: F403

BACKENDS = ("tensorflow", "jax")  # folders of this package
NAMES = (
    "StepFunctions",
    "all_finite",
    "apply_optimizer",
    "array_dataset",
    "check_dtype",
    "cholesky",
    "chosen",
    "compiled",
    "copies",
    "double_precision",
    "full_products",
    "has_accelerator",
    "hessian_products",
    "is_tick",
    "jacobian",
    "jvp",
    "map_members",
    "replica",
    "replica_mean",
    "shard",
    "shard_count",
    "static_shape",
    "tick_dataset",
    "uniform",
    "value_and_gradients",
    "whole",
)
"""What every one of them has."""


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
    return {own: getattr(module, own) for own in NAMES}


globals().update(_load(keras.backend.backend()))
__all__ = list(NAMES)
