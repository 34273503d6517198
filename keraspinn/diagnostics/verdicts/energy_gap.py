"""Estimate of the error in a trained model's energy."""

import dataclasses
import math

import numpy as np
from keras import ops

from keraspinn import backend
from keraspinn.common.checks import check_count
from keraspinn.declaration.singularities import has_reentrant_corner, singular_corners
from keraspinn.declaration.terms import RESIDUAL
from keraspinn.diagnostics.verdicts.cells import savings_on_cells
from keraspinn.diagnostics.verdicts.extents import extent, largest_terms, rms
from keraspinn.diagnostics.verdicts.quantities import quantity_errors
from keraspinn.diagnostics.verdicts.verdict import Verdict
from keraspinn.expressions import fields_of
from keraspinn.training.flat import joined, row_jacobians
from keraspinn.training.model import PINNModel, check_one_model
from keraspinn.training.tangent import FIELDS, Tangent

# Points inside, at least. With 1,000, noise was estimated at 30 times the error.
POINTS = 4000
# Factor of the points of a verdict at corners, where the density is unbounded: a
# bracket 1.3 % off was estimated at 2.3 % with as many as elsewhere, and at 1.6 %.
AT_CORNERS = 4
# Points on each face with a condition.
ON_A_FACE = 100
# Draws of training points, whose energies show the quadrature's error.
DRAWS = 4
# Damping to try, relative to JᵀJ's diagonal, as fields may differ in energy. The one
# that lowers the energy most at other points counts.
DAMPING = 1e-10, 1e-8, 1e-6, 1e-4, 1e-2
# Added to the diagonal, relative to its sum: a weight may have no influence.
NOTHING = 1e-16


@dataclasses.dataclass(frozen=True)
class EnergyGap:
    """Energy of a model, and its estimated excess.

    Args:
        energy: The energy, in the user's units.
        gap: ½ gᵀd, in the user's units: the decrease that Newton's correction promises,
            and the savings by changes on small cells.
        left: The correction's difference at other points, and the savings on cells,
            relative to the energy's size, or to the field's, if that is more.
        errors: Dict from names of fields to the norm of their correction, relative to
            the corrected field's, or the savings on cells relative to the energy that
            the field stores alone, in all or by cell, if that is more.
        quadrature: Standard deviation of the energy over draws of the training's
            points, in the user's units.
        size: Change of the energy from constant fields, in the user's units, as
            `Scales` have it; the energy itself if zero.

    Example:

    >>> print(EnergyGap(-2.0, 0.01, 1e-4, {"u": 0.004}))
    Energy -2, about 0.01 above the least (0.5 %).
    """

    energy: float
    gap: float
    left: float
    errors: dict[str, float]
    quadrature: float = 0.0
    size: float = 0.0

    @property
    def relative(self) -> float:
        """The gap relative to the energy's size."""
        return self.gap / (self.size or abs(self.energy) or 1.0)

    def __str__(self):
        text = (
            f"Energy {self.energy:.5g}, about {self.gap:.2g} above the least "
            f"({100 * self.relative:.2g} %)."
        )
        if self.quadrature > self.gap:
            text += (
                f" The error of its quadrature, {self.quadrature:.2g}, is larger: fit "
                "with more points, batch_size={'residual': 65_536}."
            )
        return text

    __repr__ = __str__


def energy_gap(model: PINNModel, points: int = POINTS) -> EnergyGap:
    """Estimate the excess of a model's energy by Newton's correction.

    With g the energy's gradient by all parameters and H its Hessian, from the second
    derivatives of its density, d = (H + μI)⁻¹ g is the correction and ½ gᵀd the
    decrease of the energy: its error, as far as the network's tangent space contains
    the solution. Changes of the fields on cells, down to 1/4096 of the domain, add the
    energy that they would save: where coefficients vary faster, and beside corners.

    Args:
        model: A `PINNModel` of a problem with an energy.
        points: Number of points inside and on each part with an integral; as many as
            the network has parameters, if those are more.

    Returns:
        An `EnergyGap`.

    Raises:
        TypeError: If `model` is not a `PINNModel`.
        ValueError: If its problem has no energy.

    Example:

    ```python
    gap = keraspinn.diagnostics.energy_gap(model)
    print(gap)
    ```

    Reference:
        Müller & Zeinhofer, "Achieving high accuracy with PINNs via energy natural
        gradient descent", arXiv 2302.13163.
    """
    check_one_model(model)
    check_count("points", points)
    if model.problem.energy is None:
        raise ValueError(
            "There is no energy in this problem. Take keraspinn.diagnostics.verdict("
            "model), or declare the problem by Problem(..., energy=...)."
        )
    (size,) = model.problem.scales.sizes(model.problem.terms[RESIDUAL])
    draws = (model.trainer.sources.draw(0, -1 - n, [RESIDUAL]) for n in range(DRAWS))
    energies = [float(model._objective.loss(RESIDUAL, d[RESIDUAL])) for d in draws]
    quadrature = size * float(np.std(energies, ddof=1))
    with backend.double_precision():
        gap, *_ = _measured(model, points)
    return dataclasses.replace(gap, quadrature=quadrature)


