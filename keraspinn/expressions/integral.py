"""Integrals over a part of the domain: numbers in an equation."""

import json
from typing import Any, Self

import sympy as sp
from sympy.core.symbol import Str

from keraspinn.common.configs import restored


class Region(Str):
    """Region of an integral, as plain data for the geometry.

    Args:
        name: The region in JSON, as written by `keraspinn.integral`.
    """

    @property
    def suffix(self):
        """Text such as `, over={x: 1}`; empty for the whole domain."""
        from keraspinn.expressions.json_tree import from_json  # imports this module

        data = json.loads(self.name)
        over = "" if data["over"] == "interior" else f", over={_shown(data['over'])}"
        return over + (f", where={from_json(data['where'])}" if "where" in data else "")


class PartIntegral(sp.Expr):
    """Integral of an expression over a part of the domain, one number.

    Args:
        integrand: SymPy expression in the fields and coordinates.
        region: The `Region`.

    Example:

    >>> x = sp.Symbol("x")
    >>> PartIntegral(x**2, Region('{"over": "interior"}'))
    integral(x**2)
    """

    is_commutative = True

    def __new__(cls, integrand: sp.Expr, region: Region, **options: Any) -> Self:
        return super().__new__(cls, integrand, region)

    @property
    def integrand(self) -> sp.Expr:
        """Integrated expression."""
        return self.args[0]

    @property
    def region(self) -> Region:
        """`Region` of integration."""
        return self.args[1]

    def _eval_derivative(self, symbol):
        return sp.S.Zero

    def _sympystr(self, printer):
        return f"integral({printer._print(self.integrand)}{self.region.suffix})"

    def _latex(self, printer):
        return rf"\int {printer._print(self.integrand)}"


def _shown(over):
    """Return a part of the domain as the user wrote it."""
    if isinstance(over, list):
        return f"[{', '.join(map(_shown, over))}]"
    if not isinstance(over, dict):
        return repr(over)
    from keraspinn.expressions.json_tree import from_json

    if "geometry" in over:
        return str(restored(over["geometry"]))
    return str({from_json(symbol): value for symbol, value in over["face"]})
