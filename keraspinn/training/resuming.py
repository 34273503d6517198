"""What a training goes on from besides weights and optimizer, in a model's file."""

import hashlib

import numpy as np

_PREFIX, _DIGEST = "resuming.", "resuming.digest"


class Resuming:
    """Points held and the like, from a model's file to the first step after it.

    They are for the training that they are of. One with other samplers, numbers of
    points or another optimizer begins, as it would have in the model that was saved.
    """

    def __init__(self):
        self._arrays = {}

    def save(self, store, variables, what):
        """Put a training's state, or what no step has asked for, into a dict of arrays.

        Args:
            store: The dict.
            variables: List of the state's variables.
            what: As for `resume`.
        """
        arrays = self._arrays
        if not arrays and variables:
            arrays = {_PREFIX + v.name: v for v in variables}
            arrays[_DIGEST] = _digest(what)
        for name, array in arrays.items():
            store[name] = array

    def load(self, arrays):
        """Take back what `save` put into a dict of arrays, and return the rest."""
        own = {name for name in arrays if name.startswith(_PREFIX)}
        self._arrays = {name: np.array(arrays[name]) for name in own}
        return {name: array for name, array in arrays.items() if name not in own}

    def resume(self, variables, what):
        """Give a training the state that it goes on from, if there is one of its own.

        Args:
            variables: List of the state's variables.
            what: What tells the training and its step from others, as text.
        """
        arrays, self._arrays = self._arrays, {}
        own = {_PREFIX + v.name: v for v in variables}
        same = np.array_equal(arrays.pop(_DIGEST, None), _digest(what))
        if same and _shapes(arrays) == _shapes(own):
            for name, variable in own.items():
                variable.assign(arrays[name])


def _shapes(arrays):
    return {name: tuple(array.shape) for name, array in arrays.items()}


def _digest(text):
    return np.frombuffer(hashlib.sha256(text.encode()).digest(), "uint8")