def energy_verdict(model, tolerance, points, quantities):
    """Return the `Verdict` on a model of an energy: its gap in place of residuals.

    Args:
        model: The `PINNModel`.
        tolerance: Largest error of a field that is trusted.
        points: As for `energy_gap`.
        quantities: Dict from names to SymPy expressions.
    """
    problem = model.problem
    is_singular = singular_corners(problem) or has_reentrant_corner(problem.domain)
    points *= AT_CORNERS if is_singular else 1
    with backend.double_precision():
        gap, values, tangent, step, batches = _measured(model, points)
        changes = quantity_errors(quantities, tangent, step, batches)
        misfits = _misfits(tangent, batches, values)
    errors, changes = (
        {name: float(np.maximum(error, gap.relative)) for name, error in pairs.items()}
        for pairs in (gap.errors, changes)
    )
    for label, (misfit, fields) in misfits.items():
        if label not in problem.measured:
            errors |= {name: max(errors[name], misfit) for name in fields}
    return Verdict(
        errors,
        {"energy": gap.relative} | {n: misfit for n, (misfit, _) in misfits.items()},
        {"energy": gap.left},
        tolerance,
        ("energy",),
        model.trainer.is_second_order,
        underdetermined=problem.underdetermined,
        unreliable=problem.unreliable,
        measured=problem.measured,
        quantities=changes,
        of_energy=True,
        is_unique=model._objective.terms[RESIDUAL].is_convex,
    )


def _misfits(tangent, batches, values):
    """Return how far penalties leave soft conditions unsatisfied, and their fields.

    Returns:
        Dict from labels to the root mean square of the residual, relative to the
        largest term, and the names of the expression's fields.
    """
    problem, misfits = tangent.model.problem, {}
    largest = largest_terms(tangent.model, batches, problem.scales, ())
    for (name, k), size in largest.items():
        term = problem.terms[name]
        fields = fields_of([term.expressions[k]])
        misfit = np.nan_to_num(rms(values[name][k]) / (size or 1.0), nan=np.inf)
        before, names = misfits.get(term.names[k], (0.0, []))
        misfits[term.names[k]] = max(float(misfit), before), [*names, *fields]
    return misfits


def _measured(model, points):
    """Return the `EnergyGap`, residuals, `Tangent`, Newton's step and other points."""
    problem = model.problem
    points = max(points, sum(math.prod(v.shape) for v in model.trainable_variables))
    tangent = Tangent(model, points, ON_A_FACE)
    first, second = (tangent.draw(number) for number in (-1, -2))
    weights = {n: float(w) for n, w in model.loss_weights.items()}
    system = tangent.compiled(lambda batches: _system(tangent, batches, weights))
    (_, slope, matrix), (energy, other, theirs) = map(system, (first, second))
    scales, tried = np.diag(matrix) + NOTHING * np.trace(matrix), []
    for damping in DAMPING:
        step = np.linalg.solve(matrix + damping * np.diag(scales), slope / 2)
        tried.append((other @ step - step @ theirs @ step, slope @ step / 2, step))
    gained, promised, step = max(tried, key=lambda trial: trial[0])
    (size,) = problem.scales.sizes(problem.terms[RESIDUAL])
    values, changes = tangent.moved(second, step)
    fields = zip(problem.field_names, values[FIELDS], changes[FIELDS], strict=True)
    scales, errors = problem.scales, {}
    saved, shares, sizes = savings_on_cells(tangent)
    for (name, u, change), share, least in zip(fields, shares, sizes, strict=True):
        reference = u - change, not scales.offset(name), scales.field(name)
        error = rms(change) / (max(extent(*reference), least * rms(u)) or 1.0)
        errors[name] = float(max(error, share))
    gap = max(float(gained), float(promised), 0.0) + saved
    unit = float(RESIDUAL in scales.terms) or abs(float(energy)) or 1.0
    left = max((abs(gained - promised) + saved) / unit, *shares)
    numbers = size * float(energy), size * gap, float(left)
    return EnergyGap(*numbers, errors, size=size * unit), values, tangent, step, second


def _system(tangent, batches, weights):
    """Return the energy, the gradient of the whole loss, and half its Hessian."""
    objective, variables = tangent._objective, tangent._variables
    values = backend.snapshot(variables)
    losses, gradients = objective.gradients(batches, variables, values)
    slope, matrix = 0.0, 0.0
    for name, batch in batches.items():
        weight = weights.get(name, 1.0)
        slope = slope + weight * joined(gradients[name])
        for row in row_jacobians(objective, name, batch, variables, values):
            matrix = matrix + weight * ops.matmul(ops.transpose(row), row)
    return losses[RESIDUAL], slope, matrix
