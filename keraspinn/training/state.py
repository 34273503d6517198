"""The variables that hold a training's state between programs."""

import keras
import numpy as np
from keras import ops

from keraspinn import backend


class TrainingState:
    """Keras variables for every part of a training step's state.

    Args:
        variables: The trained variables.
        optimizer: List of the optimizer's variables.
        weights: Dict from condition names to the variables of the loss weights λ.
        weighting: Dict from names to the variables of the weighting rule's state.
        sampling: Dict from term names to the states of their samplers.
        losses: Number of losses besides the total.
        members: Leading shape of every variable, `(size,)` for an ensemble.
    """

    def __init__(
        self, variables, optimizer, weights, weighting, sampling, losses, members=()
    ):
        sampling = {n: state_variables(s, f"sampling/{n}") for n, s in sampling.items()}
        # The weights and losses of the steps before; NaN before the first.
        before = {
            name: np.full((*members, count), np.nan, variables[0].dtype)
            for name, count in (("weights", 1 + len(weights)), ("losses", losses))
        }
        self.structure = {
            "variables": list(variables),
            "optimizer": list(optimizer),
            "weights": dict(weights),
            "weighting": dict(weighting),
            "sampling": sampling,
            "seen": state_variables(before, "seen"),
        }

    @property
    def variables(self):
        """All of them, a list."""
        return keras.tree.flatten(self.structure)

    def read(self):
        """Return the state as a structure of tensors."""
        return keras.tree.pack_sequence_as(
            self.structure, backend.snapshot(self.variables)
        )

    def write(self, new, old, without=()):
        """Keep a state.

        Args:
            new: Structure of tensors.
            old: The result of `read`; tensors that are in it are not written again.
            without: Names of parts that are in their variables already.
        """
        structures = (
            {name: part for name, part in structure.items() if name not in without}
            for structure in (self.structure, new, old)
        )
        flat = map(keras.tree.flatten, structures)
        for variable, value, before in zip(*flat, strict=True):
            if value is not before:
                variable.assign(value)

    def restart(self, sampling):
        """Begin with other points, of the same shapes.

        Args:
            sampling: The states of the samplers, by term.
        """
        keras.tree.map_structure(
            lambda variable, value: variable.assign(value),
            self.structure["sampling"],
            sampling,
        )
        seen = self.structure["seen"]["weights"]
        seen.assign(ops.full(seen.shape, np.nan, seen.dtype))

    def extra(self):
        """Return the state outside of weights and optimizer, arrays by name."""
        return {v.name: ops.convert_to_numpy(v) for v in self._extra}

    def restore_extra(self, arrays):
        """Put back the arrays that `extra` returned."""
        for variable in self._extra:
            variable.assign(arrays[variable.name])

    @property
    def _extra(self):
        parts = ("weighting", "sampling", "seen")
        return keras.tree.flatten([self.structure[part] for part in parts])


def state_variables(tensors, prefix):
    """Make Keras variables, by the tensors' names, with their values.

    Args:
        tensors: Dict from names to tensors.
        prefix: The beginning of the variables' names.
    """
    return {
        name: keras.Variable(
            ops.copy(value),  # a compiled loop may write over it
            trainable=False,
            dtype=keras.backend.standardize_dtype(ops.convert_to_tensor(value).dtype),
            aggregation="only_first_replica",
            name=f"{prefix}/{name}".replace("/", "."),
        )
        for name, value in tensors.items()
    }
