"""Systematic residuals of conditions and data that no field removes."""

import numpy as np

# Nearest points that a residual is compared with.
NEIGHBOURS = 3
# Standard deviations of the correlation of noise, above which it is significant.
SURE = 2.5
# Rows that are compared, because distances take the square of their number.
COMPARED = 1000


def systematic(points, residual, is_noisy):
    """Return the size of the part of a residual that is systematic.

    The mean of absolute values is insensitive to a jump at a corner, which no network
    follows. Noise in data has no correlation between neighbours.

    Args:
        points: Array `(N, d)`, scaled.
        residual: Array `(N,)`.
        is_noisy: Whether the rows are measured.
    """
    if not is_noisy:
        return float(np.mean(np.abs(residual)))
    points, residual = points[:COMPARED], residual[:COMPARED]
    near = min(NEIGHBOURS, len(residual) - 1)
    if near < 1 or not np.any(residual):
        return 0.0
    distances = np.linalg.norm(points[:, None] - points[None], axis=-1)
    np.fill_diagonal(distances, np.inf)
    others = np.argsort(distances, axis=1)[:, :near]
    square = np.mean(np.square(residual))
    shared = np.mean(residual[:, None] * residual[others]) / square
    noise = SURE / np.sqrt(len(residual) * near / 2)
    return float(np.sqrt(square * shared)) if shared > noise else 0.0
