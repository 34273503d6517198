"""Access to private parts of Keras, in this file alone."""

import operator
import re

import keras


def every_layer(layer):
    """Return a layer and all layers inside it, at any depth, each once."""
    return layer._flatten_layers()


def begin_at_epoch(model, epoch):
    """Let the running `fit` continue at an epoch; `None` ends that.

    `keras.callbacks.BackupAndRestore` does the same with an epoch from a file.
    """
    model._initial_epoch = epoch


def run_graph(model, inputs, call):
    """Run a functional model with `call(operation)` in place of each operation.

    Args:
        model: The model.
        inputs: List of any values, in the order of `model.inputs`.
        call: Function of a layer or operation that returns a function of its arguments.

    Returns:
        The outputs, in the structure of the model's.
    """
    return model._run_through_graph(inputs, operation_fn=call)


def has_exclusions(optimizer):
    """Return whether weights are excluded from an optimizer's weight decay."""
    names = "_exclude_from_weight_decay", "_exclude_from_weight_decay_pattern"
    return any(getattr(optimizer, name, None) for name in names)


def public_function(operation):
    """Return the function that an operation in a functional model calls.

    The classes of Keras's operations have no public names, but those of its functions:
    `TrueDivide` is the class of `keras.ops.true_divide`.

    Returns:
        A function of `keras.ops`, `operator.getitem`, or `None`.
    """
    kind = type(operation)
    if kind.__module__.partition(".")[0] != "keras":
        return None
    if kind.__name__ == "GetItem":
        return operator.getitem
    name = "relu" if kind.__name__ == "ReLU" else kind.__name__  # of keras.activations
    name = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()
    return getattr(keras.ops, name, None)


def keep_float64(has_float64):
    """Let Keras's operations compute float64 inputs in float64.

    On every backend but TensorFlow, Keras rounds the inputs of `tanh`, `sin` and others
    to float32, even with JAX's double precision on.

    Args:
        has_float64: Function that tells whether the backend has float64 now.
    """
    from keras.src.backend.common import dtypes

    class Narrowed(dict):
        """Keras's types for 64-bit types, with float64 kept."""

        def get(self, name, default=None):
            is_kept = name == "float64" and has_float64()
            return name if is_kept else super().get(name, default)

    dtypes.BIT64_TO_BIT32_DTYPE = Narrowed(dtypes.BIT64_TO_BIT32_DTYPE)
