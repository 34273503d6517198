"""Combinations of highest derivatives, computed at the cost of one."""

import math

import sympy as sp
from sympy.core.function import AppliedUndef

from keraspinn.expressions.derivatives import field_and_index
from keraspinn.expressions.nodes import distinct_nodes

MAX_TERMS = 1_000
"""Expanded terms of a ratio up to which SymPy may cancel common factors.

That takes under a second, and may not end far above. Ratios with more terms are not
combined, which costs a little speed and no accuracy.
"""

MAX_RATIO = 1e6
"""Largest ratio of two weights in a combination: above, float32 loses the smaller."""


def combined_derivatives(expressions, coordinates):
    """Find the linear combinations of highest derivatives that expressions depend on.

    u_xx + u_yy + u depends on the sum of its second derivatives, which a network can
    propagate at the cost of one. A derivative is highest if no other derivative of any
    field contains it.

    Args:
        expressions: Iterable of normalized SymPy expressions.
        coordinates: Tuple of the domain's SymPy symbols, in the domain's order.

    Returns:
        A tuple of combinations, each a tuple of pairs `(multi-index, weight)`, that
        apply to every field. It is empty if they are not fewer than the derivatives
        they combine, or depend on the point.

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
    combinations = set()
    for expression in expressions:
        plain = expression.xreplace(stand_ins)
        for field in {field for field, _ in keys.values()}:
            indices = {
                i: s for s, (f, i) in keys.items() if f == field and i in highest
            }
            present = {i: s for i, s in indices.items() if plain.has(s)}
            if present:
                combinations.add(_combination(plain, present))
    if None in combinations or len(combinations) >= len(highest):
        return ()
    return tuple(sorted(combinations))


def _highest(indices):
    def below(lower, upper):
        return all(a <= b for a, b in zip(lower, upper, strict=True))

    return sorted(
        index
        for index in indices
        if sum(index) and not any(below(index, i) for i in indices - {index})
    )


def _combination(expression, symbols):
    """Return the combination that `expression` depends on, or `None`."""
    partials = {index: expression.diff(symbol) for index, symbol in symbols.items()}
    first = next(iter(partials.values()))
    pairs = []
    for index, partial in sorted(partials.items()):
        ratio = sp.Integer(1) if partial == first else partial / first
        if not ratio.is_number and max(_terms_expanded(ratio)) <= MAX_TERMS:
            ratio = sp.cancel(_replace_functions(ratio, {}))
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
    """Count the expanded terms of numerator and denominator, up to the limit."""
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


def _replace_functions(node, symbols):
    """Replace each subexpression other than a sum, product or power by a symbol.

    Otherwise SymPy would cancel factors inside the arguments of functions too.
    """
    if isinstance(node, (sp.Add, sp.Mul)):
        return node.func(
            *(_replace_functions(argument, symbols) for argument in node.args)
        )
    if isinstance(node, sp.Pow) and node.exp.is_Integer:
        return _replace_functions(node.base, symbols) ** node.exp
    return node if node.is_Atom else symbols.setdefault(node, sp.Dummy())
