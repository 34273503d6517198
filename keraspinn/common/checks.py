"""Checks of arguments: counts, flags, names, numbers, arrays, points.

Each returns the value in the form that the package works with. Its error tells the
fault, the value received, and a value to write instead.
"""

import math
import reprlib

import numpy as np


def is_whole(number):
    """Return whether a value is an integer of Python or NumPy, and no truth value."""
    return isinstance(number, (int, np.integer)) and not isinstance(number, bool)


def check_count(name, count, *otherwise, least=1):
    """Return a count as an int, or one of the other values that it may be.

    Args:
        name: String, the argument's name.
        count: The value received.
        *otherwise: Texts, or `None`, that it may be instead.
        least: The smallest integer that it may be.

    Raises:
        ValueError: If it is neither.
    """
    if isinstance(count, (str, type(None))) and count in otherwise:
        return count
    if not is_whole(count) or count < least:
        kind = {0: "an integer, zero or more", 1: "a positive integer"}
        expected = kind.get(least, f"an integer of at least {least}")
        also = "".join(f" or {other!r}" for other in otherwise)
        raise ValueError(f"`{name}` must be {expected}{also}. Received: {count!r}")
    return int(count)


def check_type(name, value, kind, expected, is_filled=False):
    """Raise `TypeError` unless an argument has a type.

    Args:
        name: String, the argument's name.
        value: The value received.
        kind: The type, or a tuple of types.
        expected: String, the kind of value that it must be.
        is_filled: Whether it must not be empty either.
    """
    if not isinstance(value, kind) or (is_filled and not value):
        raise TypeError(f"`{name}` must be {expected}. Received: {value!r}")


def checked_flag(name, value):
    """Return a truth value as a bool, or raise `TypeError`."""
    check_type(name, value, (bool, np.bool_), "True or False")
    return bool(value)


def checked_seed(seed):
    """Return the seed as an int, or raise `ValueError`."""
    if not is_whole(seed) or not 0 <= seed < 2**32:
        raise ValueError(
            f"`seed` must be an integer from 0 to 2**32 - 1. Received: {seed!r}"
        )
    return int(seed)


def real_number(value):
    """Return a number as a float; NaN for texts, truth values and other objects."""
    if isinstance(value, (bool, np.bool_, str, bytes)) or np.iscomplexobj(value):
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def finite_number(name, value):
    """Return a number as a float, or raise `ValueError` unless it is finite."""
    return _checked_number(name, value, math.isfinite, "a finite number")


def positive_number(name, value):
    """Return a number as a float, or raise `ValueError` unless it is positive."""
    return _checked_number(name, value, lambda n: 0 < n < math.inf, "a positive number")


def nonnegative(name, value, hint=""):
    """Return a number as a float, or raise `ValueError` if it is negative."""
    kind = "a finite number, zero or more"
    return _checked_number(name, value, lambda n: 0 <= n < math.inf, kind, hint)


def _checked_number(name, value, is_good, kind, hint=""):
    number = real_number(value)
    if not is_good(number):
        raise ValueError(f"`{name}` must be {kind}. Received: {value!r}{hint}")
    return number


def check_choice(name, value, known):
    """Raise `ValueError` unless an argument has one of the known values."""
    if value not in known:
        raise ValueError(f"`{name}` must be one of {known}. Received: {value!r}")


def check_known(argument, names, known, kinds):
    """Raise `ValueError` unless all names are known.

    Args:
        argument: String, the argument that holds the names.
        names: Iterable of the names received.
        known: Iterable of the known names.
        kinds: String, the kind of things named, such as `"terms of the problem"`.
    """
    known = list(known)
    if unknown := sorted((name for name in names if name not in known), key=str):
        raise ValueError(
            f"`{argument}` names {unknown}, which are no {kinds}. There are: {known}"
        )


def real_array(label, numbers):
    """Return numbers as a new float64 array.

    Masked values are refused, not dropped: the rows of points and values belong
    together, so the user must remove both.

    Args:
        label: String, the numbers' name in errors, such as `"points"`.
        numbers: Array, nested lists, or anything that NumPy takes for an array.

    Raises:
        ValueError: If they are no real numbers, some are masked, or they are dates.
    """
    array = unmasked(label, numbers)
    try:
        if array is None or np.iscomplexobj(array):
            raise TypeError
        return np.array(array, dtype="float64")
    except (TypeError, ValueError):
        raise ValueError(
            f"The {label} must be an array of numbers, which are real. Received: "
            f"{reprlib.repr(numbers)}"
        ) from None


def unmasked(label, numbers):
    """Return numbers, or raise `ValueError` for masked values and dates."""
    # Objects with `__array__`, as xarray's and netCDF's, may make masked arrays.
    array = np.asanyarray(numbers) if hasattr(numbers, "__array__") else numbers
    if np.ma.isMaskedArray(array) and (masked := np.ma.count_masked(array)):
        raise ValueError(
            f"The {label} must be known numbers. Received: {masked} masked. Leave out "
            "their rows: with mask = numpy.ma.getmaskarray(values), write "
            "values[~mask].data and points[~mask]."
        )
    if getattr(getattr(array, "dtype", None), "kind", "") in ("m", "M"):
        raise ValueError(
            f"The {label} must be numbers, in the units of the equations. Received: "
            "dates or times. Write seconds since a moment of your choice: (times - "
            "times[0]) / numpy.timedelta64(1, 's')."
        )
    return array


def finite_array(label, numbers):
    """Return numbers as a float64 array, or raise `ValueError` if one is not finite."""
    array = real_array(label, numbers)
    if (bad := ~np.isfinite(array)).any():
        row = int(np.argwhere(bad)[0][0]) if array.ndim else ()
        where = f" in row {row}" if array.ndim else ""
        raise ValueError(
            f"The {label} must be finite. Received: {array[row]}{where}. Drop the rows "
            "that hold NaN or infinity."
        )
    return array


def point_array(label, points, coordinates=None, columns=None, least=1):
    """Return points as a float64 array `(n, d)`, a row for each point.

    Args:
        label: String, their name in errors, such as `"points of 'wall'"`.
        points: The value received.
        coordinates: The names or symbols of the columns, if known.
        columns: Number of columns, if it is known without names.
        least: Smallest number of points.

    Raises:
        ValueError: If there are too few, or they are of another shape or not finite.
    """
    array = real_array(label, points)
    names = [str(symbol) for symbol in coordinates or ()]
    columns = len(names) or columns
    fits = array.ndim == 2 and columns in (None, array.shape[1])
    if not fits or len(array) < least:
        each = f", a column for each of {names}" if names else ", a row a point"
        raise ValueError(
            f"The {label} must have shape (n, {columns or 'd'}){each}, with n of at "
            f"least {least}. Received: shape {array.shape}"
            + ". Write points[:, None]"
            * (array.ndim == 1 and columns in (None, 1))
        )
    return finite_array(label, array)
