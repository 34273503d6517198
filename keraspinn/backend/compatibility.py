"""What Keras keeps to itself and we need, each thing touched here and nowhere else."""

import operator
import re

import keras

MODELS = {
    "keras.src.models.functional.Functional",
    "keras.src.models.sequential.Sequential",
}
"""What saved configurations call models of Keras's own."""

OPERATIONS = {f"keras.src.ops.{name}" for name in ("core", "math", "nn", "numpy")}
"""Modules of the operations in functional models: to Keras, they are layers."""


def every_layer(layer):
    """A layer and all layers inside it, at any depth, each once."""
    return layer._flatten_layers()


def inner_layers(layer):
    """The layers right inside a layer, in the order in which they were made."""
    found = layer._flatten_layers(include_self=False, recursive=False)
    return [own for own in found if not isinstance(own, keras.layers.InputLayer)]


def begin_at_epoch(model, epoch):
    """Let the `fit` that has begun go on at an epoch; `None` ends that.

    What `keras.callbacks.BackupAndRestore` does, which reads the epoch from a file.
    """
    model._initial_epoch = epoch


def copy_exclusions(optimizer, other, variables, likes):
    """Leave out of an optimizer's weight decay what another leaves out of its own.

    Args:
        optimizer: That of variables.
        other: That of their likes, which may be the same.
        variables: Keras variables.
        likes: As many, in the same order.
    """
    keys = getattr(optimizer, "_exclude_from_weight_decay", set())
    pattern = getattr(optimizer, "_exclude_from_weight_decay_pattern", None)
    pairs = zip(variables, likes, strict=True)
    found = {other._var_key(like) for v, like in pairs if optimizer._var_key(v) in keys}
    if found or pattern:
        own = getattr(other, "_exclude_from_weight_decay", set())
        other._exclude_from_weight_decay = own | found
        other._exclude_from_weight_decay_pattern = pattern
        other._exclude_from_weight_decay_cache = {}


def public_function(operation):
    """The function that an operation in a functional model is a call of.

    The classes of Keras's operations have no public names, but those of its functions:
    `TrueDivide` is the class of `keras.ops.true_divide`.

    Returns:
        A function of `keras.ops`, `operator.getitem`, or `None`.
    """
    own = type(operation)
    if own.__module__.partition(".")[0] != "keras":
        return None
    if own.__name__ == "GetItem":
        return operator.getitem
    name = "relu" if own.__name__ == "ReLU" else own.__name__  # of keras.activations
    return getattr(
        keras.ops, re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower(), None
    )


class _Narrowed(dict):
    """What Keras computes 64-bit types in, but float64 where that is to be had."""

    def __init__(self, types, has_float64):
        super().__init__(types)
        self.has_float64 = has_float64

    def get(self, name, default=None):
        if name == "float64" and self.has_float64():
            return name
        return super().get(name, default)


def keep_float64(has_float64):
    """Let Keras's operations compute in the float64 that they are given.

    On every backend but TensorFlow, Keras rounds what `tanh`, `sin` and others are
    given to float32, and so it does with JAX's double precision on.

    Args:
        has_float64: Function that tells whether the backend has float64 now.
    """
    from keras.src.backend.common import dtypes

    dtypes.BIT64_TO_BIT32_DTYPE = _Narrowed(dtypes.BIT64_TO_BIT32_DTYPE, has_float64)
