"""Combinations of highest derivatives, computed at the cost of one."""

import sympy as sp

from keraspinn.expressions.derivatives import field_and_index
from keraspinn.expressions.field import Field
from keraspinn.expressions.nodes import distinct_nodes

ROUNDING = 1e-12  # relative difference up to which two ratios of floats are one
# Largest ratio of two weights in a combination: above, float32 loses the smaller.
MAX_RATIO = 1e6


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
    nodes = list(distinct_nodes(expressions, (sp.Derivative, Field)))
    stand_ins = {node: sp.Dummy(real=True) for node in nodes}
    keys = {stand_ins[node]: field_and_index(node, coordinates) for node in nodes}
    highest = _highest({index for _, index in keys.values()})
    if len(highest) < 2:
        return ()
    candidates = {s: key for s, key in keys.items() if key[1] in highest}
    combinations = set()
    for expression in expressions:
        plain = expression.xreplace(stand_ins)
        present = {s: key for s, key in candidates.items() if plain.has(s)}
        for field in {field for field, _ in present.values()}:
            symbols = {index: s for s, (f, index) in present.items() if f == field}
            combinations.add(_combination(plain, symbols))
    if None in combinations or len(combinations) >= len(highest):
        return ()
    return tuple(sorted(combinations))


def _highest(indices):
    def below(lower, upper):
        return all(a <= b for a, b in zip(lower, upper, strict=True))

    rates = filter(any, indices)
    return sorted(i for i in rates if not any(below(i, j) for j in indices - {i}))


def _combination(expression, symbols):
    """Return the combination that `expression` depends on, or `None`."""
    partials = {index: expression.diff(symbol) for index, symbol in symbols.items()}
    first = next(iter(partials.values()))
    ratios = [(index, _ratio(p, first)) for index, p in sorted(partials.items())]
    if not all(ratio.is_real and ratio.is_finite for _, ratio in ratios):
        return None
    _, leading = ratios[0]
    weights = [float(ratio / leading) for _, ratio in ratios]
    sizes = list(map(abs, weights))
    if not 0 < max(sizes) <= MAX_RATIO * min(sizes):
        return None
    return tuple((index, w) for (index, _), w in zip(ratios, weights, strict=True))


def _ratio(above, below):
    """Return the ratio of two expressions if it is a number, and NaN otherwise.

    SymPy multiplies numbers into sums, 2 (k + 1) = 2 k + 2, so terms are compared.
    """
    if (ratio := above / below).is_number:
        return ratio
    above, below = above.as_coefficients_dict(), below.as_coefficients_dict()
    ratios = [above[term] / below[term] for term in above if term in below]
    if len(ratios) == len(above) == len(below):
        first, *others = ratios
        if all(abs(other - first) <= ROUNDING * abs(first) for other in others):
            return first
    return sp.nan
