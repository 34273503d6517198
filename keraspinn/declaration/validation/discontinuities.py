"""Jumps and kinks that differentiation drops.

SymPy's derivative of a Piecewise has no term where it jumps: (k u')' becomes k u'' + k'
u', which leaves the flux k u' free to jump. A hard value with a kink has a second
derivative that no collocation point meets: u_t = u_xx from |x| is solved by |x| for all
time. A network that learns a soft condition rounds the kink instead.
"""

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.core.relational import Relational

from keraspinn.declaration.probe_points import columns, sampled, with_symbols
from keraspinn.expressions import Program, normalize
from keraspinn.expressions.image import At
from keraspinn.expressions.nodes import distinct_nodes

KINKED = (sp.Abs, sp.Max, sp.Min, sp.sign, sp.Heaviside)
"""Functions of which SymPy's derivatives hold such sources, or nothing usable."""

# Pairs of random states between which the end of a branch is looked for.
PAIRS = 512
# Parts that the interval between a pair is divided into again and again.
PARTS = 16
# Divisions after which both sides are compared: a continuous change shrinks between.
COARSE, FINE = 3, 8
# Share of the first difference that a jump leaves at the second.
LEFT = 0.3
# Smallest jump, relative to the coefficient: tabulated fits join less exactly.
SMALLEST = 1e-3
# Rounding of an equation's value, relative to it.
ROUNDING = 1e-9


def kink(domain, value):
    """Find where a value of the coordinates, or its gradient, jumps.

    Args:
        domain: The geometry.
        value: An expression in its coordinates.

    Returns:
        A relation such as x = 1/2, as text, or `None`.
    """
    space = domain.coordinates
    values = value, *(value.diff(symbol) for symbol in space)
    places = (_place_of_jump(own, space, domain) for own in values)
    return next(filter(None, places), None)


def lost_jump(declared, expression, domain):
    """Describe a jump that differentiation has dropped from an equation.

    A coefficient that jumps along a coordinate that its derivative is by may come from
    such a product. It does not where

    - the jump is at a value of a field w in c(w) w_x, the derivative of a kink;
    - k has a kink in k u_xx + k' u_x;
    - q = k u_x is a law for a field q.

    Args:
        declared: The equation as declared; derivatives in it may be unevaluated.
        expression: The same, normalized.
        domain: The geometry.

    Returns:
        A list of one sentence, or of none.
    """
    place = _jump(expression, domain, _may_be_lost)
    for outer in declared.atoms(sp.Derivative):
        if not isinstance(outer.expr, (AppliedUndef, At)):
            inner = normalize(outer.expr)
            place = place or _place_of_jump(inner, outer.variables, domain)
    if not place:
        return []
    return [
        f"A coefficient of a derivative, or what is differentiated, jumps at {place}. "
        "SymPy drops the jump from (k u')', from (A u)' and from an enthalpy's "
        "derivative, and no term holds the flux k u' together. Make the flux a field, "
        "u' = q / k and q' = f (not q = k u', where a small k counts for little), or "
        "declare a field for each material. If the coefficient stands before the "
        "derivative, divide the equation by it, or make the derivative a field."
    ]


def _place_of_jump(value, variables, domain):
    """Find where a value jumps along one of some coordinates."""
    rate = sp.Function("rate")(*domain.coordinates).diff(*variables)
    return _jump(value * rate, domain, lambda derivative, *_: derivative == rate)


def _jump(expression, domain, may_be_lost):
    """Find where the coefficient of a derivative jumps along its coordinates."""
    space, (known, names) = {*domain.coordinates}, with_symbols(expression)
    for switch in distinct_nodes([known], (Relational, sp.Heaviside, sp.sign)):
        sides = switch.args if isinstance(switch, Relational) else (*switch.args[:1], 0)
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
        if suspects and _jumps(known, suspects, end, names.values(), domain):
            original = {name: atom for atom, name in names.items()}
            return " = ".join(
                sp.sstr(sp.sympify(s).xreplace(original), full_prec=False)
                for s in sides
            )
    return None


def _may_be_lost(derivative, expression, within, explicit):
    """Return whether a jump may be that of a product that was differentiated."""
    order = derivative.derivative_count
    if not explicit:
        return order > 1 + min(getattr(w, "derivative_count", 0) for w in within)
    terms = sp.Add.make_args(sp.expand_mul(expression))
    plain = {
        f for t in terms if not t.has(sp.Derivative) for f in t.atoms(AppliedUndef)
    }
    is_law = plain and not plain & {d.expr for d in expression.atoms(sp.Derivative)}
    second = [
        term
        for term in terms
        if any(d.derivative_count > 1 for d in term.atoms(sp.Derivative))
    ]
    bends = set().union(*(term.atoms(sp.Piecewise, *KINKED) for term in second))
    return order > 1 or not (is_law or any(b.free_symbols >= explicit for b in bends))


def _jumps(expression, suspects, end, names, domain):
    """Return whether a difference quotient jumps where `end` is zero."""
    symbols, random = (*domain.coordinates, *names), np.random.default_rng(0)
    numbers = [1.0, *(abs(float(n)) for n in end.atoms(sp.Number) if n)]
    shape = 2, PAIRS, len(symbols) - domain.dimension
    sizes = 10 ** random.uniform(-3, 3, shape) * random.choice(numbers, shape)
    sizes[:, ::2] *= random.choice([-1, 1], sizes[:, ::2].shape)
    points = sampled(domain, domain.blocks("interior"), 2 * PAIRS)
    sides = np.concatenate([points.reshape(2, PAIRS, -1), sizes], axis=2)
    end, whole = Program([end], symbols), Program([expression], symbols)

    def value(program, states):
        inputs = columns(symbols, states.reshape(-1, len(symbols)))
        return program.on_host(inputs, {})[0].reshape(states.shape[:-1])

    def differences():
        before = value(whole, sides)
        for symbol in suspects:
            moved = sides.copy()
            moved[..., symbols.index(symbol)] *= 2
            change = value(whole, moved) - before
            least = ROUNDING * abs(before) + SMALLEST * abs(change)
            yield abs(change[1] - change[0]), least.max(axis=0)

    is_beyond = value(end, sides) > 0
    sides = sides[:, is_beyond[0] != is_beyond[1]]
    parts, rows = np.linspace(0, 1, PARTS + 1)[:, None, None], np.arange(sides.shape[1])
    for level in range(FINE):
        if level == COARSE:
            coarse = [jump for jump, _ in differences()]
        path = sides[0] + (sides[1] - sides[0]) * parts
        is_beyond = value(end, path) > 0
        first = (is_beyond[1:] != is_beyond[:-1]).argmax(axis=0)
        sides = path[[first, first + 1], rows]
    return any(
        (jump > np.maximum(least, LEFT * before)).any()
        for (jump, least), before in zip(differences(), coarse, strict=True)
    )
