"""Systematic residuals of conditions and data that no field removes."""

import numpy as np

# Nearest points that a residual is compared with.
NEIGHBOURS = 3
# Standard deviations of the correlation of noise, above which it is significant.
SURE = 2.5
# Probability that noise has a smaller mean, in Student's test.
UNLIKELY = 0.975
# Rows that are compared, because distances take the square of their number.
COMPARED = 1000


def systematic_part(points, residual, is_noisy):
    """Return the size of the part of a residual that is systematic.

    The mean of absolute values is insensitive to a jump at a corner, which no network
    follows. The mean of noise in data is zero, and neighbours are uncorrelated.

    Args:
        points: Array `(N, d)`, scaled.
        residual: Array `(N,)`.
        is_noisy: Whether the rows are measured.
    """
    from scipy.special import stdtrit

    rows = np.column_stack([points, residual]) if is_noisy else ()
    # Rows drawn twice have the same noise.
    rows = np.unique(rows, axis=0)[:: len(rows) // COMPARED + 1]
    if len(rows) < 3:  # one or two readings do not show their noise
        return float(np.mean(np.abs(residual)))
    points, residual = rows[:, :-1], rows[:, -1]
    count, near = len(rows), min(NEIGHBOURS, len(rows) - 1)
    distances = np.linalg.norm(points[:, None] - points[None], axis=-1)
    np.fill_diagonal(distances, np.inf)
    others = np.argsort(distances.round(6), axis=1, kind="stable")[:, :near]
    shared = np.mean(residual[:, None] * residual[others])
    noise = SURE / np.sqrt(count * near / 2) * np.mean(np.square(residual))
    mean, deviation = abs(np.mean(residual)), np.std(residual, ddof=1)
    is_shifted = mean > stdtrit(count - 1, UNLIKELY) * deviation / np.sqrt(count)
    return float(max(np.sqrt(shared) if shared > noise else 0, mean * is_shifted))
