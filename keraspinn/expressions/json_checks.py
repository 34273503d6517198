"""Checks on saved leaves and their limits."""

import functools
import itertools
import math
import unicodedata

from keraspinn.expressions import bounds

ASSUMPTIONS = {
    *("positive", "negative", "nonnegative", "nonpositive", "zero", "nonzero"),
    *("even", "odd", "prime", "composite", "integer", "noninteger", "rational"),
    *("irrational", "algebraic", "transcendental", "imaginary", "antihermitian"),
    *("real", "complex", "hermitian", "infinite", "finite", "polar"),
    *("extended_positive", "extended_negative", "extended_nonnegative"),
    *("extended_nonpositive", "extended_nonzero", "extended_real"),
}
"""Assumptions of a symbol that may be saved."""


def integer(number, least=-math.inf, most=math.inf):
    """Return an integer, if it is within the limits."""
    if isinstance(number, bool) or not isinstance(number, int):
        raise ValueError(f"Expected an integer. Received {short(number)}.")
    if not least <= number <= most or abs(number) >= 10**bounds.MAX_DIGITS:
        raise ValueError(
            f"Expected an integer of at most {bounds.MAX_DIGITS} digits, from {least} "
            f"to {most}. Received {short(number)}."
        )
    return number


def checked_list(data, most):
    """Return a list, if it is neither empty nor too long."""
    if not isinstance(data, list) or not 1 <= len(data) <= most:
        raise ValueError(f"Expected a list of 1 to {most}. Received {short(data)}.")
    return data


def checked_name(text):
    """Return a name, if it is printable."""
    if (
        not isinstance(text, str)
        or not 1 <= len(text) <= bounds.MAX_NAME
        or any(
            unicodedata.category(character) in ("Cc", "Cf", "Cs") for character in text
        )
    ):
        raise ValueError(
            f"A name is a string of 1 to {bounds.MAX_NAME} characters, no control or "
            f"other invisible ones. Received {short(text)}."
        )
    return text


def declare(cls, assumptions, *arguments):
    """Return `cls(*arguments)` with the saved assumptions, if those are known."""
    for name, value in (assumptions or {}).items():
        known = name in ASSUMPTIONS or (name == "commutative" and value)
        if not known or not isinstance(value, bool):
            raise ValueError(
                f"Assumptions map some of {sorted(ASSUMPTIONS)} to true or false. "
                f"Received {short(assumptions)}."
            )
    return _construct(cls, *arguments, **(assumptions or {}))


@functools.lru_cache(maxsize=256)
def _construct(cls, *arguments, **assumptions):
    # A tree repeats a field in each derivative, and SymPy takes about half a
    # millisecond to create a class of its name.
    return cls(*arguments, **assumptions)


def short(data):
    """Return a bounded description: `repr` of data from a file may be huge."""
    if isinstance(data, str):
        return repr(data[:60])
    if isinstance(data, dict):
        return str([str(key)[:20] for key in itertools.islice(data, 6)])
    if isinstance(data, list):
        return f"a list of {len(data)}"
    if isinstance(data, int) and not isinstance(data, bool) and abs(data) > 10**20:
        return "an integer above 1e20 in size"
    return repr(data)[:60]
