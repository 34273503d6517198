"""Narrow peaks and poles of known functions, which collocation points miss.

The largest value of a function of the coordinates is searched in boxes that shrink
around the best point, by its logarithm: far from a Gaussian only that has a gradient.
"""

import textwrap
import warnings

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from keraspinn.declaration.probe_points import columns
from keraspinn.expressions import Parameter, Program

# Points of a step or a verdict, one of which should meet a peak.
POINTS = 1_000
# Points within 1/e of the largest sampled value: a peak with as many is resolved.
ENOUGH = 8
# Halvings of the box, down to the rounding of float64.
LEVELS = 44
# Halvings between which the growth of a pole is measured, above rounding.
NEAR, NEARER = 26, 38
# Points in each box.
TRIED = 256
# Share of a function's integral below which a missed peak does not matter.
SHARE = 0.1
# Logarithm that stands for that of zero or of no value.
HUGE = 1e300
# Order of growth below which a function is bounded.
BOUNDED = 0.3
# Orders of a pole that is told of: 1/r trains to 2e-7, 1/r^2 to 4 to 94 %.
POLE = 1.5, 100.0

_FIELDS = (AppliedUndef, sp.Derivative)
_STEEP = (sp.exp, sp.sech, sp.csch, sp.cosh, sp.tanh, sp.cot, sp.csc)


def missed_peaks(expressions, domain, blocks, where):
    """Describe peaks of functions of the coordinates that are too narrow for points.

    Args:
        expressions: Normalized SymPy expressions.
        domain: The geometry.
        blocks: The parts of the domain where the expressions should hold.
        where: String that names them in warnings.

    Returns:
        A list of sentences.

    Warns:
        UserWarning: If a coefficient has a pole.
    """
    parts = dict.fromkeys(part for block in blocks for part in block)
    functions = [own for expression in expressions for own in _known(expression)]
    searched = [(*own, domain, part, where) for own in functions for part in parts]
    return list(dict.fromkeys(peak for own in searched for peak in _peaks(*own)))


def _known(expression):
    """Yield steep functions of the coordinates, and whether each is a source."""
    factors = {}
    if _is_steep(expression):
        for term in sp.Add.make_args(sp.expand_mul(expression)):
            known, others = term.as_independent(*_FIELDS, as_Add=False)
            factors[others] = factors.get(others, 0) + known
    for others, known in factors.items():
        values = {s: sp.Float(s.initial or 1) for s in known.atoms(Parameter)}
        squares = [p for p in known.atoms(sp.Pow) if p.base.func is sp.tanh]
        values |= {p: 1 - sp.sech(*p.base.args) ** 2 for p in squares if p.exp == 2}
        if _is_steep(known):
            yield known.xreplace(values), others == 1


def _is_steep(node):
    powers = (p for p in node.atoms(sp.Pow) if p.base.free_symbols)
    return node.has(*_STEEP) or any(p.exp.is_negative for p in powers)


def _logarithm(node):
    """Return log|node|, which does not underflow where the node does."""
    if isinstance(node, sp.Mul):
        return sp.Add(*map(_logarithm, node.args), evaluate=False)
    if isinstance(node, sp.exp):
        return node.args[0]
    if isinstance(node, sp.sech):
        return -sp.Abs(node.args[0], evaluate=False)
    if isinstance(node, sp.Pow) and node.exp.is_number:
        return node.exp * _logarithm(node.base)
    if isinstance(node, sp.Add) and node.has(sp.exp, sp.sech):
        return sp.Max(*map(_logarithm, node.args), evaluate=False)
    return sp.log(sp.Abs(node, evaluate=False), evaluate=False)


def _peaks(known, is_source, domain, part, where):
    """Yield sentences on a function's peaks on a part, and warn of its poles."""
    random, symbols = np.random.default_rng(0), domain.coordinates
    extent, fixed = domain.upper - domain.lower, domain.fixed(part)

    def located(places):
        points = domain.lower + extent * places
        for column, value in fixed:
            points[:, column] = value
        return points

    def function(expression):
        program = Program([expression], symbols)

        def values(places):
            points = located(places)
            (own,) = program.on_host(columns(symbols, points), {})
            inside = np.asarray(domain.contains(part, points - domain.centre))
            return np.where(inside, np.nan_to_num(own, nan=-HUGE), -HUGE)

        return values

    def box(centre, half):
        low, high = np.maximum(centre - half, 0), np.minimum(centre + half, 1)
        return low + (high - low) * random.random((TRIED, len(centre)))

    everywhere = random.random((POINTS, len(extent)))
    size = function(sp.log(sp.Abs(known, evaluate=False), evaluate=False))
    for term in sp.Add.make_args(known):
        logarithm = function(_logarithm(term))
        found = logarithm(everywhere)
        if np.count_nonzero(found >= found.max() - 1) >= ENOUGH:
            continue
        centre = everywhere[found.argmax()]
        for level in range(1, LEVELS):
            tried = np.vstack([centre, box(centre, 0.5**level)])
            centre = tried[logarithm(tried).argmax()]
        place = zip(symbols, located(centre[None].round(9))[0], strict=True)
        at = ", ".join(f"{s} = {v:.4g}" for s, v in place if s in term.free_symbols)
        near, nearer = (np.median(size(box(centre, 0.5**n))) for n in (NEAR, NEARER))
        order = (nearer - near) / (NEARER - NEAR) / np.log(2)
        if POLE[0] < order < POLE[1] and not is_source:
            factor = sp.fraction(term)[1]
            factor = factor if factor.free_symbols else 1 / term
            warnings.warn(
                f"In {where}: a coefficient is unbounded at {at}, as 1/({factor}) is, "
                "and few points outweigh all others. Multiply the equation by that "
                "factor.",
                stacklevel=6,
            )
        half, rest = size(centre[None])[0] - np.log(2), size(everywhere)
        if BOUNDED < order < POLE[1] or rest.max() > half:
            continue
        # The largest box that is filled by what exceeds half of the peak's height.
        level = 0
        while level < LEVELS and np.mean(size(box(centre, 0.5**level)) > half) < 0.5:
            level += 1
        width = 2 * 0.5**level
        peak = width * np.exp(half)
        if peak > SHARE * (peak + np.exp(rest).mean()):
            yield (
                f"{textwrap.shorten(str(known), 100, placeholder=' …')} has a peak at "
                f"{at}, {width:.0e} of the domain's extent wide: it takes at least "
                f"{1 / width:.0e} points a step for one to meet it (`batch_size`). "
                "Write a peak as wide as points are dense, end intervals there, or "
                "declare an impulse as the jump that it makes of a condition."
            )
