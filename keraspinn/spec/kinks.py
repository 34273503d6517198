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


def kink(domain, value):
    """Where pieces of a `sympy.Piecewise` differ in value or slope as they meet.

    Looked for where a piece ends at a value of one coordinate.

    Args:
        domain: The geometry.
        value: An expression in its coordinates.

    Returns:
        A relation such as x = 1/2, as text, or `None`.
    """
    ends = dict(
        zip(
            domain.coordinates,
            zip(domain.lower, domain.upper, strict=True),
            strict=True,
        )
    )
    for node in value.atoms(sp.Piecewise):
        for (one, condition), (other, _) in itertools.pairwise(node.args):
            for relation in condition.atoms(Relational):
                if len(relation.free_symbols) != 1:
                    continue
                (symbol,) = relation.free_symbols
                lower, upper = ends[symbol]
                for place in sp.solve(relation.lhs - relation.rhs, symbol):
                    jumps = [
                        sp.simplify(
                            (one - other).diff(symbol, order).subs(symbol, place)
                        )
                        for order in (0, 1)
                    ]
                    if place.is_real and lower < place < upper and any(jumps):
                        return f"{symbol} = {place}"
    return None
