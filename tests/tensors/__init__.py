"""What tests take from TensorFlow or from JAX: the one that Keras runs on.

Gradients, compiled programs, streams of batches and what was written for TensorBoard,
by the backend's own functions and by nothing of keraspinn's, which they check. A test
computes with `keras.ops` besides, and so runs on every backend. What only one of them
has is listed in `tests/conftest.py`, with the reason.

Both modules have the same functions. Where `x` is a tensor or a list of tensors, what
a gradient is taken by, the gradient is one too.
"""

import importlib

import keras
import numpy as np
from keras import ops

ON_JAX = keras.backend.backend() == "jax"
# For `compile` of models that make a few steps: to trace them takes longer than to make
# them, but on JAX.
FEW_STEPS = {"run_eagerly": not ON_JAX}

_own = importlib.import_module(f"tensors.{keras.backend.backend()}")
compiled = _own.compiled
eagerly = _own.eagerly
events = _own.events
jacobian = _own.jacobian
jvp = _own.jvp
program_types = _own.program_types
stream = _own.stream
value_and_gradient = _own.value_and_gradient
value_and_gradients_by_variables = _own.value_and_gradients_by_variables
vjp = _own.vjp


def gradient(function, x):
    """The gradient of a scalar function, zero where `x` is not met."""
    return value_and_gradient(function, x)[1]


def nested_gradients(function, x, index):
    """∂^index of each column that `function` of points `(..., d)` gives.

    By reverse mode in reverse mode, which neither engine of keraspinn uses.
    """
    columns = [column for column, count in enumerate(index) for _ in range(count)]

    def output(place):
        def differentiate(columns, x):
            if not columns:
                return function(x)[..., place]
            slope = gradient(lambda x: ops.sum(differentiate(columns[1:], x)), x)
            return slope[..., columns[0]]

        return ops.convert_to_numpy(differentiate(columns, x))

    return np.stack([output(place) for place in range(function(x).shape[-1])], -1)
