"""Amplification: relative change of the fields for the residual that it causes."""

import numpy as np

from keraspinn.diagnostics.verdicts.correction import scaled_rows, total_norm
from keraspinn.diagnostics.verdicts.extents import rms, without_levels
from keraspinn.training.tangent import FIELDS

# Damping to try, relative to the sum of squares of the rows. Little damping favours
# directions that vanish at the points, if there are more parameters than rows, and much
# damping smooth ones. Heat backwards in time is amplified by 450 with 1e-14 and by 1e5
# with 1e-26.
DAMPING = (1e-8, 1e-14, 1e-20, 1e-26)
# Damping that detects fronts free to move, in a quarter of the time.
SOME = DAMPING[1:2]
# Steps of the subspace iteration.
STEPS = 30
# Directions for each damping.
DIRECTIONS = 4


def amplification(tangent, rows, batches, norms, extents, values, dampings):
    """Return the largest relative change of each field and parameter per residual.

    The directions d in the network's tangent space that maximise |F d|² / |J d|², with
    F the Jacobian of the fields and J that of the residuals, are judged at fresh
    points, so that there may be more parameters than rows. Most well-posed
    problems have ratios from ten to a few thousand, and one that hardly determines a
    front's position or a source a hundred thousand.

    Args:
        tangent: The linearised model.
        rows: Dict as `tangent.rows` returns it.
        batches: Other points.
        norms: Dict from names of terms to lists of numbers that rows are divided by.
        extents: Sizes that the fields are relative to.
        values: Magnitudes of unknown parameters, the last ones of the model's.
        dampings: Those to try, such as `DAMPING`.

    Returns:
        Ratios of all fields and these parameters along the direction whose largest is
        largest; infinite if no direction is finite.
    """
    _, residuals = scaled_rows(rows, norms)
    problem = tangent.model.problem
    unit_rows = np.eye(tangent.size)[tangent.size - len(values) :, None]
    jacobians = without_levels(problem, batches, tangent.field_rows(batches))
    fields = np.concatenate(
        [j / (e * np.sqrt(len(j))) for j, e in zip(jacobians, extents, strict=True)]
        + [row / value for row, value in zip(unit_rows, values, strict=True)]
    )
    basis = np.eye(tangent.size)
    if len(residuals) + len(fields) < tangent.size:  # other directions change nothing
        basis = np.linalg.qr(np.concatenate([residuals, fields]).T)[0]
        residuals, fields = residuals @ basis, fields @ basis
    if len(residuals) > residuals.shape[1]:
        residuals = np.linalg.qr(residuals, mode="r")  # with the same JᵀJ
    expressions = sum(map(len, norms.values()))
    directions = np.hstack(
        [_directions(residuals, fields, damping * expressions) for damping in dampings]
    )
    directions = basis @ directions[:, np.isfinite(directions).all(axis=0)]
    return _judged(tangent, directions, norms, extents, values)


def _directions(residuals, fields, damping):
    """Return directions d of the largest |F d|² / (|J d|² + μ|d|²), `(P, k)`."""
    from scipy.linalg import solve_triangular

    identity = np.eye(residuals.shape[1])
    # JᵀJ would lose singular values below 1e-8 of the largest.
    stacked = np.concatenate([residuals, np.sqrt(damping) * identity])
    factor = np.linalg.qr(stacked, mode="r")
    shape = len(identity), min(DIRECTIONS, len(identity))
    directions = np.random.default_rng(0).normal(size=shape)
    for _ in range(STEPS):
        pull = fields.T @ (fields @ directions)
        half = solve_triangular(factor, pull, trans="T", check_finite=False)
        directions = solve_triangular(factor, half, check_finite=False)
        directions = np.linalg.qr(directions)[0]
    return directions


def _judged(tangent, directions, norms, extents, values):
    """Return the ratios along the best direction at fresh points."""
    fresh, ratios = tangent.draw(-3), []
    for direction in directions.T:
        _, changes = tangent.moved(fresh, direction)
        fields = without_levels(tangent.model.problem, fresh, changes[FIELDS])
        pairs = zip(fields, extents, strict=True)
        moved = [rms(change) / extent for change, extent in pairs]
        moves = abs(direction[tangent.size - len(values) :]) / values
        ratios.append(np.append(moved, moves) / total_norm(changes, norms))
    unknown = np.full(len(extents) + len(values), np.inf)
    return max(ratios, key=lambda r: np.nan_to_num(r.max()), default=unknown)
