"""One training step, a function from a state to a state and logs, and the state.

The state is a plain structure of tensors,

    {"variables": [...],      the trained variables: the network's, unknown coefficients
     "optimizer": [...],      the optimizer's variables, the iteration among them
     "weights": {...},        the loss weights λ, by condition
     "weighting": {...},      the state of the weighting rule
     "sampling": {...},       the states of the samplers, by term
     "seen": {...}}           loss weights and losses of the steps before

and nothing else decides the result of a step. The loop of many steps, the guard against
steps that are not finite, resuming and distributed training are written around it.
There are two kinds: `FirstOrderStep` for Keras's optimizers, which take one gradient a
step, and `SecondOrderStep` for those of `keraspinn.optimizers`.
"""

import dataclasses

import keras
from keras import ops

from keraspinn import backend
from keraspinn.backend.scopes import all_finite, assign, select, substituted
from keraspinn.training.objective import named, penalty


@dataclasses.dataclass(frozen=True)
class Step:
    """A training step on a problem's terms; the base of both kinds.

    Attributes:
        objective: The `Objective`.
        variables: The trained Keras variables.
        network_variables: Those of them that belong to the network. Weighting rules see
            no others.
        optimizer: A Keras optimizer, or one of `keraspinn.optimizers`.
        sources: The `PointSources`.
        rule: The `WeightingRule`, or `None`.
        seed: Integer that all points follow from.
        largest: Number of points of a term that are differentiated at a time.
    """

    objective: object
    variables: tuple
    network_variables: tuple
    optimizer: object
    sources: object
    rule: object
    seed: int
    largest: int | None

    def __call__(self, state, iteration, given=None, going=None):
        """Make one step.

        Args:
            state: The state, as above.
            iteration: Number of steps taken before, an integer scalar.
            given: Batches by term name that replace drawn ones.
            going: Boolean scalar: whether to take the step. A step that is not finite
                is not taken either. Without it, every step is taken, which saves a
                selection for each number.

        Returns:
            The state, and the losses by their names in logs; `"loss"` is NaN if a loss
            or gradient is not finite.
        """
        raise NotImplementedError

    def points(self, state, iteration, given=None, replica=0):
        """Return the batches of a step by term, and the samplers' states after it.

        Args:
            state: The state.
            iteration: Number of steps taken before.
            given: Batches by term name that replace drawn ones.
            replica: Index of the replica that draws.
        """
        given = given or {}
        names = set(self.sources.samplers) - set(given)
        batches, sampling = self.sources.step(
            state["sampling"], self.seed, iteration, self._error(state), names, replica
        )
        # Each device draws all of them: samplers do not exchange points.
        return backend.shard(backend.replicate(batches) | given), sampling

    def fresh_points(self, state, iteration):
        """Return batches of points that differ from the step's, by term."""
        error = self._error(state)
        batches = self.sources.fresh(state["sampling"], self.seed, iteration, error)
        return backend.shard(backend.replicate(batches))

    def _error(self, state):
        def error(name, batch):
            with substituted(self.variables, state["variables"]):
                term, fields = self.objective.terms[name], self.objective.fields
                return backend.replicate(term.squared(fields, backend.shard(batch)))

        return error

    def term_gradients(self, batches, values=None):
        """Return the losses and gradients of the unweighted terms.

        Args:
            batches: Dict from term names to batches.
            values: Tensors for the trained variables, their own if not given.
        """
        return self.objective.gradients(batches, self.variables, values, self.largest)

    def total_gradient(self, gradients, weights, values):
        """Return the gradient of the weighted loss, and the regularizers' penalty.

        Args:
            gradients: Dict from term names to lists, of the unweighted terms.
            weights: Dict from condition names to λ.
            values: Tensors for the trained variables.
        """
        total = gradients["residual"]
        for name, weight in weights.items():
            pairs = zip(total, gradients[name], strict=True)
            total = [t + weight * g for t, g in pairs]
        if not any(variable.regularizer for variable in self.variables):
            return total, 0.0

        def function(values, _):
            with substituted(self.variables, values):
                return penalty(self.variables), []

        added, _, extra = backend.value_and_gradients(function, values)
        return [t + e for t, e in zip(total, extra, strict=True)], added

    def updated_weights(self, gradients, losses, state, iteration):
        """Return the loss weights λ and the rule's state after an update."""
        if self.rule is None:
            return state["weights"], state["weighting"]
        # θ are the network's parameters; unknown coefficients are not among them.
        known = {id(variable) for variable in self.network_variables}
        by_path = {}
        for name, of_term in gradients.items():
            pairs = zip(self.variables, of_term, strict=True)
            by_path[name] = {v.path: g for v, g in pairs if id(v) in known}
        before = {
            **state["weighting"],
            "weights": state["weights"],
            "iteration": iteration,
            "uniform": self.sources.weighting_uniform(self.seed, iteration),
        }
        losses = {name: losses[name] for name in gradients}  # without named expressions
        weights, weighting = self.rule.update(by_path, losses, before)
        return state["weights"] | dict(weights), dict(weighting)


