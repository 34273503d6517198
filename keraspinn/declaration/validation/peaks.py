"""Narrow peaks and poles of known functions, which collocation points miss.

The largest value of a function of the coordinates is searched in boxes that shrink
around the best point, by its logarithm: far from a Gaussian only that has a gradient.
"""

import textwrap

import numpy as np
import sympy as sp

from keraspinn.declaration.probe_points import initial_values, run_at
from keraspinn.declaration.terms import expressions_of
from keraspinn.declaration.validation.branch_ends import bracket, branch_ends, kinks
from keraspinn.expressions import At, Field, Interpolation, PartIntegral, Program
from keraspinn.geometry import Box
from keraspinn.geometry.part import quasi_random

# Points of a training step or a verdict, one of which should sample a peak.
SAMPLE_POINTS = 1_000
# Points by which peaks are looked for: many, so that none is met or missed by luck.
SEARCH_POINTS = 2**16
# Sampled points within 1/e of the largest value, from which on a peak is resolved.
RESOLVED = 8
# Of these, pairs between which the ends of branches are bracketed.
PAIRS = 512
# Halvings of the box, down to the round-off of float64.
HALVINGS = 44
# Halvings at the two distances between which a pole's growth is measured. Nearer to it,
# round-off would cancel 1 - cos(r).
NEAR = 8
NEARER = 12
# Part of this growth that a pole's has nearer to its centre, and inverse of the largest
# part. A narrow peak grows far less or far more there.
GROWING = 0.5
# Points in each box.
BOX_POINTS = 256
# Power from which on a function may be narrow, as cos(x)^1000 is.
HIGH_POWER = 30
# Share of a peak's box in which most values exceed half of its height: at a corner, a
# quarter of it lies inside.
FILLED = 0.2
# Share of a function's integral, below which a missed peak does not matter.
SMALLEST_SHARE = 1e-3
# Magnitude of the logarithm that replaces that of zero or NaN.
HUGE = 1e300
LIMITS = {"nan": -HUGE, "neginf": -HUGE, "posinf": HUGE}
# Operations of an expression, up to which its products are expanded.
MOST_EXPANDED = 1_000
# Order of growth, up to which a function is bounded.
BOUNDED = 0.3
# Order of a pole, from which on training fails: 1/r trains to 2e-7, 1/r^2 to 4 to 94 %.
LEAST_POLE = 1.4
# Order of growth, from which on it is an essential singularity.
LARGEST_POLE = 100.0

IN_SPACE = ", end intervals there, or declare an impulse as the jump of a condition"
OF_A_FIELD = (
    ", or declare latent heat by the enthalpy, a further field H: H.diff(t) in place "
    "of the term, and T as a function of H by Min and Max"
)
_STEEP = (
    *(sp.exp, sp.sech, sp.csch, sp.cosh, sp.tanh, sp.coth, sp.erf, sp.atan),
    *(sp.cot, sp.csc, sp.tan, sp.sec, sp.Max, sp.Min, sp.Piecewise),
    *(sp.Heaviside, sp.sign),
    Interpolation,
)


def describe_peaks(expressions, domain, blocks):
    """Describe peaks that sampling misses, and poles of coefficients.

    Args:
        expressions: Normalized SymPy expressions, also of integrals.
        domain: The geometry.
        blocks: The parts of the domain where they should hold, or are integrated.

    Returns:
        Lists of sentences on peaks and on poles.
    """
    parts = dict.fromkeys(part for block in blocks for part in block)
    peaks, poles = {}, {}
    inner = [i.integrand for e in expressions for i in e.atoms(PartIntegral)]
    for known, *kind in (p for e in (*expressions, *inner) for p in _known(e)):
        for part in parts:
            for is_pole, at, fault in _faults(known, *kind, domain, part):
                if is_pole:
                    poles[fault] = None
                else:  # several terms, or parts, may have the same peak
                    peaks.setdefault((known, at), fault)
    return [*peaks.values()], [*poles]


def describe_field_peaks(terms, scales):
    """Return sentences on peaks in the range of a field, such as latent heat, or "".

    Args:
        terms: Dict from names to `Term`s.
        scales: The `Scales`.
    """
    faults = {}
    for expression in expressions_of(terms.values()):
        leaves = expression.atoms(sp.Derivative, At, PartIntegral)
        hidden = {leaf: sp.Function(f"leaf_{leaf}")(sp.S.One) for leaf in leaves}
        plain = expression.xreplace(hidden)
        for field in plain.atoms(Field) - {*hidden.values()}:
            name = field.func.__name__
            middle, size = scales.offset(name), scales.field(name)
            value = sp.Symbol(name, real=True)
            line = Box({value: (middle - size, middle + size)})
            for known, _, is_dip in _known(plain.xreplace({field: value}), dips=True):
                if known.free_symbols == {value}:
                    how = True, is_dip, line, line.interior, f"{name}'s", OF_A_FIELD
                    for *_, peak in _faults(known, *how):
                        faults.setdefault(known, peak)
    return " ".join(faults.values())


