"""State of a training besides weights and optimizer, in a model's file."""

import hashlib

import numpy as np

from keraspinn.backend.scopes import assign

_DIGEST = "digest"


class Resuming:
    """The state of samplers and logs, from a model's file to the next training.

    A training with the same samplers, numbers of points and optimizer continues from
    it. Any other training begins anew, as it would have in the saved model.
    """

    def __init__(self):
        self._arrays = {}

    def saved(self, variables, text):
        """Return a training's state, or else the loaded one, a dict of arrays.

        Args:
            variables: List of the state's variables.
            text: As for `resume`.
        """
        if self._arrays or not variables:
            return self._arrays
        return {v.name: v for v in variables} | {_DIGEST: _digest(text)}

    def load(self, saved):
        """Take back the dict of arrays that `saved` returned."""
        self._arrays = {name: np.array(array) for name, array in saved.items()}

    def resume(self, variables, text):
        """Assign the loaded state to a training's variables, if it belongs to it.

        Args:
            variables: List of the state's variables.
            text: Text that identifies the training and its step.
        """
        arrays, self._arrays = self._arrays, {}
        if np.array_equal(arrays.get(_DIGEST), _digest(text)):
            assign(variables, [arrays[variable.name] for variable in variables])


def _digest(text):
    return np.frombuffer(hashlib.sha256(text.encode()).digest(), "uint8")
