"""Jumps and kinks that differentiation drops.

SymPy's derivative of a Piecewise has no term where it jumps: (k u')' becomes k u'' + k'
u', which leaves the flux k u' free to jump. A hard value with a kink has a second
derivative that no collocation point meets: u_t = u_xx from |x| is solved by |x| for all
time. A network that learns a soft condition rounds the kink instead.
"""

import contextlib
import functools

import numpy as np
import sympy as sp

from keraspinn.declaration.probe_points import probe_points, run_at, with_symbols
from keraspinn.declaration.regional import Equation
from keraspinn.declaration.validation.branch_ends import bracket, branch_ends
from keraspinn.declaration.validation.periodicity import differs_at_ends
from keraspinn.expressions import Interpolation, Program, distinct_nodes, normalize
from keraspinn.expressions.field import Field
from keraspinn.expressions.line_integral import without_line_integrals
from keraspinn.geometry import in_coordinates_of, relation

# Functions with a kink or jump, whose SymPy derivatives hold a DiracDelta or less.
KINKED = (sp.Abs, sp.Max, sp.Min, sp.sign, sp.Heaviside)

# Operations of an expression up to which its products are multiplied out.
MOST_OPERATIONS = 1_000
# Pairs of random states between which the end of a branch is bracketed.
PAIRS = 512
# Halvings of the interval between two states. Nearer, round-off would hide the jump of
# (x - 1) / sqrt(x² - 2x + 1).
HALVINGS = 24
# Smallest jump, relative to the coefficient: tabulated fits have smaller ones.
SMALLEST_JUMP = 1e-3
# Ratio of a jump to that at `WIDER` times the distance, above which it is a pole.
LARGEST_RATIO = 2.0
# Width of a table's cell relative to its extent, below which no point may meet it.
NARROW = 5e-3
# Rise of a table in such a cell, relative to its range, from which on it is a jump.
SMALLEST_RISE = 0.25
# Round-off of an equation's value, relative to it.
ROUND_OFF = 1e-9
# Ratio of two distances from an end, between which a kink changes more than across it.
WIDER = 16
# Largest jump of a hard value, or of its gradient, across the ends of a period, by the
# largest inside. With a Gaussian whose slope jumps by 4e-3, reaction and diffusion are
# 1.1e-3 off at an estimate of 3e-5. With 6.2832 for 2π a sine jumps by 1e-5.
LARGEST_ACROSS = 1e-4


def find_discontinuity(domain, value):
    """Find where a value of the coordinates, or its gradient, jumps.

    Args:
        domain: The geometry.
        value: An expression in its coordinates.

    Returns:
        A place such as x = 1/2, as text, or `None`.
    """
    space = domain.coordinates
    values = value, *(value.diff(symbol) for symbol in space)
    for symbol in domain.periodic:
        how = domain, symbol, probe_points(domain, [(domain.interior,)]), LARGEST_ACROSS
        if any(differs_at_ends(value, *how) for value in values):
            return f"the two ends of {symbol}, which is periodic"
    jumps = (_find_jump_of(v, space, domain, domain.interior) for v in values)
    return next(filter(None, jumps), None)


def join_by_part(equations, domain):
    """Yield equations of the same derivatives on several parts, as one on all of them.

    Args:
        equations: Dict from names to `Equation`s.
        domain: The geometry.

    Returns:
        Iterator of pairs: the names, and a `Piecewise`.
    """
    groups = {}
    for name, equation in equations.items():
        derivatives = equation.expression.atoms(sp.Derivative)
        second = frozenset(d for d in derivatives if d.derivative_count > 1)
        if second and not equation.is_everywhere:
            groups.setdefault(second, []).append(name)
    for second, names in groups.items():
        with contextlib.suppress(ValueError):  # no formula for a part
            parts = [_part_of(equations[name], domain) for name in names]
            if len(set(parts)) == len(parts):  # no system of equations
                signed = (_with_positive(second, equations[name]) for name in names)
                yield names, sp.Piecewise(*zip(signed, parts, strict=True))


def _with_positive(derivatives, equation):
    """Return an equation's expression, of which a derivative has no minus sign."""
    factor = equation.expression.expand().coeff(min(derivatives, key=str))
    return equation.expression * (-1 if factor.could_extract_minus_sign() else 1)


def _part_of(equation, domain):
    """Return the relation that holds where an equation does."""
    parts = [p for p in (equation.on, equation.where) if p not in ("interior", None)]
    located = functools.partial(in_coordinates_of, domain)
    relations = (p if isinstance(p, sp.Basic) else relation(located(p)) for p in parts)
    return sp.And(*relations)


def describe_lost_jump(condition, expressions, domain, blocks):
    """Describe a jump that differentiation has dropped from a condition or equation.

    A coefficient of a derivative that jumps along the derivative's coordinate may come
    from such a product. It does not where

    - the jump is at a value of a field w in c(w) w_x, the derivative of a kink;
    - k has a kink in k u_xx + k' u_x;
    - it is a condition of a flux.

    The law q = k u_x of a field q reads like (A u)_x = q, and is told u_x = q / k.

    Args:
        condition: The `Condition` or `Equation`.
        expressions: Its normalized expressions.
        domain: The geometry.
        blocks: The parts of the domain where it holds.

    Returns:
        List of one sentence, empty if there is no such jump.
    """
    is_equation = isinstance(condition, Equation)
    may_be_lost = _may_be_lost if is_equation else lambda d, *_: d.derivative_count > 1
    outer = [d for e in condition.as_declared for d in e.atoms(sp.Derivative)]
    inner = [
        (normalize(d.expr), d.variables)
        for d in outer
        if not isinstance(d.expr, (Field, sp.sign))  # as SymPy derives |u'|
    ]
    parts = dict.fromkeys(part for block in blocks for part in block)
    jumps = [*map(_find_steep_cell, expressions)]
    for part in parts:
        jumps += [_find_jump(e, domain, part, may_be_lost) for e in expressions]
        jumps += [_find_jump_of(*pair, domain, part) for pair in inner]
    jump = next(filter(None, jumps), None)
    sentence = (
        f"A coefficient of a derivative, or a differentiated term, jumps at {jump}. "
        "SymPy drops the jump from (k u')', from (A u)' and from an enthalpy's "
        "derivative, so that no term makes the flux k u' continuous. Make the flux a "
        "field, u' = q / k and q' = f (not q = k u', which reads like (A u)' = q), "
        "declare a field for each material, or minimise the energy, keraspinn.Problem("
        "domain, energy=...). If the coefficient stands before the derivative, divide "
        "the equation by it, or make the derivative a field."
    )
    return [sentence] if jump else []


