"""State of a training besides weights and optimizer, in a model's file."""

import hashlib

import numpy as np

_PREFIX, _DIGEST = "resuming.", "resuming.digest"


class Resuming:
    """The state of samplers and logs, from a model's file to the next training.

    A training with the same samplers, numbers of points and optimizer continues from
    it. Any other training begins anew, as it would have in the saved model.
    """

    def __init__(self):
        self._arrays = {}

    def save(self, store, variables, text):
        """Put a training's state, or the loaded one, into a dict of arrays.

        Args:
            store: The dict.
            variables: List of the state's variables.
            text: As for `resume`.
        """
        arrays = self._arrays
        if not arrays and variables:
            arrays = {_PREFIX + v.name: v for v in variables}
            arrays[_DIGEST] = _digest(text)
        for name, array in arrays.items():
            store[name] = array

    def load(self, arrays):
        """Take back the arrays that `save` put into a dict, and return the rest."""
        saved = {name for name in arrays if name.startswith(_PREFIX)}
        self._arrays = {name: np.array(arrays[name]) for name in saved}
        return {name: array for name, array in arrays.items() if name not in saved}

    def resume(self, variables, text):
        """Assign the loaded state to a training's variables, if it belongs to it.

        Args:
            variables: List of the state's variables.
            text: Text that identifies the training and its step.
        """
        arrays, self._arrays = self._arrays, {}
        if np.array_equal(arrays.get(_DIGEST), _digest(text)):
            for variable in variables:
                variable.assign(arrays[_PREFIX + variable.name])


def _digest(text):
    return np.frombuffer(hashlib.sha256(text.encode()).digest(), "uint8")
