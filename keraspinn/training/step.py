"""One training step: a function from a state to a state and logs.

The state is a plain structure of tensors,

    {"variables": [...],      the trained variables: the network's, unknown coefficients
     "optimizer": [...],      what the optimizer remembers, the iteration among it
     "weights": {...},        the loss weights λ, by condition
     "weighting": {...},      what their rule remembers besides
     "sampling": {...},       what the samplers remember, by term
     "seen": {...}}           loss weights and losses of the steps before

and nothing else decides what a step does. The loop that runs many of them, the guard
that does not take those that are not finite, resuming, and the replicas of a
distributed training are written around it.
"""

import dataclasses

from keras import ops

from keraspinn import backend
from keraspinn.training.flat import FlatObjective, joined
from keraspinn.training.objective import named, penalty, substituted

# Of the steps of the second order, those whose terms are evaluated for the logs alone.
LOG_EVERY = 10


@dataclasses.dataclass(frozen=True)
class Step:
    """A training step on a problem's terms.

    Attributes:
        objective: The `Objective`.
        variables: The trained Keras variables.
        network_variables: Those of them that are the network's, which alone weighting
            rules look at.
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
            given: Batches by term name, in place of those that would be drawn.
            going: Boolean scalar: whether to take the step at all, and only if it is
                finite. If not given, the step is taken whatever its numbers are, which
                saves a choice for each of them.

        Returns:
            The state, and the losses by their names in logs; `"loss"` is NaN where
            a loss or gradient is not finite.
        """
        if self.is_ours:
            new, losses, finite = self._second_order(state, iteration, given or {})
        else:
            new, total, losses, finite = self.gradient(state, iteration, given)
        taken = finite if going is None else ops.logical_and(finite, going)
        if going is not None:
            new = {part: backend.chosen(taken, new[part], state[part]) for part in new}
        if not self.is_ours:
            new |= self.moved(total, state, None if going is None else taken)
        return new, marked(losses, taken)

    @property
    def is_ours(self):
        """Whether the optimizer is one of `keraspinn.optimizers`."""
        return hasattr(self.optimizer, "step")

    def points(self, state, iteration, replica=0):
        """The batches that a step draws, by term."""
        names = set(self.sources.samplers)
        return self._drawn(state, iteration, names, replica)[0]

    def _points(self, state, iteration, given):
        names = set(self.sources.samplers) - set(given)
        drawn, sampling = self._drawn(state, iteration, names, backend.replica())
        return drawn | backend.shard(given), sampling

    def _drawn(self, state, iteration, names, replica):
        batches, sampling = self.sources.step(
            state["sampling"], self.seed, iteration, self._error(state), names, replica
        )
        # Each device draws all of them: samplers are not to exchange points.
        return backend.shard(backend.whole(batches)), sampling

    def fresh_points(self, state, iteration):
        """Batches of points that the step was not made from, by term."""
        batches = self.sources.fresh(
            state["sampling"], self.seed, iteration, self._error(state)
        )
        return backend.shard(backend.whole(batches))

    def _error(self, state):
        def error(name, batch):
            with substituted(self.variables, state["variables"]):
                squared = self.objective.squared(name, backend.shard(batch))
            return backend.whole(squared)

        return error

    def gradient(self, state, iteration, given=None):
        """A step by a Keras optimizer, all but what the optimizer does.

        Args:
            state: As for the step itself, like the two that follow.
            iteration: Number of steps taken before.
            given: Batches by term name.

        Returns:
            The new state without `"variables"` and `"optimizer"`; the gradient of the
            weighted loss, a list; the losses; and whether all of that is finite.
        """
        batches, sampling = self._points(state, iteration, given or {})
        values = state["variables"]
        losses, gradients = backend.replica_mean(
            self.objective.gradients(batches, self.variables, values, self.largest)
        )
        weights, weighting = self._weighted(gradients, losses, state, iteration)
        total, added = self.total_gradient(gradients, weights, values)
        losses = named(losses, weights, added)
        new = {
            "weights": weights,
            "weighting": weighting,
            "sampling": sampling,
            "seen": state["seen"],
        }
        return new, total, losses, backend.all_finite([losses["loss"], *total])

    def moved(self, total, state, taken=None):
        """What a Keras optimizer makes of a gradient: the rest of the new state."""
        variables, optimizer = backend.apply_optimizer(
            self.optimizer, self.variables, total, state, taken
        )
        return {"variables": variables, "optimizer": optimizer}

    def total_gradient(self, gradients, weights, values):
        """The gradient of the weighted loss, a list, and what regularizers add to it.

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

        added, _, slopes = backend.value_and_gradients(function, values)
        return [t + s for t, s in zip(total, slopes, strict=True)], added

    def _weighted(self, gradients, losses, state, iteration):
        """The weights λ and their rule's memory after its update."""
        if self.rule is None:
            return state["weights"], state["weighting"]
        # θ are the network's parameters; unknown coefficients are not among them.
        known = {id(variable) for variable in self.network_variables}
        seen = {
            name: {
                variable.path: gradient
                for variable, gradient in zip(self.variables, own, strict=True)
                if id(variable) in known
            }
            for name, own in gradients.items()
        }
        before = {
            **state["weighting"],
            "weights": state["weights"],
            "iteration": iteration,
        }
        weights, weighting = self.rule.update(seen, losses, before)
        return state["weights"] | dict(weights), dict(weighting)

    def _second_order(self, state, iteration, given):
        """The step of an optimizer that sees the whole loss as a function.

        It logs its own loss; those of the terms, which take another evaluation, stand
        for up to `LOG_EVERY` steps.
        """
        batches, sampling = self._points(state, iteration, given)
        renewed = bool(given) or self.sources.renewed(iteration)
        weights, weighting = state["weights"], state["weighting"]
        if self.rule is not None:
            losses, gradients = self.objective.gradients(
                batches, self.variables, state["variables"], self.largest
            )
            weights, weighting = self._weighted(gradients, losses, state, iteration)
            terms = ops.stack([losses[name] for name in self.objective.names])
        flat = FlatObjective(self, batches, weights, state, iteration)
        one = ops.ones((), state["variables"][0].dtype)
        seen = ops.stack([one, *weights.values()])
        flat.renewed = ops.logical_or(
            renewed,
            ops.any(ops.not_equal(seen, state["seen"]["weights"])),
        )
        names = tuple(self.optimizer.state_variables)
        count, *_ = others = state["optimizer"][: -len(names) or None]
        memory = state["optimizer"][len(others) :]
        parameters, memory, logs = self.optimizer.step(
            flat,
            joined(state["variables"]),
            dict(zip(names, memory, strict=True)),
        )
        values = flat.split(parameters)
        if self.rule is None:
            terms = self._terms(batches, values, state, iteration, flat.renewed)
        losses = {
            f"{name}_loss": terms[place]
            for place, name in enumerate(self.objective.names)
        }
        losses |= {
            name: ops.cast(logs[name], parameters.dtype)
            for name in ("loss", *self.optimizer.log_names)
        }
        finite = backend.all_finite([losses["loss"], parameters])
        new = {
            "variables": values,
            "optimizer": [count + 1, *others[1:], *(memory[name] for name in names)],
            "weights": weights,
            "weighting": weighting,
            "sampling": sampling,
            "seen": {"weights": seen, "losses": terms},
        }
        return new, losses, finite

    def _terms(self, batches, values, state, iteration, renewed):
        """The terms' losses: the last ones, until they are due."""

        def evaluate():
            with substituted(self.variables, values):
                losses = self.objective.losses(batches, {}, largest=self.largest)
            return ops.stack([losses[f"{name}_loss"] for name in self.objective.names])

        due = ops.logical_or(renewed, ops.equal(ops.mod(iteration, LOG_EVERY), 0))
        return ops.cond(due, evaluate, lambda: state["seen"]["losses"])


def marked(losses, taken):
    """Losses by name with `"loss"` NaN where a step was not taken."""
    none = ops.full_like(losses["loss"], float("nan"))
    return losses | {"loss": ops.where(taken, losses["loss"], none)}