def _known(expression, dips=False):
    """Yield steep functions of the coordinates, whether each is a source, and a dip.

    A dip is the reciprocal of a factor. They are yielded for those of derivatives, or
    for all.
    """
    factors = {}
    if _is_steep(expression):
        is_long = expression.count_ops() > MOST_EXPANDED
        terms = expression if is_long else sp.expand_mul(expression)
        for term in sp.Add.make_args(terms):
            known, others = term.as_independent(Field, as_Add=False)
            factors[others] = factors.get(others, 0) + known
    for others, known in factors.items():
        values = initial_values(known)
        squares = [p for p in known.atoms(sp.Pow) if p.base.func is sp.tanh]
        values |= {p: 1 - sp.sech(*p.base.args) ** 2 for p in squares if p.exp == 2}
        if _is_steep(known):
            yield known.xreplace(values), others == 1, False
            # Across a layer a dip matters, around a hole it does not.
            is_layer = len(known.free_symbols) == 1
            if is_layer and (dips or others.has(sp.Derivative)):
                known = known.xreplace(initial_values(known))
                steep = filter(_is_steep, sp.Mul.make_args(known))
                yield sp.Pow(sp.Mul(*steep), -1, evaluate=False), True, True


def _is_steep(node):
    exponents = [p.exp for p in node.atoms(sp.Pow) if p.free_symbols]
    is_low = (e.is_number and e.is_nonnegative and e <= HIGH_POWER for e in exponents)
    return not all(is_low) or node.has(*_STEEP)


def _logarithm(node):
    """Return log|node|, which does not underflow."""
    if isinstance(node, sp.Mul):
        return sp.Add(*map(_logarithm, node.args), evaluate=False)
    if isinstance(node, sp.exp):
        return node.args[0]
    if isinstance(node, sp.sech):
        return -sp.Abs(node.args[0], evaluate=False)
    if isinstance(node, sp.Pow) and node.exp.is_number:
        return node.exp * _logarithm(node.base)
    exact = sp.log(sp.Abs(node, evaluate=False), evaluate=False)
    if isinstance(node, sp.Add) and node.has(sp.exp, sp.sech):
        largest = sp.Max(*map(_logarithm, node.args), evaluate=False)
        size = sp.Abs(exact, evaluate=False)
        is_finite = sp.StrictLessThan(size, HUGE, evaluate=False)
        return sp.Piecewise((exact, is_finite), (largest, True), evaluate=False)
    return exact


def _growth(logarithm, box, centre):
    """Return the order of a pole at the centre of a box, 0 if growth ends before it."""
    near, nearer = (np.median(logarithm(box(centre, 0.5**n))) for n in (NEAR, NEARER))
    order = (nearer - near) / (NEARER - NEAR) / np.log(2)
    rest = (logarithm(centre[None])[0] - nearer) / (HALVINGS - NEARER) / np.log(2)
    is_late = order / GROWING <= rest < LARGEST_POLE  # beyond, it ends in the pole
    return order if rest > GROWING * order and not is_late else 0.0


