"""Checks of the numbers that shapes are declared with."""

import math

import numpy as np

from keraspinn.common.checks import check_unmasked


def positive(name, value):
    """A positive number as a float."""
    number = _float(value)
    if not (math.isfinite(number) and number > 0):
        raise ValueError(f"`{name}` must be a positive number. Received: {value!r}")
    return number


def checked_center(center, dimension=None):
    """A point as a tuple of floats."""
    numbers = [_float(c) for c in center] if np.iterable(center) else []
    wanted = len(numbers) >= 2 if dimension is None else len(numbers) == dimension
    if not wanted or not all(map(math.isfinite, numbers)):
        count = dimension or "two or more"
        raise ValueError(
            f"`center` must be a point, {count} finite numbers. Received: {center!r}"
        )
    return tuple(numbers)


def checked_points(name, points, dimension=None, least=1):
    """Points as a float64 array `(n, d)`."""
    check_unmasked(name, points)
    try:
        array = np.asarray(points, "float64")
    except (TypeError, ValueError):
        array = np.zeros(0)
    right = array.ndim == 2 and dimension in (None, array.shape[-1])
    if not right or len(array) < least or not np.isfinite(array).all():
        columns = "d" if dimension is None else dimension
        raise ValueError(
            f"`{name}` must be an array of at least {least} finite points, "
            f"(n, {columns}). Received: shape {array.shape}"
        )
    return array


def _float(value):
    try:
        return float(value)
    except (TypeError, ValueError):
        return math.nan
