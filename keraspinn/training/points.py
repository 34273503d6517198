"""Where the points of a fit come from, if the user does not say."""

from keraspinn.declaration.terms import RESIDUAL
from keraspinn.optimizers import Optimizer
from keraspinn.sampling.residual_based import ResidualBased
from keraspinn.sampling.sources import PointSources

# Of optimizers that fit their points before they are renewed: inside, where derivatives
# must be told apart, and on each face.
INSIDE, ON_A_FACE = 3000, 200


def point_sources(problem, optimizer, dtype, batch_size, given, default):
    """The points of a fit: as given, else as the optimizer needs them.

    Args:
        problem: The `Problem`.
        optimizer: The optimizer.
        dtype: Floating-point type of the points.
        batch_size: As given to `fit`, perhaps `None`.
        given: Dict from term names to samplers or arrays of points, or `None`.
        default: The sampler of terms that are not given, or `None`.
    """
    if isinstance(optimizer, Optimizer):
        every = optimizer.resample_every
        default = default or (every and ResidualBased(every))
        if batch_size is None and default:
            drawn = set(problem.terms) - set(given or ())
            batch_size = {
                name: INSIDE if name == RESIDUAL else ON_A_FACE
                for name in drawn
                if not problem.terms[name].regions
            }
    return PointSources(problem, dtype, batch_size, given, default)
