"""Functions of the backend that tests need: those of TensorFlow or of JAX.

They compute gradients, compile programs and stream batches
independently of keraspinn, which they check. All other code of a test uses `keras.ops`
and runs on both backends. `tests/runs_on.py` lists the exceptions.

Both modules have the same functions. A gradient by a list of tensors `x` is a list.
"""

import importlib

import keras
import numpy as np
from keras import ops

ON_JAX = keras.backend.backend() == "jax"
# For `compile` of models that take a few steps: on TensorFlow tracing takes longer.
FEW_STEPS = {"run_eagerly": not ON_JAX}

_functions = importlib.import_module(f"tensors.{keras.backend.backend()}")
compiled = _functions.compiled
eagerly = _functions.eagerly
jacobian = _functions.jacobian
program_types = _functions.program_types
stream = _functions.stream
value_and_gradient = _functions.value_and_gradient
value_and_gradients_by_variables = _functions.value_and_gradients_by_variables


def gradient(function, x):
    """Return the gradient of a scalar function, zero if it does not depend on `x`."""
    return value_and_gradient(function, x)[1]


def nested_gradients(function, x, index):
    """Return ∂^index of each column of `function` of points `(..., d)`.

    Computed by nested reverse mode, which keraspinn does not use.
    """
    columns = [column for column, count in enumerate(index) for _ in range(count)]

    def output(column):
        def differentiate(columns, x):
            if not columns:
                return function(x)[..., column]
            derivative = gradient(lambda x: ops.sum(differentiate(columns[1:], x)), x)
            return derivative[..., columns[0]]

        return ops.convert_to_numpy(differentiate(columns, x))

    return np.stack([output(column) for column in range(function(x).shape[-1])], -1)
