"""The composite loss L_r + Σ λ_i L_i, and the gradient of each of its terms."""

from keras import ops

from keraspinn import backend
from keraspinn.backend.scopes import substituted
from keraspinn.residuals.energy_terms import EnergyTerm
from keraspinn.residuals.integral_terms import IntegralTerm
from keraspinn.residuals.loss_terms import LossTerm


class Objective:
    """The losses of a problem's terms, for the fields of a network.

    Args:
        problem: The `Problem`.
        fields: The `Fields` that represent its solution.

    Attributes:
        terms: Dict from names to `LossTerm`s and `IntegralTerm`s.
        names: Names of all losses: of terms, and of expressions with a name.
    """

    def __init__(self, problem, fields):
        self.fields = fields
        self._counts = {n: len(t.expressions) for n, t in problem.terms.items()}
        self.terms = {n: _kind(t)(t, problem) for n, t in problem.terms.items()}
        labels = (label for term in self.terms.values() for label in term.labels)
        self.names = [*dict.fromkeys([*self.terms, *labels])]

    def loss(self, name, batch):
        """Return the unweighted loss of one term, a scalar."""
        return sum(self.terms[name].losses(self.fields, batch))

    def residuals(self, name, batch):
        """Return the residuals of a term's expressions at a batch's points, `(N,)`."""
        return self.terms[name].residuals(self.fields, batch)

    def losses(self, batches, weights, variables=(), largest=None):
        """Return all losses by their names in logs.

        Args:
            batches: Dict from term names to batches.
            weights: Dict from condition names to loss weights.
            variables: Variables whose regularizers are part of the total loss.
            largest: Number of points of a term that are evaluated at a time, which
                bounds the memory; `None` for all.
        """
        losses = {}
        for name, batch in batches.items():
            losses |= self._parts(name, self._in_parts(name, batch, largest))
        return named(losses, weights, penalty(variables))

    def _in_parts(self, name, batch, largest):
        """Return the losses of a term's expressions, some of the points at a time."""
        count, part = self.parts(name, batch, largest)

        def losses(number):
            return ops.stack(self.terms[name].losses(self.fields, part(number)))

        if count == 1:
            return ops.unstack(losses(0))
        start = ops.zeros((self._counts[name],), batch.points.dtype)
        total = ops.fori_loop(0, count, lambda n, total: total + losses(n), start)
        return ops.unstack(total)

    def parts(self, name, batch, largest):
        """Split a term's batch by `Batch.parts`, counting points at images too."""
        return batch.parts(largest and max(1, largest // len(self.terms[name].passes)))

    def _parts(self, name, losses):
        """Return a term's loss, and those of its expressions with a name."""
        labelled = dict(zip(self.terms[name].labels, losses, strict=False))
        return labelled | {name: sum(losses)}

    def gradients(self, batches, variables, values=None, largest=None):
        """Return losses and gradients of the unweighted terms.

        Args:
            batches: Dict from term names to batches.
            variables: The variables to differentiate by.
            values: Tensors that replace their values, if given.
            largest: Number of points of a term that are differentiated at a time,
                which bounds the memory; `None` for all.

        Returns:
            Dict from names of terms, and of named expressions, to losses; and
            dict from term names to lists of gradients, one for each variable.
        """
        values = backend.snapshot(variables) if values is None else values
        losses, gradients = {}, {}
        for name, batch in batches.items():
            count, part = self.parts(name, batch, largest)

            def loss(values, number, name=name, part=part):
                with substituted(variables, values):
                    parts = self.terms[name].losses(self.fields, part(number))
                    return sum(parts), parts

            _, parts, gradients[name] = backend.value_and_gradients(loss, values, count)
            losses |= self._parts(name, parts)
        return losses, gradients


def _kind(term):
    if term.is_energy:
        return EnergyTerm
    return IntegralTerm if term.regions else LossTerm


def penalty(variables):
    """Return the sum of the variables' regularizers, declared with their layers."""
    return sum(v.regularizer(v) for v in variables if v.regularizer is not None)


def named(losses, weights, added=0.0):
    """Return losses by their names in logs, with the total that is minimised."""
    total = losses["residual"] + added
    for name, weight in weights.items():
        total = total + weight * losses[name]
    return {"loss": total} | {f"{name}_loss": loss for name, loss in losses.items()}
