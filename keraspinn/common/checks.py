"""Checks of what is met everywhere: counts, flags, names, numbers, arrays, points.

Each is written once, returns the value in the one form that the package works with,
and raises an error that says what was wrong, what was received, and what to write.
"""

import datetime
import math
import reprlib

import numpy as np

_TIMES = (np.datetime64, np.timedelta64, datetime.date, datetime.timedelta)


def is_whole(number):
    """Whether something is an integer, of Python or NumPy, and no truth value."""
    return isinstance(number, (int, np.integer)) and not isinstance(number, bool)


def check_count(name, count, *otherwise, least=1):
    """The count as an int, or as one of the other values that it may be.

    Args:
        name: String, the argument's name.
        count: What was received.
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


def checked_flag(name, value):
    """A truth value as a bool, or `TypeError`."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"`{name}` must be True or False. Received: {value!r}")
    return bool(value)


def checked_seed(seed):
    """The seed as an int, or `ValueError`."""
    if not is_whole(seed) or not 0 <= seed < 2**32:
        raise ValueError(
            "`seed` must be an integer, zero or more and below 2**32. Received: "
            f"{seed!r}"
        )
    return int(seed)


def real_number(value):
    """A number as a float; NaN for texts, truth values, and what else is none."""
    if isinstance(value, (bool, np.bool_, str, bytes)) or np.iscomplexobj(value):
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def finite_number(name, value):
    """A number as a float, or `ValueError` unless it is finite."""
    number = real_number(value)
    if not math.isfinite(number):
        raise ValueError(f"`{name}` must be a finite number. Received: {value!r}")
    return number


def positive_number(name, value):
    """A number as a float, or `ValueError` unless it is positive and finite."""
    number = real_number(value)
    if not 0 < number < math.inf:
        raise ValueError(f"`{name}` must be a positive number. Received: {value!r}")
    return number


def nonnegative(name, value, hint=""):
    """A number as a float, or `ValueError` unless it is finite, zero or more."""
    number = real_number(value)
    if not 0 <= number < math.inf:
        raise ValueError(
            f"`{name}` must be a finite number, zero or more. Received: {value!r}{hint}"
        )
    return number


def check_known(what, names, known, kinds):
    """Raises `ValueError` unless all names are known.

    Args:
        what: String, what holds the names, such as an argument's name.
        names: Iterable of what was received.
        known: Iterable of the names there are.
        kinds: String, what they are names of, such as `"terms of the problem"`.
    """
    known = list(known)
    unknown = sorted((name for name in names if name not in known), key=str)
    if unknown:
        raise ValueError(
            f"`{what}` names {unknown}, which are no {kinds}. There are: {known}"
        )


def real_array(what, numbers):
    """Numbers as a float64 array of one's own.

    Masked values are refused, and not dropped: which rows go is for the user to say,
    as the columns of points and values belong together.

    Args:
        what: String, how to call the numbers in errors, such as `"points"`.
        numbers: Array, nested lists, or anything that NumPy takes for an array.

    Raises:
        ValueError: If they are no real numbers, some are masked, or they are dates.
    """
    check_unmasked(what, numbers)
    try:
        # Straight to numbers: an array of text is as wide as its longest entry.
        array = None if numbers is None else np.asarray(numbers, dtype="complex128")
    except (TypeError, ValueError):
        array = None
    if array is None or np.isnan(array.imag).any():  # NumPy's way to read a None
        raise ValueError(
            f"The {what} must be an array of numbers. Received: {reprlib.repr(numbers)}"
        )
    if array.imag.any() or (hasattr(numbers, "dtype") and np.iscomplexobj(numbers)):
        raise ValueError(f"The {what} must be real. Received: complex ones")
    return array.real.copy()


def check_unmasked(what, numbers):
    """Raises `ValueError` for masked values and dates, which NumPy makes numbers of."""
    # Whatever makes an array, as xarray's and netCDF's do, may make a masked one.
    array = np.asanyarray(numbers) if hasattr(numbers, "__array__") else numbers
    if masked := _masked(array):
        raise ValueError(
            f"The {what} must be known numbers. Received: {masked} masked. Leave out "
            "their rows, of points and values alike: with mask = "
            "numpy.ma.getmaskarray(values), write values[~mask].data and "
            "points[~mask]."
        )
    while isinstance(array, (list, tuple)) and len(array):
        array = array[0]
    kind = getattr(getattr(array, "dtype", None), "kind", "")
    if (
        kind in ("m", "M")
        or isinstance(array, _TIMES)
        or (kind == "O" and any(isinstance(entry, _TIMES) for entry in array.flat))
    ):
        raise ValueError(
            f"The {what} must be numbers, in the units of the equations. Received: "
            "dates or times. Write seconds since a moment of your choice: (times - "
            "times[0]) / numpy.timedelta64(1, 's')."
        )


def _masked(numbers):
    """How many numbers of an array, or of nested lists, are masked."""
    if isinstance(numbers, (list, tuple)):
        return sum(map(_masked, numbers))
    return int(np.ma.count_masked(numbers)) if np.ma.isMaskedArray(numbers) else 0


def finite_array(what, numbers):
    """The same, and `ValueError` too if one of the numbers is not finite."""
    array = real_array(what, numbers)
    bad = ~np.isfinite(array)
    if bad.any():
        row = int(np.argwhere(bad)[0][0]) if array.ndim else ()
        place = f" in row {row}" if array.ndim else ""
        raise ValueError(
            f"The {what} must be finite. Received: {array[row]}{place}. Drop the rows "
            "that hold NaN or infinity."
        )
    return array


def point_array(what, points, coordinates=None):
    """Points as a float64 array `(n, d)`, a row a point.

    Args:
        what: String, how to call them in errors, such as `"points of 'wall'"`.
        points: What was received.
        coordinates: The names or symbols of the columns, if known.

    Raises:
        ValueError: If there are none, or they are of another shape or not finite.
    """
    array = real_array(what, points)
    names = [str(symbol) for symbol in coordinates or ()]
    columns = len(names)
    if array.ndim != 2 or not len(array) or (names and array.shape[1] != columns):
        each = f", a column for each of {names}" if names else ", a row a point"
        raise ValueError(
            f"The {what} must have shape (n, {columns if names else 'd'}){each}. "
            f"Received: shape {array.shape}"
        )
    return finite_array(what, array)