def _find_steep_cell(expression):
    """Find where a differentiated table jumps between two neighbouring points."""
    for node in distinct_nodes([expression], Interpolation):
        table = node.table
        for axis, points in enumerate(table.axes):
            rises = np.moveaxis(np.abs(np.diff(table.values, axis=axis)), axis, 0)
            rises = rises.reshape(len(points) - 1, -1).max(axis=1)
            is_steep = rises > SMALLEST_RISE * np.ptp(table.values)
            is_steep &= np.diff(points) < NARROW * np.ptp(points)
            if table.orders[axis] and is_steep.any():
                return f"{node.arguments[axis]} = {points[is_steep.argmax()]:.4g}"
    return None


def _find_jump_of(value, variables, domain, part):
    """Find where a value jumps along one of some coordinates."""
    rate = sp.Function("rate")(*domain.coordinates).diff(*variables)
    return _find_jump(value * rate, domain, part, lambda d, *_: d == rate)


def _find_jump(expression, domain, part, may_be_lost):
    """Find where the coefficient of a derivative jumps along its coordinates."""
    expression = without_line_integrals(expression)
    space, (known, names) = {*domain.coordinates}, with_symbols(expression)
    for sides in branch_ends(known):
        end = sides[0] - sides[1]
        within = [atom for atom, name in names.items() if name in end.free_symbols]
        explicit = end.free_symbols & space
        varying = explicit.union(*(a.free_symbols for a in within)) & space
        suspects = [
            name
            for atom, name in names.items()
            if isinstance(atom, sp.Derivative)
            and varying & {*atom.variables}
            and may_be_lost(atom, expression, within, explicit)
        ]
        if suspects and _jumps(known, suspects, end, names.values(), domain, part):
            original = {name: atom for atom, name in names.items()}
            sides = [sp.sympify(side).xreplace(original) for side in sides]
            return " = ".join(sp.sstr(side, full_prec=False) for side in sides)
    return None


def _may_be_lost(derivative, expression, within, explicit):
    """Return whether a jump may be that of a product that was differentiated."""
    order = derivative.derivative_count
    if not explicit:
        return order > 1 + min(getattr(w, "derivative_count", 0) for w in within)
    if order > 1:
        return True
    return not any(b.free_symbols >= explicit for b in _bends(expression))


@functools.lru_cache(maxsize=64)
def _bends(expression):
    """Return branches beside second derivatives, a set.

    Closed forms of thousands of operations are not multiplied out.
    """
    is_short = sp.count_ops(expression) <= MOST_OPERATIONS
    terms = sp.Add.make_args(sp.expand_mul(expression) if is_short else expression)
    second = [
        term
        for term in terms
        if any(d.derivative_count > 1 for d in term.atoms(sp.Derivative))
    ]
    bends = {b for term in second for b in term.atoms(sp.Piecewise, sp.Pow, *KINKED)}
    return {b for b in bends if not (b.is_Pow and b.exp.is_integer)}


@np.errstate(invalid="ignore")  # infinities at poles
def _jumps(expression, suspects, end, names, domain, part):
    """Return whether a difference quotient jumps where `end` is zero."""
    symbols, random = (*domain.coordinates, *names), np.random.default_rng(0)
    numbers = [1.0, *(abs(float(n)) for n in end.atoms(sp.Number) if n)]
    shape = 2, PAIRS, len(symbols) - domain.dimension
    sizes = 10 ** random.uniform(-3, 3, shape) * random.choice(numbers, shape)
    sizes[:, ::2] *= random.choice([-1, 1], sizes[:, ::2].shape)
    points = probe_points(domain, ((part,),), 2 * PAIRS)
    sides = np.concatenate([points.reshape(2, PAIRS, -1), sizes], axis=2)
    end, whole = Program([end], symbols), Program([expression], symbols)

    def changes(sides):
        (before,) = run_at(whole, symbols, sides)
        for symbol in suspects:
            moved = sides.copy()
            moved[..., symbols.index(symbol)] *= 2
            (after,) = run_at(whole, symbols, moved)
            yield after - before, ROUND_OFF * abs(before)

    apart, sides = bracket(lambda p: run_at(end, symbols, p)[0], sides, HALVINGS)
    typical = [abs(change).max(axis=0) for change, _ in changes(apart)]
    middle = sides.mean(axis=0)
    wider = changes(middle + WIDER * (sides - middle))
    compared = zip(changes(sides), wider, typical, strict=True)
    for (change, least), (wide, _), size in compared:
        least = (least + SMALLEST_JUMP * abs(change)).max(axis=0) + ROUND_OFF * size
        jump, aside = abs(change[1] - change[0]), abs(wide - change).max(axis=0)
        far = LARGEST_RATIO * abs(wide[1] - wide[0])
        if ((jump > least) & (jump > aside) & (jump < far)).any():
            return True
    return False
