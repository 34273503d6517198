"""Checks of a shape's arguments."""

import math

import numpy as np

from keraspinn.common.checks import point_array, real_number


def checked_center(center, dimension=None):
    """Return a point as a tuple of floats."""
    numbers = [real_number(c) for c in center] if np.iterable(center) else []
    wanted = len(numbers) >= 2 if dimension is None else len(numbers) == dimension
    if not wanted or not all(map(math.isfinite, numbers)):
        count = dimension or "two or more"
        raise ValueError(
            f"`center` must be a point, {count} finite numbers. Received: {center!r}"
        )
    return tuple(numbers)


def checked_points(name, points, dimension=None, least=1):
    """Return points as a float64 array `(n, d)`, with enough rows of that dimension."""
    array = point_array(name, points)
    if len(array) < least or dimension not in (None, array.shape[1]):
        columns = "d" if dimension is None else dimension
        raise ValueError(
            f"`{name}` must be an array of at least {least} finite points, "
            f"(n, {columns}). Received: shape {array.shape}"
        )
    return array
