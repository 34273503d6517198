"""Checks on the parts of saved leaves, each with a bound."""

import functools
import itertools
import unicodedata

from keraspinn.expressions import bounds
from keraspinn.expressions.assumptions import NAMES


def integer(number, least=None, most=None):
    """Returns an integer, if it is one within the bounds."""
    if isinstance(number, bool) or not isinstance(number, int):
        raise ValueError(f"Expected an integer. Received {short(number)}.")
    # log2(10) < 10/3, and bit_length does not write the digits out.
    if number.bit_length() > bounds.MAX_DIGITS * 10 // 3:
        raise ValueError(
            f"An integer is too long. Received one of {number.bit_length()} bits; at "
            f"most {bounds.MAX_DIGITS} decimal digits are allowed."
        )
    if least is not None and not least <= number <= most:
        raise ValueError(
            f"Expected an integer from {least} to {most}. Received {number}."
        )
    return number


def bounded_list(data, what, most):
    """Returns a list, if it is one that is neither empty nor too long."""
    if not isinstance(data, list) or not 1 <= len(data) <= most:
        raise ValueError(f"{what} are a list of 1 to {most}. Received {short(data)}.")
    return data


def name(text):
    """Returns a name, if it is one that can be printed."""
    if not isinstance(text, str) or not 1 <= len(text) <= bounds.MAX_NAME:
        raise ValueError(
            f"A name is a string of 1 to {bounds.MAX_NAME} characters. Received "
            f"{short(text)}."
        )
    if any(unicodedata.category(character) in ("Cc", "Cf", "Cs") for character in text):
        raise ValueError(
            "A name must not hold control or other invisible characters. Received "
            f"{short(text)}."
        )
    return text


def declare(cls, data, *arguments):
    """Returns `cls(*arguments)` with the saved assumptions, if those are known."""
    assumptions = data.get("assumptions", {})
    valid = isinstance(assumptions, dict) and all(
        (key in NAMES and isinstance(value, bool))
        or (key == "commutative" and value is True)
        for key, value in assumptions.items()
    )
    if not valid:
        raise ValueError(
            f"Assumptions map some of {', '.join(NAMES)} to true or false. Received "
            f"{short(assumptions)}."
        )
    return _construct(cls, *arguments, **assumptions)


@functools.lru_cache(maxsize=256)
def _construct(cls, *arguments, **assumptions):
    # A field stands in a tree once for each derivative, and SymPy takes about half a
    # millisecond to make a class of its name.
    return cls(*arguments, **assumptions)


def short(data):
    """Returns a bounded description: `repr` of what came from a file may be huge."""
    if isinstance(data, str):
        return repr(data[:60])
    if isinstance(data, dict):
        return str([str(key)[:20] for key in itertools.islice(data, 6)])
    if isinstance(data, list):
        return f"a list of {len(data)}"
    if isinstance(data, int) and not isinstance(data, bool) and abs(data) > 10**20:
        return "an integer above 1e20 in size"
    return repr(data)[:60]
