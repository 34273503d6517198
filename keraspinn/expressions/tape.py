"""Flat program of distinct operations in order of evaluation."""

import functools

import numpy as np
from keras import ops

_CONSTANT = "constant"
_INPUT = "input"


class Tape:
    """Operations on numbered slots, written once and run on any tensors.

    The same operation on the same slots has one slot, so that a common subexpression
    is evaluated once. Functions are compared by identity.
    """

    def __init__(self):
        self._steps = []
        self._slots = {}

    def __len__(self):
        return len(self._steps)

    def constant(self, value):
        """Return the slot of a Python float or bool."""
        # The type distinguishes True from 1.0, which have one hash.
        return self._write(_CONSTANT, (type(value), value))

    def input(self, key):
        """Return the slot of the input tensor `key` of `run`."""
        return self._write(_INPUT, (key,))

    def apply(self, function, *slots):
        """Return the slot of `function` applied to the tensors in `slots`."""
        return self._write(function, slots)

    def _write(self, function, arguments):
        step = (function, arguments)
        if step not in self._slots:
            self._slots[step] = len(self._steps)
            self._steps.append(step)
        return self._slots[step]

    def run(self, inputs, outputs, dtype=None):
        """Run every step and return the tensors in the slots `outputs`.

        Args:
            inputs: Dict from input keys to tensors of type `dtype`, or to float64
                arrays.
            outputs: Sequence of slots.
            dtype: The type that float constants take. Without it, NumPy runs the steps
                in float64, without compiling.
        """
        values = []
        with np.errstate(all="ignore"):  # infinities and NaN are valid, as on tensors
            for function, arguments in self._steps:
                if function is _CONSTANT:
                    kind, value = arguments
                    value = np.asarray(value)
                    if dtype is not None:
                        kind = "bool" if kind is bool else dtype
                        value = ops.convert_to_tensor(value, kind)
                elif function is _INPUT:
                    value = inputs[arguments[0]]
                else:
                    evaluate = function if dtype is not None else _on_host(function)
                    value = evaluate(*(values[slot] for slot in arguments))
                values.append(value)
        return [values[slot] for slot in outputs]


@functools.cache
def _on_host(function):
    """Return NumPy's version of a function of `keras.ops`, or wrap the latter."""
    name = getattr(function, "__name__", "")
    if getattr(ops, name, None) is function and hasattr(np, name):
        return getattr(np, name)
    return lambda *arrays: ops.convert_to_numpy(function(*arrays))
