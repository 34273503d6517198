"""What Keras keeps to itself and we need, each thing touched here and nowhere else."""

import operator
import re

import keras


def every_layer(layer):
    """A layer and all layers inside it, at any depth, each once."""
    return layer._flatten_layers()


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
