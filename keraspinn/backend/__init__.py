"""What Keras has no public interface for, one file for each Keras backend."""

import keras

if keras.backend.backend() == "tensorflow":
    from keraspinn.backend.replicas import (
        all_finite,
        apply_if,
        copies,
        replica,
        replica_mean,
        worker_count,
    )
    from keraspinn.backend.tensorflow import (
        EventWriter,
        array_dataset,
        compiled,
        fused_loop,
        hessian_products,
        tick_dataset,
        uniform,
        value_and_gradients,
    )
else:
    raise ImportError(
        "keraspinn runs on the TensorFlow backend of Keras. Received: "
        f"'{keras.backend.backend()}'. Set the environment variable "
        "KERAS_BACKEND=tensorflow before Keras is imported."
    )

__all__ = [
    "EventWriter",
    "all_finite",
    "apply_if",
    "array_dataset",
    "compiled",
    "copies",
    "fused_loop",
    "hessian_products",
    "replica",
    "replica_mean",
    "tick_dataset",
    "uniform",
    "value_and_gradients",
    "worker_count",
]
