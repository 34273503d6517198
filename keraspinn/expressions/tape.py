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

    def inputs(self):
        """Return the keys of the inputs that were written, in order."""
        return [keys[0] for function, keys in self._steps if function is _INPUT]

    def run(self, inputs, dtype, outputs):
        """Run every step and return the tensors in the slots `outputs`.

        Args:
            inputs: Dict from input keys to tensors of type `dtype`.
            dtype: The type that float constants take.
            outputs: Sequence of slots.
        """
        values = []
        for function, arguments in self._steps:
            if function is _CONSTANT:
                kind, value = arguments
                value = ops.convert_to_tensor(
                    value, dtype="bool" if kind is bool else dtype
                )
            elif function is _INPUT:
                value = inputs[arguments[0]]
            else:
                value = function(*(values[slot] for slot in arguments))
            values.append(value)
        return [values[slot] for slot in outputs]

    def run_on_host(self, inputs, outputs):
        """Run every step in NumPy, on float64 arrays, without compiling.

        Args:
            inputs: Dict from input keys to arrays.
            outputs: Sequence of slots.
        """
        values = []
        with np.errstate(all="ignore"):  # infinities and NaN are valid, as on tensors
            for function, arguments in self._steps:
                if function is _CONSTANT:
                    values.append(np.asarray(arguments[1]))
                elif function is _INPUT:
                    values.append(inputs[arguments[0]])
                else:
                    operands = (values[slot] for slot in arguments)
                    values.append(_on_host(function)(*operands))
        return [values[slot] for slot in outputs]


@functools.cache
def _on_host(function):
    """Return NumPy's version of a function of `keras.ops`, or wrap the latter."""
    name = getattr(function, "__name__", "")
    if getattr(ops, name, None) is function and hasattr(np, name):
        return getattr(np, name)
    return lambda *arrays: ops.convert_to_numpy(function(*arrays))