def _faults(
    known, is_source, is_dip, domain, part, whose="the domain's", advice=IN_SPACE
):
    """Yield whether a fault on a part is a pole, its place, and a sentence.

    Dips at the ends of the domain do not count: there a Gaussian is zero.
    """
    random, symbols = np.random.default_rng(0), domain.coordinates
    extent, fixed = domain.upper - domain.lower, domain.fixed(part)

    def located(places):
        points = domain.lower + extent * places
        for column, value in fixed:
            points[..., column] = value
        return points

    def function(expression):
        program = Program([expression], symbols)

        def values(places):
            points = located(places)
            (exact,) = run_at(program, symbols, points)
            inside = np.asarray(domain.contains(part, points - domain.centre))
            return np.where(inside, np.nan_to_num(exact, **LIMITS), -HUGE)

        return values

    def box(centre, half):
        low, high = np.maximum(centre - half, 0), np.minimum(centre + half, 1)
        return low + (high - low) * random.random((BOX_POINTS, len(centre)))

    everywhere = quasi_random(SEARCH_POINTS, len(extent))
    is_inside = domain.contains(part, located(everywhere) - domain.centre)
    if np.mean(is_inside) < RESOLVED / SAMPLE_POINTS:  # a curved face
        return
    size = function(sp.log(sp.Abs(known, evaluate=False), evaluate=False))
    rest, beside = size(everywhere), _beside_ends(known, domain, function, everywhere)
    terms = *sp.Add.make_args(known), *known.atoms(*_STEEP), known
    for term in dict.fromkeys(t for t in terms if t.free_symbols):
        logarithm = size if term.is_Add else function(_logarithm(term))
        heights = logarithm(beside)
        highest = heights >= heights.max() - 1
        if np.mean(highest[: len(rest)]) >= RESOLVED / SAMPLE_POINTS:
            continue
        centre, middle = beside[heights.argmax()], beside[highest].mean(axis=0)
        if logarithm(middle[None])[0] >= heights.max():  # of a plateau
            centre = middle
        for level in range(1, HALVINGS):
            candidates = np.vstack([centre, box(centre, 0.5**level)])
            centre = candidates[logarithm(candidates).argmax()]
        pairs = zip(symbols, located(centre[None].round(9))[0], strict=True)
        at = ", ".join(f"{s} = {v:.4g}" for s, v in pairs if s in term.free_symbols)
        order = min(_growth(values, box, centre) for values in (size, logarithm))
        if LEAST_POLE < order < LARGEST_POLE and not (is_source or term.is_Add):
            factor = sp.fraction(term)[1]
            factor = factor if factor.free_symbols else 1 / term
            fault = (
                f"a coefficient is unbounded at {at}, as 1/({factor}) is, so that a "
                f"few points dominate the loss. Multiply the equation by {factor}."
            )
            yield True, at, fault
        half = size(centre[None])[0] - np.log(2)
        is_met = np.mean(rest > half) >= 1 / SAMPLE_POINTS
        # The integral of a source in space over a pole of such an order is unbounded.
        is_integral = is_source and advice == IN_SPACE
        most = len(term.free_symbols) if is_integral else LARGEST_POLE
        if BOUNDED < order < most or is_met:
            continue
        # Find the largest box of which the peak fills a part.
        level, filled = 0, is_met
        while level < HALVINGS and filled < FILLED:
            level += 1
            filled = np.mean(size(box(centre, 0.5**level)) > half)
        width = 2 * 0.5**level * max(filled, FILLED)
        is_at_end = (abs(centre - 0.5) > 0.5 - width).any()
        if is_dip and (is_at_end or width > 1 / SAMPLE_POINTS):
            continue
        # Logarithms of the integrals of the peak and of the whole function.
        peak = half + np.log(width)
        common = np.sort(rest)[: -len(rest) // SAMPLE_POINTS]  # no luck of one point
        others = np.logaddexp.reduce(common) - np.log(len(rest))
        if peak > np.logaddexp(peak, others) + np.log(SMALLEST_SHARE):
            kind = "dip" if is_dip else "peak"
            shown = str(1 / known if is_dip else known)
            shown = textwrap.shorten(shown, 100, placeholder=" …")
            fault = (
                f"{shown} has a {kind} at {at}, {width:.0e} of {whose} extent wide: "
                f"it takes at least {1 / width:.0e} points to sample it. Make the "
                f"{kind} as wide as the distance between points{advice}."
            )
            yield False, at, fault


def _beside_ends(known, domain, function, everywhere):
    """Return points, and more beside the ends of branches and at a table's points."""
    pairs, sides = everywhere[: 2 * PAIRS].reshape(2, PAIRS, -1), [everywhere[:0]]
    for one, other in (*branch_ends(known), *kinks(known)):
        end, ends = one - other, [one - other]
        if end.is_polynomial(*domain.coordinates):  # a disc's end surrounds its centre
            ends += [end.diff(symbol) for symbol in domain.coordinates]
        for end in ends:
            sides += [*bracket(function(end), pairs, HALVINGS)[1]]
    for table in known.atoms(Interpolation):
        for symbol, points in zip(table.arguments, table.table.axes, strict=True):
            if symbol in domain.coordinates:
                axis = domain.coordinates.index(symbol)
                places = np.resize(everywhere, (len(points), domain.dimension))
                extent = domain.upper[axis] - domain.lower[axis]
                places[:, axis] = (points - domain.lower[axis]) / extent
                sides.append(places)
    beside = np.concatenate(sides)
    mixed = np.random.default_rng(0).permuted(beside, axis=0)  # to windows in a plane
    return np.concatenate([everywhere, beside, mixed])
