"""Symbols for the outward normal, which stand in the equations of a boundary."""

from typing import Any, Self

import sympy as sp


class NormalComponent(sp.Symbol):
    """A component of the outward unit normal, nondimensional: a SymPy symbol.

    `domain.normal` gives one for each spatial coordinate; nobody makes them by hand.
    They belong to the coordinate and not to the domain, so that `plate.normal` may be
    written before a hole is cut out of the plate. Its values, at points of a boundary,
    are what `domain.normals` returns.

    Args:
        coordinate: The spatial coordinate, a SymPy symbol.

    Example:

    >>> x = sp.Symbol("x")
    >>> NormalComponent(x)
    n_x
    """

    __slots__ = ("coordinate",)

    def __new__(cls, coordinate: sp.Symbol) -> Self:
        # As for a Parameter: Symbol's own constructor caches by name.
        self = sp.Symbol.__xnew__(cls, f"n_{coordinate.name}", real=True)
        self.coordinate = coordinate
        return self

    def __getnewargs_ex__(self):
        return (self.coordinate,), {}

    def _hashable_content(self):
        return super()._hashable_content() + (self.coordinate,)


def normal_derivative(expression: sp.Expr, domain: Any) -> sp.Expr:
    """The derivative along the outward normal, ∂u/∂n = n · ∇u.

    For Neumann, Robin and no-flux conditions on whatever boundary.

    Args:
        expression: A field, or a SymPy expression in the fields and coordinates.
        domain: The geometry.

    Returns:
        SymPy expression that holds `domain.normal`.

    Raises:
        TypeError: If `expression` is no SymPy expression.

    Example:

    >>> x, y = sp.symbols("x y")
    >>> u = sp.Function("u")(x, y)
    >>> box = keraspinn.geometry.Box({x: (0, 1), y: (0, 1)})
    >>> keraspinn.normal_derivative(u, box)
    n_x*Derivative(u(x, y), x) + n_y*Derivative(u(x, y), y)
    """
    if not isinstance(expression, sp.Expr):
        raise TypeError(
            "`expression` must be a SymPy expression, such as the field u(x, y). "
            f"Received: {expression!r}"
        )
    return sp.Add(*(n * expression.diff(n.coordinate) for n in domain.normal))
