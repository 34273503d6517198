"""Replay of functional Keras models on Taylor series."""

import dataclasses
import inspect
import weakref
from typing import Any

import keras

_TAPES: Any = weakref.WeakKeyDictionary()


def is_functional(layer):
    """Test whether `layer` is a plain `keras.Model(inputs, outputs)`.

    The class of such models has no public name, but its bases have. A subclass may
    override `call`, and has other bases.
    """
    return type(layer).__bases__ == (keras.Function, keras.Model)


def replay(model, apply, inputs):
    """Run a functional model with `apply(layer, *inputs)` in place of its layers.

    Args:
        model: A functional `keras.Model` with one output.
        apply: Function of a layer or operation and its inputs, single values or, for
            a merging layer, a list. Inputs of operations may be constants.
        inputs: List of values for `model.inputs`.

    Raises:
        LookupError: If the model calls layers and operations on anything but each
            other's outputs, or has several outputs.
    """
    if model not in _TAPES:
        _TAPES[model] = _record(model)
    calls, output_name = _TAPES[model]
    operations = {operation.name: operation for operation in model.operations}
    values = dict(enumerate(inputs))
    for name, arguments, result in calls:
        arguments = keras.tree.map_structure(
            lambda leaf: values[leaf.number] if isinstance(leaf, _Value) else leaf,
            arguments,
        )
        values[result] = apply(operations[name], *arguments)
    return values[output_name]


def in_order(model, inputs):
    """Return the positional arguments of a model's call in the order of `model.inputs`.

    Raises:
        LookupError: If their structure differs from the model's.
    """
    flat = keras.tree.flatten(inputs)
    received = inputs[0] if len(inputs) == 1 else inputs
    named = isinstance(received, dict) or isinstance(model.input, dict)
    if len(flat) != len(model.inputs) or (named and not _alike(received, model.input)):
        raise LookupError(
            f"Model '{model.name}' is called with inputs in another structure than "
            "it declares."
        )
    return flat


def _alike(received, declared):
    return (
        isinstance(received, dict)
        and isinstance(declared, dict)
        and received.keys() == declared.keys()
    )


@dataclasses.dataclass(frozen=True)
class _Value:
    """Argument that is the value of a number; others are constants."""

    number: int


class _StandIn(keras.layers.Layer):
    """Substitute for a layer while a graph is traversed, which computes nothing."""

    def __init__(self, spec, name):
        super().__init__(name=name)
        self._spec = spec

    def compute_output_spec(self, *arguments):
        return keras.KerasTensor(self._spec.shape, self._spec.dtype)

    def call(self, *arguments):
        raise NotImplementedError("A substitute layer is never run.")


def _record(model):
    """Return the calls in a functional model, in order, by the numbers of values.

    `clone_model` is the public way to traverse the graph. It traverses a copy with the
    same layers, and calls stand-ins in their place, so that the model stays unchanged
    and no weight is created.
    """
    if len(model.outputs) != 1:
        raise LookupError(
            f"Model '{model.name}' has {len(model.outputs)} outputs; only a model "
            "with one can be replayed."
        )
    calls, names = [], {}

    def record(layer, *arguments, **keywords):
        used = _positional(layer, arguments, keywords)
        leaves = keras.tree.flatten(used)
        tensors = [leaf for leaf in leaves if isinstance(leaf, keras.KerasTensor)]
        known = [id(tensor) in names for tensor in tensors]
        constants = len(leaves) - len(tensors)
        if not all(known) or (constants and isinstance(layer, keras.layers.Layer)):
            raise LookupError(
                f"'{layer.name}' in model '{model.name}' is called with more than "
                "the outputs of other layers."
            )
        spec = layer.compute_output_spec(*used)
        if not isinstance(spec, keras.KerasTensor):
            raise LookupError(
                f"'{layer.name}' in model '{model.name}' has several outputs."
            )
        output = _StandIn(spec, name=f"call_{len(calls)}")(*tensors)
        kept.append(output)
        names[id(output)] = len(names)
        numbered = keras.tree.map_structure(
            lambda leaf: _Value(names[id(leaf)]) if id(leaf) in names else leaf, used
        )
        calls.append((layer.name, numbered, names[id(output)]))
        return output

    # All names are given, or Keras would count up those of the user's layers.
    kept = [  # keeps ids from being reused
        keras.Input(batch_shape=x.shape, dtype=x.dtype, name=x.name)
        for x in model.inputs
    ]
    names.update({id(tensor): number for number, tensor in enumerate(kept)})
    walked = keras.models.clone_model(
        keras.Model(model.input, model.output, name=model.name),
        input_tensors=keras.tree.pack_sequence_as(model.input, list(kept)),
        clone_function=lambda layer: layer,
        call_function=record,
    )
    return calls, names[id(walked.outputs[0])]


def _positional(layer, arguments, keywords):
    """Return the arguments of a layer's or operation's call as a list."""
    keywords = {  # Keras adds masks that are None
        name: value
        for name, value in keywords.items()
        if any(leaf is not None for leaf in keras.tree.flatten(value))
    }
    call = inspect.signature(layer.call).bind(*arguments, **keywords)
    if call.kwargs:
        raise LookupError(
            f"'{layer.name}' is called with keywords {sorted(call.kwargs)}."
        )
    return list(call.args)
