"""Systematic residuals of conditions and data that no field removes."""

import numpy as np

NEIGHBOURS = 3  # points that a residual is compared with, on each side or so
SURE = 2.5  # standard deviations of noise, beyond which a correlation is none of noise
COMPARED = 1000  # rows, of more the first: distances take their square


def systematic(points, residual, is_noisy):
    """Return the size of the part of a residual that is systematic.

    A jump at a corner, which no network follows, makes few rows large: the mean of the
    absolute values hardly counts it. Noise in data has no correlation between
    neighbours.

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
