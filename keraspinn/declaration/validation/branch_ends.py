"""Places where an expression switches from one branch or sign to another."""

import itertools

import numpy as np
import sympy as sp

from keraspinn.expressions import distinct_nodes, normalize

# Functions that may jump where their first argument is zero.
SWITCHES = (sp.Heaviside, sp.sign, sp.atan2)
# Functions with poles, where functions of theirs may jump, as atan(tan(x)) does.
UNBOUNDED = (sp.tan, sp.cot, sp.sec, sp.csc, sp.coth, sp.csch)


def branch_ends(expression):
    """Yield pairs of expressions: where they are equal, a function may jump."""
    for switch in distinct_nodes([expression], (sp.Rel, sp.Function, sp.Pow)):
        if isinstance(switch, sp.Rel):
            yield switch.args
        elif isinstance(switch, SWITCHES):
            yield switch.args[0], 0
        elif isinstance(switch, UNBOUNDED):
            yield 1 / switch, 0
        elif switch.is_Pow and switch.exp.is_negative:
            yield switch.base, 0
            if not switch.exp.is_integer:  # the base may have a minimum of zero
                symbols = sorted(switch.base.free_symbols, key=str)
                yield from ((normalize(switch.base.diff(s)), 0) for s in symbols)


def kinks(expression):
    """Yield pairs of expressions, equal where a function bends or is steep."""
    steep = distinct_nodes([expression], (sp.tanh, sp.erf, sp.atan))
    yield from ((node.args[0], 0) for node in steep)
    for node in distinct_nodes([expression], (sp.Max, sp.Min, sp.Abs)):
        yield from itertools.combinations((*node.args, 0)[: max(2, len(node.args))], 2)


def bracket(function, pairs, halvings):
    """Bracket zeros of a function between points.

    Args:
        function: Function from points `(..., d)` to values `(...)`.
        pairs: Array of pairs of points, `(2, n, d)`.
        halvings: Number of halvings of the distance.

    Returns:
        Those pairs between which the function changes its sign, `(2, k, d)`, and the
        pairs of nearer points between which it still does.
    """
    is_beyond = function(pairs) > 0
    is_apart = is_beyond[0] != is_beyond[1]
    pairs, is_beyond = pairs[:, is_apart], is_beyond[:, is_apart]
    sides = pairs
    for _ in range(halvings):
        middle = sides.mean(axis=0)
        is_alike = (function(middle) > 0) == is_beyond
        sides = np.where(is_alike[..., None], middle, sides)
    return pairs, sides
