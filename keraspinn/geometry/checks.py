"""Checks of the arguments of shapes."""

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import SupportsFloat, TypeAlias

import numpy as np
import sympy as sp

from keraspinn.common.checks import check_type, real_number

Number: TypeAlias = SupportsFloat
Intervals: TypeAlias = Mapping[sp.Symbol, tuple[Number, Number]]
Numbers: TypeAlias = Iterable[Number]
# Coordinates of a shape; `None` if it takes them from another domain.
Symbols: TypeAlias = Sequence[sp.Symbol] | None


def checked_intervals(declared, name):
    """Return a dict from symbols to pairs of floats, or raise if it is not valid."""
    expected = "a dict from SymPy symbols to intervals, such as {x: (0, 1)}"
    check_type(name, declared, dict, expected)
    intervals = {}
    for symbol, interval in declared.items():
        check_symbol(symbol)
        ends = [real_number(e) for e in interval] if np.iterable(interval) else []
        if len(ends) != 2 or not -math.inf < ends[0] < ends[1] < math.inf:
            raise ValueError(
                f"The interval of {symbol} must be finite and start below its end: two "
                f"numbers, (start, end). Received: {interval!r}"
            )
        intervals[symbol] = tuple(ends)
    return intervals


def check_symbol(symbol):
    """Raise `TypeError` unless the symbol can be a coordinate."""
    expected = "a SymPy symbol, such as `sympy.Symbol('x')`"
    check_type("coordinate", symbol, sp.Symbol, expected)


def check_values(on):
    """Raise `ValueError` unless a dict that names a face has numbers for values."""
    for symbol, value in on.items():
        if math.isnan(real_number(value)):
            raise ValueError(
                f"`on` must map a coordinate to a number, as {{{symbol}: 0.5}}. "
                f"Received: {on}. Where coordinates depend on each other name a "
                "geometry, on=disk, or restrict a part, where=y > x."
            )


def check_coordinates(symbols, dimension):
    """Raise unless these are different symbols, one per dimension."""
    for symbol in symbols:
        check_symbol(symbol)
    received = names(symbols)
    if len(received) != dimension or len(set(received)) < len(received):
        raise ValueError(
            f"`coordinates` must be {dimension} different symbols. Received: {received}"
        )


def written(value):
    """Format a number, with more digits if it is large, such as a clock time."""
    return f"{value:.12g}" if abs(value) >= 1e4 else f"{value:g}"


def names(symbols):
    """Return the names of symbols, as a list for messages."""
    return [symbol.name for symbol in symbols]


def checked_numbers(name, values, dimension=None):
    """Return finite numbers, such as those of a point, as a tuple of floats."""
    numbers = [real_number(v) for v in values] if np.iterable(values) else []
    wanted = len(numbers) >= 2 if dimension is None else len(numbers) == dimension
    if not wanted or not all(map(math.isfinite, numbers)):
        count = dimension or "two or more"
        raise ValueError(
            f"`{name}` must be {count} finite numbers. Received: {values!r}"
        )
    return tuple(numbers)
