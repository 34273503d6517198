"""Highest derivatives that some expressions need only in fixed combinations."""

import math

import sympy as sp
from sympy.core.function import AppliedUndef

from keraspinn.expressions.derivatives import field_and_index
from keraspinn.expressions.nodes import distinct_nodes

MAX_TERMS = 1_000
"""Terms of a ratio's numerator or denominator, when expanded, up to which SymPy may
look for common factors: it takes under a second for so many, and need not end for many
more. Beyond, derivatives are not combined, which costs a little speed and no accuracy.
"""

MAX_RATIO = 1e6
"""How much larger than another a weight in a combination may be: beyond, nothing would
be left of the smaller one in float32."""


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
        if not ratio.is_number and max(_terms_expanded(ratio)) <= MAX_TERMS:
            ratio = sp.cancel(_frozen(ratio, {}))
        if not (ratio.is_number and ratio.is_real and ratio.is_finite):
            return None
        pairs.append((index, ratio))
    _, leading = pairs[0]
    weights = [float(ratio / leading) for _, ratio in pairs]
    sizes = list(map(abs, weights))
    if not 0 < max(sizes) <= MAX_RATIO * min(sizes):
        return None
    return tuple((index, w) for (index, _), w in zip(pairs, weights, strict=True))


def _terms_expanded(node):
    """How many terms numerator and denominator have when expanded, or just too many."""
    above, below = 1, 1
    if isinstance(node, sp.Pow) and node.exp.is_Integer:
        times = abs(int(node.exp))
        pair = [math.comb(n + times - 1, times) for n in _terms_expanded(node.base)]
        above, below = pair if node.exp > 0 else pair[::-1]
    elif isinstance(node, sp.Mul):
        pairs = map(_terms_expanded, node.args)
        above, below = map(math.prod, zip(*pairs, strict=True))
    elif isinstance(node, sp.Add):
        pairs = [_terms_expanded(argument) for argument in node.args]
        below = math.prod(b for _, b in pairs)
        above = sum(a * (below // b) for a, b in pairs)
    return min(above, MAX_TERMS + 1), min(below, MAX_TERMS + 1)


def _frozen(node, symbols):
    """An expression with a symbol for each part that is no sum, product or power.

    SymPy would look for common factors in the arguments of functions too.
    """
    if isinstance(node, (sp.Add, sp.Mul)):
        return node.func(*(_frozen(argument, symbols) for argument in node.args))
    if isinstance(node, sp.Pow) and node.exp.is_Integer:
        return _frozen(node.base, symbols) ** node.exp
    return node if node.is_Atom else symbols.setdefault(node, sp.Dummy())
