"""Kinks and jumps of values that hold by construction.

Where a value bends sharply its second derivative is a point source, and no collocation
point meets it: u_t = u_xx from |x|, hard, is solved by |x| for all time, with a
residual of zero. A network that learns a soft condition rounds the kink instead.
"""

import itertools

import sympy as sp
from sympy.core.relational import Relational

KINKED = (sp.Abs, sp.Max, sp.Min, sp.sign, sp.Heaviside)
"""Functions of which SymPy's derivatives hold such sources, or nothing usable."""

ROUNDING = 1e-12


def kink(domain, value):
    """Where pieces of a `sympy.Piecewise` differ in value or slope as they meet.

    Looked for where a piece ends at a value of one coordinate.

    Args:
        domain: The geometry.
        value: An expression in its coordinates.

    Returns:
        A relation such as x = 1/2, as text, or `None`.
    """
    ends = zip(domain.lower, domain.upper, strict=True)
    ends = dict(zip(domain.coordinates, ends, strict=True))
    for node in value.atoms(sp.Piecewise):
        for (one, condition), (other, _) in itertools.pairwise(node.args):
            for relation in condition.atoms(Relational):
                for symbol, place in _places(relation):
                    lower, upper = ends[symbol]
                    if lower < place < upper and _jumps(one - other, symbol, place):
                        return f"{symbol} = {place}"
    return None


def _places(relation):
    """Pairs of the one symbol that a relation holds and where it turns, if found."""
    if len(relation.free_symbols) != 1:
        return []
    (symbol,) = relation.free_symbols
    try:
        found = sp.solve(relation.lhs - relation.rhs, symbol)
    except NotImplementedError:  # an equation that SymPy does not solve
        return []
    return [(symbol, place) for place in found if place.is_real]


def _jumps(difference, symbol, place):
    """Whether a difference or its slope is not zero at a place, to rounding."""
    for order in (0, 1):
        jump = sp.simplify(difference.diff(symbol, order).subs(symbol, place))
        if not jump.is_number or abs(jump) > ROUNDING:
            return True
    return False
