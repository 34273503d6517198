"""Highest derivatives that some expressions need only in fixed combinations."""

import sympy as sp
from sympy.core.function import AppliedUndef

from keraspinn.expressions.derivatives import field_and_index
from keraspinn.expressions.nodes import distinct_nodes


def combined_derivatives(expressions, coordinates):
    """Finds the linear combinations of highest derivatives that expressions depend on.

    In u_xx + u_yy + u the two second derivatives matter by their sum alone, which can
    be carried through a network at the cost of one of them. A derivative is highest if
    none that is needed, of any field, differs from it by further derivatives.

    Args:
        expressions: Iterable of normalized SymPy expressions.
        coordinates: Tuple of the domain's SymPy symbols, in the domain's order.

    Returns:
        A tuple of combinations, each a tuple of pairs `(multi-index, weight)`, which
        every field's highest derivatives are needed in. It is empty if they are not
        fewer than the derivatives that they combine, or depend on the point.

    Example:

    >>> x, y = sp.symbols("x y")
    >>> u = sp.Function("u")(x, y)
    >>> combined_derivatives([u.diff(x, 2) + u.diff(y, 2) + u], (x, y))
    ((((0, 2), 1.0), ((2, 0), 1.0)),)
    """
    nodes = [
        node
        for node in distinct_nodes(expressions)
        if isinstance(node, (sp.Derivative, AppliedUndef))
    ]
    stand_ins = {node: sp.Dummy(real=True) for node in nodes}
    keys = {stand_ins[node]: field_and_index(node, coordinates) for node in nodes}
    highest = _highest({index for _, index in keys.values()})
    if len(highest) < 2:
        return ()
    found = set()
    for expression in expressions:
        plain = expression.xreplace(stand_ins)
        for field in {field for field, _ in keys.values()}:
            own = {i: s for s, (f, i) in keys.items() if f == field and i in highest}
            present = {i: s for i, s in own.items() if plain.has(s)}
            if present:
                found.add(_direction(plain, present))
    if None in found or len(found) >= len(highest):
        return ()
    return tuple(sorted(found))


def _highest(indices):
    def below(lower, upper):
        return all(a <= b for a, b in zip(lower, upper, strict=True))

    return sorted(
        index
        for index in indices
        if sum(index) and not any(below(index, i) for i in indices - {index})
    )


def _direction(expression, symbols):
    """The one combination of `symbols` that `expression` depends on, or `None`."""
    slopes = {index: expression.diff(symbol) for index, symbol in symbols.items()}
    first = next(iter(slopes.values()))
    pairs = []
    for index, slope in sorted(slopes.items()):
        ratio = sp.Integer(1) if slope == first else slope / first
        ratio = ratio if ratio.is_number else sp.cancel(ratio)
        if not (ratio.is_number and ratio.is_real and ratio.is_finite):
            return None
        pairs.append((index, ratio))
    _, leading = pairs[0]
    return tuple((index, float(ratio / leading)) for index, ratio in pairs)
