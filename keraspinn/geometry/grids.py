"""Equidistant points of a domain."""

import numpy as np

from keraspinn.common.checks import check_count
from keraspinn.geometry.part import quasi_random

_DEFAULT_POINTS = 200_000  # points of a grid without `n`: a second of a network
_MOST_POINTS = 2_000_000  # points of any grid: 100 MB of float64 in six coordinates
_INWARD = 1 - 1e-5  # factor to points inside by more than the tolerance of `contains`


def grid_points(domain, n):
    """Return the points of a bounding-box grid that lie inside a domain, `(N, d)`."""
    sides = min(100, int(_DEFAULT_POINTS ** (1 / domain.dimension) + 1e-9))
    if n is None and sides < 2:
        uniform = quasi_random(2**16, domain.draws(domain.interior))
        return domain.centre + np.asarray(domain.sample(domain.interior, uniform))
    n = sides if n is None else check_count("n", n, least=2)
    if n**domain.dimension > _MOST_POINTS:
        fits = f"Write n={sides}, or leave" if sides > 1 else "Leave"
        raise ValueError(
            f"A grid of n={n} points a side in {domain.dimension} dimensions has "
            f"{float(n) ** domain.dimension:.0e} points, more than "
            f"{_MOST_POINTS:.0e}. {fits} `n` out."
        )
    mesh = np.meshgrid(*np.linspace(domain.lower, domain.upper, n).T, indexing="ij")
    points = np.stack([axis.ravel() for axis in mesh], axis=-1)
    return points[inside(domain, points)]


def inside(domain, points):
    """Test which points `(N, d)` are in a domain, not on a face that was removed."""
    # A face that another domain is removed up to belongs to both.
    inner, half = points - domain.centre, _INWARD * domain.half
    both = inner, np.clip(inner, -half, half)
    return np.all([domain.contains(domain.interior, p) for p in both], axis=0)
