"""Default points of a fit."""

from keraspinn.declaration.terms import RESIDUAL
from keraspinn.optimizers import Optimizer
from keraspinn.sampling import PointSources, Renewed, ResidualBased

# Candidates for each point of an optimizer that takes other points in each step.
# Burgers, 20 × 4 units, Gauss–Newton, 300 s of one core: error 4.7e-7 with 5, 1.6e-5
# with uniform points.
POOL = 5
# Points for second-order optimizers, which fit them before they are renewed: many
# inside, where the residual has derivatives.
INSIDE = 3000
ON_A_FACE = 200
# The gradient of an energy does not vanish at each point, so its noise must average
# out. L-bracket, 20 × 3 units, 60 steps: error 6.7 % with 2,048 points, 3.0 % with
# 16,384.
OF_AN_ENERGY = 16_384


def point_sources(problem, optimizer, dtype, batch_size, given, default):
    """Return the points of a fit: as given, else as the optimizer needs them.

    Args:
        problem: The `Problem`.
        optimizer: The optimizer.
        dtype: Floating-point type of the points.
        batch_size: As given to `fit`, perhaps `None`.
        given: Dict from term names to samplers or arrays of points, or `None`.
        default: The sampler of other terms, or `None`.
    """
    if isinstance(optimizer, Optimizer):
        period = optimizer.resample_every
        is_energy = problem.terms[RESIDUAL].is_energy
        if is_energy:
            if period and default is None:
                given = {RESIDUAL: Renewed(period)} | (given or {})
            batch_size = batch_size or {RESIDUAL: OF_AN_ENERGY}
        if default is None and (period or not is_energy):
            default = ResidualBased(period) if period else ResidualBased(1, pool=POOL)
        if batch_size is None and default:
            batch_size = {
                name: INSIDE if term.is_equation else ON_A_FACE
                for name, term in problem.terms.items()
                if not term.regions and name not in (given or ())
            }
    return PointSources(problem, dtype, batch_size, given, default)
