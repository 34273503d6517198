"""The variables in which a training's state lives between programs."""

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
        weighting: Dict from names to the variables of what the weighting rule
            remembers.
        sampling: Dict from term names to what their samplers remember.
        losses: Number of losses besides the total.
        members: Shape of what every variable has in front, for an ensemble.
    """

    def __init__(
        self, variables, optimizer, weights, weighting, sampling, losses, members=()
    ):
        sampling = {
            n: state_variables(own, f"sampling/{n}") for n, own in sampling.items()
        }
        # The weights and losses of the steps before; of none before the first.
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
        """The state as a structure of tensors."""
        return keras.tree.pack_sequence_as(
            self.structure, backend.snapshot(self.variables)
        )

    def write(self, new, old, without=()):
        """Keep a state.

        Args:
            new: Structure of tensors.
            old: What `read` gave; what is the same there is not written again.
            without: Names of parts that are in their variables already.
        """
        structures = (
            {part: own for part, own in structure.items() if part not in without}
            for structure in (self.structure, new, old)
        )
        flat = map(keras.tree.flatten, structures)
        for variable, value, before in zip(*flat, strict=True):
            if value is not before:
                variable.assign(value)

    def restart(self, sampling):
        """Begin with other points, of the same shapes.

        Args:
            sampling: What the samplers remember, by term.
        """
        keras.tree.map_structure(
            lambda variable, value: variable.assign(value),
            self.structure["sampling"],
            sampling,
        )
        seen = self.structure["seen"]["weights"]
        seen.assign(ops.full(seen.shape, np.nan, seen.dtype))

    def extra(self):
        """What neither a model's weights nor its optimizer hold: arrays by name."""
        return {v.name: ops.convert_to_numpy(v) for v in self._extra}

    def restore_extra(self, arrays):
        """Put back what `extra` returned."""
        for variable in self._extra:
            variable.assign(arrays[variable.name])

    @property
    def _extra(self):
        parts = ("weighting", "sampling", "seen")
        return keras.tree.flatten([self.structure[part] for part in parts])


def state_variables(tensors, prefix):
    """Keras variables, by the tensors' names, that start with their values.

    Args:
        tensors: Dict from names to tensors.
        prefix: What the variables' own names begin with.
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
