"""Integrals along a coordinate, with limits: memory terms and kernels.

`sympy.Integral(K(x, s) * u.subs(x, s), (s, 0, x))` is a number at each point. A
Gauss-Legendre sum over fields at other points evaluates it, which is exact for
polynomials of degree 39 in s, and near round-off for smooth integrands.
"""

from typing import Any, Self

import numpy as np
import sympy as sp

POINTS = 20  # Gauss-Legendre points per part: exact up to degree 39
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(POINTS)


class LineIntegral(sp.Expr):
    """Integral of an expression in one symbol; `normalize` converts SymPy's to it.

    Args:
        integrand: SymPy expression in the symbol, fields of it, and coordinates.
        symbol: The variable of integration, bound in the integrand.
        lower, upper: Limits, expressions in the coordinates.

    Example:

    >>> x, s = sp.symbols("x s")
    >>> u = sp.Function("u")
    >>> LineIntegral(sp.exp(s - x) * u(s), s, 0, x).diff(x)
    u(x) + Integral(-u(s)*exp(s - x), (s, 0, x))
    """

    is_commutative = True

    def __new__(cls, integrand: Any, symbol: Any, lower: Any, upper: Any, **_) -> Self:
        return super().__new__(cls, *map(sp.sympify, (integrand, symbol, lower, upper)))

    @property
    def free_symbols(self) -> set[sp.Basic]:
        integrand, symbol, lower, upper = self.args
        inside = integrand.free_symbols - {symbol}
        return inside | lower.free_symbols | upper.free_symbols

    def at_nodes(self, parts: tuple[float, ...] = (0.0, 1.0)) -> sp.Expr:
        """Return the quadrature sum of the integral.

        Args:
            parts: Start, division points and end of the range, from 0 to 1. Each part
                has its own quadrature points.
        """
        integrand, symbol, lower, upper = self.args
        total = 0
        for position, weight in zip(*nodes(parts), strict=True):
            node = sp.expand(lower + (upper - lower) * sp.Float(position))
            total += (upper - lower) * sp.Float(weight) * integrand.subs(symbol, node)
        return total

    def _eval_derivative(self, by):
        return line_integrals(self._as_sympy().diff(by))

    def _eval_subs(self, old, new):
        integrand, symbol, *limits = self.args
        limits = [end._subs(old, new) for end in limits]
        if old == symbol:
            return self.func(integrand, symbol, *limits)
        if symbol in new.free_symbols:  # another symbol of the same name
            integrand, symbol = _rename_symbol(integrand, symbol)
        return self.func(integrand._subs(old, new), symbol, *limits)

    def _sympystr(self, printer):
        return printer._print(self._as_sympy())

    _latex = _sympystr

    def _as_sympy(self):
        integrand, *limits = self.args
        return sp.Integral(integrand, tuple(limits))


def nodes(parts: tuple[float, ...] = (0.0, 1.0)) -> tuple[np.ndarray, np.ndarray]:
    """Return quadrature points from 0 to 1 and their weights, twenty per part."""
    starts, lengths = np.array(parts[:-1]), np.diff(parts)
    points = starts[:, None] + lengths[:, None] * (_NODES + 1) / 2
    return points.ravel(), (lengths[:, None] * _WEIGHTS / 2).ravel()


def line_integrals(expression: sp.Expr) -> sp.Expr:
    """Replace each definite `sympy.Integral` by a `LineIntegral`.

    Raises:
        ValueError: If an integral lacks a limit, or has an infinite one.
    """
    return expression.replace(sp.Integral, _of_sympy)


def without_line_integrals(expression: sp.Expr) -> sp.Expr:
    """Put zero in place of each `LineIntegral`, which has a bound variable."""
    return expression.replace(LineIntegral, lambda *_: sp.S.Zero)


def _of_sympy(*arguments):
    result, *limits = arguments
    if result.has(sp.DiracDelta):
        raise ValueError(
            "DiracDelta in an integral has no value at a point: write its result, "
            f"u.subs(x, 1). Received: {sp.Integral(*arguments)}"
        )
    for limit in limits:
        if len(limit) != 3 or any(end.is_infinite for end in limit[1:]):
            raise ValueError(
                "An integral must have a lower and an upper limit, both finite, as "
                "sympy.Integral(u.subs(x, s), (s, 0, x)). The integral over the domain "
                "or a part of it is keraspinn.integral(u, over={x: 1}), in a "
                f"Condition. Received: {sp.Integral(*arguments)}"
            )
        symbol, *ends = limit
        if isinstance(symbol, sp.Dummy):  # cannot be saved
            result, symbol = _rename_symbol(result, symbol)
        result = LineIntegral(result, symbol, *ends)
    return result


def _rename_symbol(integrand, symbol):
    """Return an integrand and its symbol, renamed to an unused name."""
    taken = [sp.Symbol(other.name) for other in integrand.free_symbols]
    fresh = next(sp.numbered_symbols(f"{symbol.name}_", start=1, exclude=taken))
    return integrand.subs(symbol, fresh), fresh
