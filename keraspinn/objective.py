"""The composite loss L_r + Σ λ_i L_i, and the gradient of each of its terms."""

from keras import ops

from keraspinn import backend


class Objective:
    """The losses of a problem's terms for the fields of a network.

    Args:
        problem: The `Problem`.
        fields: The `Fields` that stand for its solution.
        loss_weights: Dict from condition names to variables, the weights λ.
        coefficients: Dict from names of unknown parameters to variables.
    """

    def __init__(self, problem, fields, loss_weights, coefficients):
        self._terms = problem.terms
        self._fields = fields
        self.loss_weights = loss_weights
        self._coefficients = coefficients

    def loss(self, name, batch):
        """The unweighted loss of one term, a scalar."""
        return self._terms[name].loss(self.residuals(name, batch), batch)

    def residuals(self, name, batch):
        """What each expression of a term comes to at a batch's points, `(N,)` each."""
        return self._fields.evaluate(self._terms[name].program, batch.points)

    def losses(self, batches, variables=()):
        """All losses by their names in logs, from `{term: batch}`.

        The variables' regularizers are part of the total loss.
        """
        losses = self._named({name: self.loss(name, batches[name]) for name in batches})
        return losses | {"loss": losses["loss"] + penalty(variables)}

    def gradients(self, batches, variables, largest=None):
        """Losses and gradients of the unweighted terms.

        Args:
            batches: Dict from term names to batches.
            variables: The variables to differentiate by.
            largest: How many points of a term are differentiated at a time, which
                bounds the memory that it takes; `None` for all.

        Returns:
            Dict from term names to losses, and dict from term names to lists of
            gradients, one for each variable.
        """
        losses, gradients = {}, {}
        for name, batch in batches.items():
            count, part = batch.parts(largest)
            losses[name], gradients[name] = backend.value_and_gradients(
                lambda number, name=name, part=part: self.loss(name, part(number)),
                variables,
                count,
            )
        return losses, gradients

    def descent(self, batches, variables, weighting, iteration, largest=None):
        """What one step of Algorithm 1 needs: losses and the gradient to follow.

        Averages both over the replicas of a distributed training, and then lets
        `weighting` move the weights λ, if it is given.

        Args:
            batches: Dict from term names to batches.
            variables: The variables to train.
            weighting: Function of `(gradients, weights, iteration)` that returns new
                weights, or `None`.
            iteration: Number of steps taken before, an integer scalar.
            largest: As for `gradients`.

        Returns:
            Dict of the losses by their names in logs, and the list of
            ∇L_r + Σ λ_i ∇L_i.
        """
        losses, gradients = backend.replica_mean(
            self.gradients(batches, variables, largest)
        )
        if weighting is not None:
            self._move_weights(gradients, variables, weighting, iteration)
        total = gradients["residual"]
        for name, variable in self.loss_weights.items():
            weight = ops.convert_to_tensor(variable)
            total = [
                t + weight * g for t, g in zip(total, gradients[name], strict=True)
            ]
        losses = self._named(losses)
        if any(variable.regularizer for variable in variables):
            added, slopes = backend.value_and_gradients(
                lambda _: penalty(variables), variables
            )
            losses["loss"] = losses["loss"] + added
            total = [t + s for t, s in zip(total, slopes, strict=True)]
        return losses, total

    def _move_weights(self, gradients, variables, weighting, iteration):
        # θ are the network's parameters; unknown coefficients are not among them.
        unknown = {id(variable) for variable in self._coefficients.values()}
        network = [(n, v.path) for n, v in enumerate(variables) if id(v) not in unknown]
        gradients = {
            name: {path: own[place] for place, path in network}
            for name, own in gradients.items()
        }
        weights = {
            name: ops.convert_to_tensor(v) for name, v in self.loss_weights.items()
        }
        for name, weight in weighting(gradients, weights, iteration).items():
            self.loss_weights[name].assign(weight)

    def _named(self, losses):
        total = losses["residual"]
        for name, weight in self.loss_weights.items():
            total = total + ops.convert_to_tensor(weight) * losses[name]
        return {"loss": total} | {f"{name}_loss": v for name, v in losses.items()}


def penalty(variables):
    """The sum of the variables' regularizers, as declared with their layers."""
    return sum(v.regularizer(v) for v in variables if v.regularizer is not None)
