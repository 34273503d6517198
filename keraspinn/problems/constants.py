"""Checks of a problem's constants."""

import numbers

import sympy as sp


def check_constants(**constants):
    """Raise `ValueError` unless each is a finite number or a SymPy expression."""
    for name, value in constants.items():
        valid = isinstance(value, (numbers.Real, sp.Expr)) and value is not True
        if not valid or sp.sympify(value).has(sp.nan, sp.oo, -sp.oo, sp.zoo):
            raise ValueError(
                f"`{name}` must be a finite number, or a SymPy expression such as a "
                f"keraspinn.Parameter. Received: {value!r}"
            )
