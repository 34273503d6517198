"""The whole loss as a function of one vector, for second-order optimizers."""

import dataclasses
import itertools
import math

from keras import ops

from keraspinn import backend
from keraspinn.backend.scopes import joined, substituted
from keraspinn.optimizers import Objective
from keraspinn.residuals.energy_terms import EnergyTerm
from keraspinn.training.objective import named


def split(vector, variables):
    """Return a vector `(P,)` as a list of tensors, one for each variable."""
    shapes = [tuple(variable.shape) for variable in variables]
    ends = itertools.accumulate(map(math.prod, shapes), initial=0)
    pairs = zip(itertools.pairwise(ends), shapes, strict=True)
    return [ops.reshape(vector[start:end], shape) for (start, end), shape in pairs]


def integral_gradients(term, fields, batch, variables, values):
    """Return gradients of residuals that depend on all points, as integrals do.

    Args:
        term: The `IntegralTerm`.
        fields: The `Fields`.
        batch: The `Batch`.
        variables: Variables to differentiate by.
        values: Tensors with their values.

    Returns:
        A list of tensors `(1, P)`.
    """

    def gradient(number):
        def residual(values, _):
            with substituted(variables, values):
                return term.residuals(fields, batch)[number][0], []

        return joined(backend.value_and_gradients(residual, values)[2])[None]

    return [gradient(number) for number in range(term.count)]


def rows_of(objective, name, batch):
    """Return a term's rows, `(N,)`; the arguments are those of `row_jacobians`."""
    term, fields = objective.terms[name], objective.fields
    if not term.is_pointwise:
        return ops.concatenate(term.residuals(fields, batch))
    blocks = term.row_blocks(fields, batch)
    return ops.concatenate([row for points, rows in blocks for row in rows(points)])


def row_jacobians(objective, name, batch, variables, values, most=None):
    """Return derivatives of a term's rows by all variables, a list of `(N, P)`.

    Args:
        objective: The `training.objective.Objective`.
        name: The term's name.
        batch: The `Batch`.
        variables: Variables to differentiate by.
        values: Tensors with their values.
        most: Approximate number of points for the Hessian of an energy.
    """
    term, fields, jacobians = objective.terms[name], objective.fields, []
    if not term.is_pointwise:
        return integral_gradients(term, fields, batch, variables, values)
    with substituted(variables, values):
        blocks = term.row_blocks(fields, batch, most)
    for points, rows in blocks:

        def at(values, points, rows=rows):
            with substituted(variables, values):
                return rows(points)

        jacobians += backend.jacobian(at, values, points)
    return jacobians


@dataclasses.dataclass
class FlatObjective(Objective):
    """A training step's loss on its points, as a function of all parameters at once.

    Parameters are the entries of the trained variables one after another, `(P,)`.

    Args:
        step: The `Step`.
        batches: Dict from term names to the step's batches.
        weights: Dict from condition names to the loss weights λ.
        state: The training state.
        iteration: Number of steps taken before.

    Attributes:
        renewed: Boolean scalar: whether points or loss weights differ from those of
            the step before.
    """

    step: object
    batches: dict
    weights: dict
    state: dict
    iteration: object
    renewed: object = None

    def split(self, parameters):
        """Return a vector `(P,)` as a list of tensors, one for each variable."""
        return split(parameters, self.step.variables)

    def loss(self, parameters):
        """Return the total weighted loss with regularizers, a scalar."""
        step = self.step
        terms = self.batches, self.weights, step.variables, step.largest
        with substituted(step.variables, self.split(parameters)):
            return step.objective.losses(*terms)["loss"]

    def value_and_gradient(self, parameters):
        """Return the total loss and its gradient, `(P,)`."""
        values = self.split(parameters)
        losses, gradients = self.step.term_gradients(self.batches, values)
        total, added = self.step.total_gradient(gradients, self.weights, values)
        return named(losses, self.weights, added)["loss"], joined(total)

    def residuals(self, parameters):
        """Return the weighted residuals, `(N,)`: their squares add up to the loss."""
        objective, batches = self.step.objective, self.batches.items()
        with substituted(self.step.variables, self.split(parameters)):
            rows = [self._weighted(n, rows_of(objective, n, b)) for n, b in batches]
        return ops.concatenate(rows)

    def _weighted(self, name, rows):
        if name not in self.weights:
            return rows
        return rows * ops.sqrt(ops.maximum(self.weights[name], 0.0))

    @property
    def is_energy(self):
        """A flag: the loss contains an energy, and is not a sum of squares."""
        return isinstance(self.step.objective.terms["residual"], EnergyTerm)

    def jacobian(self, parameters):
        """Return J, the derivative of the residuals, `(N, P)`."""
        step, blocks = self.step, []
        # The gradient of an energy uses all points; its Hessian only as many as there
        # are parameters, since the Jacobian takes most of a step's time.
        settings = step.variables, self.split(parameters), parameters.shape[0]
        for name, batch in self.batches.items():
            rows = row_jacobians(step.objective, name, batch, *settings)
            blocks += [self._weighted(name, row) for row in rows]
        return ops.concatenate(blocks)

    def fresh(self):
        """Return an objective on other points, to validate a step made on these."""
        batches = self.step.fresh_points(self.state, self.iteration)
        return dataclasses.replace(self, batches=batches)