class FirstOrderStep(Step):
    """A training step by an optimizer of Keras's; the arguments are those of `Step`."""

    def __call__(self, state, iteration, given=None, going=None):
        new, total, losses, finite = self.gradient(state, iteration, given)
        taken = None
        if going is not None:
            taken = finite = finite & going
            new = {part: select(taken, new[part], state[part]) for part in new}
        new |= self.moved(total, state, taken)
        return new, marked(losses, finite)

    def gradient(self, state, iteration, given=None):
        """Make all of a step but the optimizer's part.

        Args:
            state: The state of the training, as for the step itself.
            iteration: Number of steps taken before.
            given: Batches by term name.

        Returns:
            The new state without `"variables"` and `"optimizer"`; the gradient of the
            weighted loss, a list; the losses; and whether all of that is finite.
        """
        batches, sampling = self.points(state, iteration, given, backend.replica())
        values = state["variables"]
        losses, gradients = backend.replica_mean(self.term_gradients(batches, values))
        weights, weighting = self.updated_weights(gradients, losses, state, iteration)
        total, added = self.total_gradient(gradients, weights, values)
        losses = named(losses, weights, added)
        new = {
            "weights": weights,
            "weighting": weighting,
            "sampling": sampling,
            "seen": state["seen"],
        }
        return new, total, losses, all_finite([losses["loss"], *total])

    def moved(self, total, state, taken=None):
        """Apply a gradient; return the `"variables"` and `"optimizer"` of the state.

        Args:
            total: The gradient of the weighted loss, a list.
            state: The state of the training.
            taken: Boolean scalar: whether to take the step; always, if not given.
        """
        settings = self.optimizer, self.variables, total
        before = [*state["variables"], *state["optimizer"]]
        after = backend.apply_optimizer(*settings, before, taken)
        count = len(total)
        return {"variables": after[:count], "optimizer": after[count:]}


def marked(losses, taken):
    """Return losses by name, with NaN as `"loss"` if the step was not taken."""
    lost = ops.full_like(losses["loss"], float("nan"))
    return losses | {"loss": ops.where(taken, losses["loss"], lost)}


class TrainingState:
    """Keras variables for every part of a training step's state.

    Args:
        structure: The state, with variables in place of tensors.

    Attributes:
        variables: All of them, a list.
    """

    def __init__(self, structure):
        self.structure = structure
        self.variables = keras.tree.flatten(structure)

    def read(self):
        """Return the state as a structure of tensors."""
        values = backend.snapshot(self.variables)
        return keras.tree.pack_sequence_as(self.structure, values)

    def write(self, new, old):
        """Keep a state.

        Args:
            new: Structure of tensors.
            old: The result of `read`; tensors that are in it are not written again.
        """
        flat = map(keras.tree.flatten, (self.structure, new, old))
        for variable, value, before in zip(*flat, strict=True):
            if value is not before:
                variable.assign(value)

    def restart(self, sampling):
        """Begin with other points, of the same shapes.

        Args:
            sampling: The states of the samplers, by term.
        """
        assign(*map(keras.tree.flatten, (self.structure["sampling"], sampling)))
        seen = self.structure["seen"]["weights"]
        seen.assign(ops.full(seen.shape, float("nan"), seen.dtype))


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
