"""Training steps by optimizers that see the whole loss as a function."""

from keras import ops

from keraspinn import backend
from keraspinn.backend.scopes import all_finite, joined, select, substituted
from keraspinn.training.flat import FlatObjective
from keraspinn.training.step import Step, marked

# Steps from one evaluation of the terms' losses to the next. It is for the logs alone,
# and costs about as much as one line-search evaluation.
LOG_EVERY = 10


class SecondOrderStep(Step):
    """A training step by an optimizer of `keraspinn.optimizers`.

    It logs the optimizer's total loss at each step. The losses of single terms take
    another evaluation, so each stands for up to `LOG_EVERY` steps. The arguments are
    those of `Step`.
    """

    def __call__(self, state, iteration, given=None, going=None):
        batches, sampling = self.points(state, iteration, given, backend.replica())
        renewed = bool(given) or self.sources.renewed(iteration)
        adapted = state["weights"], state["weighting"]
        if self.rule is not None:
            losses, gradients = self.term_gradients(batches, state["variables"])
            adapted = self.updated_weights(gradients, losses, state, iteration)
            terms = ops.stack([losses[name] for name in self.objective.names])
        weights, weighting = adapted
        flat = FlatObjective(self, batches, weights, state, iteration)
        seen = ops.stack([ops.ones((), state["variables"][0].dtype), *weights.values()])
        flat.renewed = renewed | ops.any(seen != state["seen"]["weights"])
        names = tuple(self.optimizer.state_variables)
        count, *_ = others = state["optimizer"][: -len(names) or None]
        memory = state["optimizer"][len(others) :]
        parameters, memory, logs = self.optimizer.step(
            flat, joined(state["variables"]), dict(zip(names, memory, strict=True))
        )
        values = flat.split(parameters)
        if self.rule is None:
            terms = self._terms(batches, values, state, iteration, flat.renewed)
        names_in_logs = [f"{name}_loss" for name in self.objective.names]
        losses = dict(zip(names_in_logs, ops.unstack(terms), strict=True))
        for name in ("loss", *self.optimizer.log_names):
            losses[name] = ops.cast(logs[name], parameters.dtype)
        new = {
            "variables": values,
            "optimizer": [count + 1, *others[1:], *(memory[name] for name in names)],
            "weights": weights,
            "weighting": weighting,
            "sampling": sampling,
            "seen": {"weights": seen, "losses": terms},
        }
        taken = all_finite([losses["loss"], parameters])
        if going is not None:
            taken = taken & going
            new = {part: select(taken, new[part], state[part]) for part in new}
        return new, marked(losses, taken)

    def _terms(self, batches, values, state, iteration, renewed):
        """Return the terms' losses: the last ones, unless an evaluation is due."""

        def evaluate():
            with substituted(self.variables, values):
                losses = self.objective.losses(batches, {}, largest=self.largest)
            return ops.stack([losses[f"{name}_loss"] for name in self.objective.names])

        due = renewed | ops.equal(ops.mod(iteration, LOG_EVERY), 0)
        return ops.cond(due, evaluate, lambda: state["seen"]["losses"])
