"""Parts of fields that equations and conditions leave free, such as a pressure's level.

Errors and sizes of these fields do not count them.
"""

import numpy as np
from keras import ops
from numpy.polynomial import chebyshev

from keraspinn.declaration.scaling.offsets import CONSTANT, free_shifts

# Degree of the polynomials that stand for functions of time, and points for each.
DEGREE = 12
POINTS_PER_DEGREE = 10


def without_levels(problem, batches, fields):
    """Return values of fields without their free parts.

    Args:
        problem: The `Problem`.
        batches: Dict from term names to batches.
        fields: Values of each field, or their Jacobians, where each lives; a list of
            arrays `(N, ...)`.
    """
    shifts, time = free_shifts(problem), problem.domain.time_coordinate
    homes = problem.field_terms.values()
    results = []
    for name, names, values in zip(problem.field_names, homes, fields, strict=True):
        if name in shifts:
            functions = np.ones((len(values), 1))
            if shifts[name] != CONSTANT:
                column = problem.coordinates.index(time)
                points = ops.concatenate([batches[n].points for n in names])
                times = ops.convert_to_numpy(points)[:, column]
                degree = min(DEGREE, len(values) // POINTS_PER_DEGREE)
                functions = chebyshev.chebvander(times, degree)
            basis = np.linalg.qr(functions)[0]
            values = values - basis @ (basis.T @ values)
        results.append(values)
    return results
