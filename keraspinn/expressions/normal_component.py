"""Symbols for the components of the outward normal."""

from typing import Any, Self

import sympy as sp

from keraspinn.common.checks import check_type


class NormalComponent(sp.Symbol):
    """Component of the outward unit normal, nondimensional: a SymPy symbol.

    `domain.normal` returns one for each spatial coordinate. Symbols depend on the
    coordinate and not on the domain, so `plate.normal` may be used before a hole is
    subtracted from the plate. `domain.normals` returns their values.

    Args:
        coordinate: The spatial coordinate, a SymPy symbol.

    Example:

    >>> x = sp.Symbol("x")
    >>> NormalComponent(x)
    n_x
    """

    __slots__ = ("coordinate",)

    def __new__(cls, coordinate: sp.Symbol) -> Self:
        # Symbol's constructor caches by name, as for a Parameter.
        self = sp.Symbol.__xnew__(cls, f"n_{coordinate.name}", real=True)
        self.coordinate = coordinate
        return self

    def __getnewargs_ex__(self):
        return (self.coordinate,), {}

    def _hashable_content(self):
        return super()._hashable_content() + (self.coordinate,)


def normal_derivative(expression: sp.Expr, domain: Any) -> sp.Expr:
    """Return the derivative along the outward normal, ∂u/∂n = n · ∇u.

    Use it for Neumann, Robin and no-flux conditions on any boundary.

    Args:
        expression: A field, or a SymPy expression in the fields and coordinates.
        domain: The geometry.

    Returns:
        SymPy expression in the components of `domain.normal`.

    Raises:
        TypeError: If `expression` is not a SymPy expression.

    Example:

    >>> x, y = sp.symbols("x y")
    >>> u = sp.Function("u")(x, y)
    >>> box = keraspinn.geometry.Box({x: (0, 1), y: (0, 1)})
    >>> keraspinn.normal_derivative(u, box)
    n_x*Derivative(u(x, y), x) + n_y*Derivative(u(x, y), y)
    """
    expected = "a SymPy expression, such as the field u(x, y)"
    check_type("expression", expression, sp.Expr, expected)
    return sp.Add(*(n * expression.diff(n.coordinate) for n in domain.normal))
