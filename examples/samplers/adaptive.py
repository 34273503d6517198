"""Helpers of the samplers that adapt to the residual."""

from keras import ops


def is_adapted(place):
    """Return whether points of a term adapt to its residual, as for `ResidualBased`.

    Points on several parts of the domain and those of integrals do not.

    Args:
        place: The `sampling.Place` of the term.
    """
    is_one_part = len(place.term.blocks) == 1 and place.count() == place.requested
    return is_one_part and not place.term.regions


def residual_size(squared):
    """Return the absolute residual at each point, zero where it is not finite.

    Args:
        squared: Tensor `(n,)`, the squared residuals.
    """
    size = ops.sqrt(squared)
    return ops.where(ops.isfinite(size), size, ops.zeros_like(size))
