"""What a problem's constants may be."""

import numbers

import sympy as sp


def check_constants(**constants):
    """Raises `ValueError` unless each is a finite number or a SymPy expression."""
    for name, value in constants.items():
        known = isinstance(value, (numbers.Real, sp.Expr)) and value is not True
        if not known or sp.sympify(value).has(sp.nan, sp.oo, -sp.oo, sp.zoo):
            raise ValueError(
                f"`{name}` must be a finite number, or a SymPy expression such as a "
                f"keraspinn.Parameter. Received: {value!r}"
            )
