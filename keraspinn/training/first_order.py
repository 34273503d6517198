"""Training steps by Keras's optimizers, which take one gradient a step."""

from keras import ops

from keraspinn import backend
from keraspinn.training.objective import named
from keraspinn.training.step import Step, marked


class FirstOrderStep(Step):
    """A training step by an optimizer of Keras's; the arguments are those of `Step`."""

    def __call__(self, state, iteration, given=None, going=None):
        new, total, losses, finite = self.gradient(state, iteration, given)
        if going is None:
            new |= self.moved(total, state)
            return new, marked(losses, finite)
        taken = ops.logical_and(finite, going)
        new = {part: backend.select(taken, new[part], state[part]) for part in new}
        new |= self.moved(total, state, taken)
        return new, marked(losses, taken)

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
        batches, sampling = self._points(state, iteration, given or {})
        values = state["variables"]
        losses, gradients = backend.replica_mean(
            self.objective.gradients(batches, self.variables, values, self.largest)
        )
        weights, weighting = self.updated_weights(gradients, losses, state, iteration)
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
        """Apply a gradient; return the `"variables"` and `"optimizer"` of the state.

        Args:
            total: The gradient of the weighted loss, a list.
            state: The state of the training.
            taken: Boolean scalar: whether to take the step; always, if not given.
        """
        variables, optimizer = backend.apply_optimizer(
            self.optimizer, self.variables, total, state, taken
        )
        return {"variables": variables, "optimizer": optimizer}
