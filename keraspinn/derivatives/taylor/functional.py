"""Replay of functional Keras models on Taylor series."""

import inspect
from typing import Any

import keras

from keraspinn.backend.compatibility import run_graph


class MissingRule(LookupError):
    """Error for a layer or activation function without a rule.

    Attributes:
        layer: The innermost layer without a rule, if it is known.
    """

    layer: Any = None


def reject(thing, fault):
    """Raise `MissingRule` for a model, layer or operation.

    Args:
        thing: The model, layer or operation.
        fault: What it does, the end of a sentence.
    """
    raise MissingRule(f"{type(thing).__name__} '{thing.name}' {fault}.")


def replay(model, apply, inputs):
    """Run a functional model with `apply(layer, *inputs)` in place of its layers.

    Args:
        model: A functional `keras.Model` with one output.
        apply: Function of a layer or operation and its inputs, single values or, for
            a merging layer, a list. Inputs of operations may be constants.
        inputs: List of values for `model.inputs`.

    Raises:
        MissingRule: If the model calls layers on anything but each other's outputs, or
            has several outputs.
    """
    if len(model.outputs) != 1:
        reject(model, f"has {len(model.outputs)} outputs; its rule is for one")

    def call(operation):
        return lambda *arguments, **keywords: apply(
            operation, *_positional(operation, arguments, keywords, type(inputs[0]))
        )

    return keras.tree.flatten(run_graph(model, inputs, call))[0]


def in_order(model, inputs):
    """Return the positional arguments of a model's call in the order of `model.inputs`.

    Raises:
        MissingRule: If their structure differs from the model's.
    """
    flat = keras.tree.flatten(inputs)
    both = (inputs[0] if len(inputs) == 1 else inputs), model.input
    names, declared = (x.keys() if isinstance(x, dict) else None for x in both)
    if len(flat) != len(model.inputs) or names != declared:
        reject(model, "is called with other inputs")
    return flat


def _positional(layer, arguments, keywords, kind):
    """Return the arguments of a layer's or operation's call as a tuple."""
    keywords = {  # Keras adds masks that are None
        name: value
        for name, value in keywords.items()
        if any(leaf is not None for leaf in keras.tree.flatten(value))
    }
    call = inspect.signature(layer.call).bind(*arguments, **keywords)
    leaves = keras.tree.flatten(call.args)
    is_layer = isinstance(layer, keras.layers.Layer)
    if call.kwargs or (is_layer and not all(isinstance(x, kind) for x in leaves)):
        reject(layer, "is called with more than the outputs of other layers")
    return call.args
