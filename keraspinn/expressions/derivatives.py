"""Fields and derivatives of expressions."""

from collections.abc import Iterable

import sympy as sp

from keraspinn.expressions.field import Field
from keraspinn.expressions.image import At
from keraspinn.expressions.nodes import distinct_nodes


def fields_of(expressions: sp.Basic | Iterable[sp.Basic]) -> tuple[str, ...]:
    """Return the names of the fields in some expressions.

    A field is an applied undefined function, `sp.Function("u")(x, y)`.

    Args:
        expressions: A SymPy expression, or an iterable of them.

    Returns:
        A tuple of strings, sorted alphabetically, each name once.

    Example:

    >>> x = sp.Symbol("x")
    >>> u, p = sp.Function("u")(x), sp.Function("p")(x)
    >>> fields_of([u.diff(x) + p, p * x])
    ('p', 'u')
    """
    nodes = distinct_nodes(expressions, (sp.Derivative, Field, At))
    fields = set().union(*(node.atoms(Field) for node in nodes))
    return tuple(sorted({field.func.__name__ for field in fields}))


def required_derivatives(
    expressions: sp.Basic | Iterable[sp.Basic], coordinates: Iterable[sp.Symbol]
) -> dict[str, frozenset[tuple[int, ...]]]:
    """Find the derivatives that must be known to evaluate some expressions.

    Args:
        expressions: A normalized SymPy expression, or an iterable of them.
        coordinates: Tuple of the domain's SymPy symbols, in the domain's order.

    Returns:
        A dict from each field's name to a frozenset of multi-indices: tuples of
        integers that count the derivatives in each coordinate. The field itself is
        the index of zeros, and is there only if it appears.

    Raises:
        ValueError: If something other than a field is differentiated, or a
            derivative is taken in a symbol that is not a coordinate.

    Example:

    >>> x, y = sp.symbols("x y")
    >>> u = sp.Function("u")(x, y)
    >>> needed = required_derivatives(u.diff(x, 2) + u, (x, y))
    >>> sorted(needed["u"])
    [(0, 0), (2, 0)]
    """
    coordinates = tuple(coordinates)
    needed: dict[str, set[tuple[int, ...]]] = {}
    for node in distinct_nodes(expressions, (sp.Derivative, Field)):
        name, index = field_and_index(node, coordinates)
        needed.setdefault(name, set()).add(index)
    return {name: frozenset(needed[name]) for name in sorted(needed)}


def highest_order(expressions, coordinates):
    """Return the highest order of the derivatives in some expressions, 0 if none."""
    orders = required_derivatives(expressions, coordinates).values()
    return max((sum(index) for indices in orders for index in indices), default=0)


def symbols_and_orders(derivative):
    """Return pairs of a symbol and the order in it, which must be an integer."""
    for _, order in derivative.variable_count:
        if not order.is_Integer:
            raise ValueError(
                f"The order of a derivative must be an integer. Received {order} in "
                f"{derivative}. Write a number, u.diff(x, 2), or a fractional one "
                "as sympy.Integral: of order 1/2 from 0, 2/sqrt(pi) times "
                "sympy.Integral(u.diff(x).subs(x, x - r**2), (r, 0, sympy.sqrt(x)))."
            )
    return derivative.variable_count


def field_and_index(node, coordinates):
    """Return the field's name and the multi-index of a field or its derivative."""
    if isinstance(node, Field):
        return node.func.__name__, (0,) * len(coordinates)
    if not isinstance(node.expr, Field):
        raise ValueError(
            f"only derivatives of plain fields can be evaluated. Received {node}, "
            f"where {node.expr} is not a field. `normalize` expands derivatives of "
            "products and functions; write out others by hand."
        )
    index = [0] * len(coordinates)
    for symbol, count in symbols_and_orders(node):
        if symbol not in coordinates:
            raise ValueError(
                f"{node} is a derivative in {symbol}, which is not a coordinate. "
                f"Coordinates are {', '.join(map(str, coordinates))}."
            )
        index[coordinates.index(symbol)] += int(count)
    return node.expr.func.__name__, tuple(index)
