"""What Keras has no public interface for, one folder for each Keras backend."""

import importlib

import keras

# Folders of this package, and what each of them must have.
BACKENDS = ("tensorflow", "jax")
NAMES = (
    "EventWriter",
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
    "has_accelerator",
    "hessian_products",
    "is_tick",
    "jacobian",
    "jvp",
    "replica",
    "replica_mean",
    "static_shape",
    "tick_dataset",
    "uniform",
    "value_and_gradients",
)


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
