"""The branches of a Piecewise: each must be met, and one at every point."""

import warnings

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from keraspinn.declaration.probe_points import sampled, values_at, with_symbols
from keraspinn.expressions import Parameter
from keraspinn.expressions.nodes import distinct_nodes

POINTS = 1_000
"""Points at which some branch must hold. What they miss is a tenth of a percent of a
domain, and the guard of `fit` finds it."""

# Functions that take one value on a whole region, so that an equation of theirs holds
# on more than a surface.
_FLAT = (sp.sign, sp.Heaviside, sp.Abs, sp.Max, sp.Min, sp.Piecewise)


def check_branches(expressions, domain, blocks, where):
    """Checks the branches of every Piecewise.

    Args:
        expressions: Normalized SymPy expressions.
        domain: The geometry.
        blocks: The parts of the domain where the expressions should hold.
        where: String that names them in errors.

    Raises:
        ValueError: If a branch holds on a surface or at a point only, where it is
            never met and is not needed either, or if no branch holds at a point.

    Warns:
        UserWarning: If a branch holds at none of the points.
    """
    pieces = list(distinct_nodes(expressions, sp.Piecewise))
    if not pieces:
        return
    coordinates, points = domain.coordinates, sampled(domain, blocks, POINTS)
    for piece in pieces:
        _check_sizes(piece, where)
        _warn_of_branches_not_met(piece, coordinates, points, where)
    for expression in expressions:
        hole = _find_hole(expression, coordinates, points)
        if hole is not None:
            at = dict(zip(map(str, coordinates), hole.tolist(), strict=True))
            raise ValueError(
                f"In {where}: no branch of a Piecewise holds at {at}, where the "
                "expression has no value. Give it a last branch that holds elsewhere, "
                f"such as (0, True). Received: {expression}"
            )


def _check_sizes(node, where):
    for place, (value, condition) in enumerate(node.args):
        others = [v for v, _ in (*node.args[:place], *node.args[place + 1 :])]
        left = [sp.Not(c) for _, c in node.args[:place] if isinstance(c, sp.Ne)]
        surface = _surface(sp.And(condition, *left))
        if surface is None or _is_needed(value, others, surface):
            continue
        raise ValueError(
            f"In {where}: a branch of a Piecewise holds where {surface.lhs} = "
            f"{surface.rhs} only, which no point that is drawn ever meets. For a source"
            " at a point write a narrow Gaussian; for a value on a face, a Condition "
            f"with its `on=`; else leave the branch out. Received: {node}"
        )


def _warn_of_branches_not_met(node, coordinates, points, where):
    """Warns of a branch by the coordinates that is chosen at none of the points."""
    conditions = [condition for _, condition in node.args]
    known = set(coordinates)
    if not all(
        c.free_symbols <= known and not c.has(AppliedUndef, sp.Derivative, sp.Eq, sp.Ne)
        for c in conditions
    ):
        return
    places = sp.Piecewise(*((place, c) for place, c in enumerate(conditions)))
    (chosen,) = values_at([places], coordinates, points)
    met = set(chosen.tolist())
    for place, condition in enumerate(conditions):
        if place not in met and condition != sp.true:
            warnings.warn(
                f"In {where}: the branch of a Piecewise where {condition} holds at none"
                f" of {len(points)} points; training hardly meets it, or never. For a "
                "source at a point write a Gaussian as wide as points are dense, or "
                f"leave the branch out. Received: {node}",
                stacklevel=2,
            )


def _surface(condition):
    """An equation without which a condition does not hold, or `None`."""
    if isinstance(condition, sp.Eq):
        return None if condition.has(*_FLAT) else condition
    if not isinstance(condition, (sp.And, sp.Or)):
        return None
    surfaces = [_surface(argument) for argument in condition.args]
    found = [surface for surface in surfaces if surface is not None]
    enough = found if isinstance(condition, sp.And) else len(found) == len(surfaces)
    return found[0] if enough else None


def _is_needed(value, others, surface):
    """Whether another branch has no value there, as sin(x)/x at zero, or the same."""
    there = {surface.lhs: surface.rhs}
    for other in others:
        limit = other.xreplace(there)
        if limit.has(sp.nan, sp.zoo, sp.oo, -sp.oo) or limit == value.xreplace(there):
            return True
    return False


def _find_hole(expression, coordinates, points):
    """A point where no branch holds, whatever the fields are, or `None`."""
    initial = {p: sp.Float(p.initial) for p in expression.atoms(Parameter)}
    holes, names = with_symbols(_without_values(expression.xreplace(initial)))
    if not holes.has(sp.Piecewise):
        return None
    random, shape = np.random.default_rng(0), (len(points), len(names))
    others = random.standard_normal(shape) * 10.0 ** random.uniform(-3, 3, shape)
    states = np.hstack([points, others])
    symbols = *coordinates, *names.values()
    (values,) = values_at([holes], symbols, states)
    rows = np.flatnonzero(np.isnan(values))
    return points[rows[0]] if len(rows) else None


def _without_values(node):
    """An expression with the branches of this one, all of the value zero."""
    if isinstance(node, (sp.Derivative, AppliedUndef)):
        return sp.S.Zero
    if isinstance(node, sp.Piecewise):
        branches = [(_without_values(value), where) for value, where in node.args]
        if node.args[-1].cond == sp.true and not any(value for value, _ in branches):
            return sp.S.Zero
        # SymPy would simplify the conditions, which takes seconds for some twenty.
        return sp.Piecewise(*branches, evaluate=False)
    return sp.Add(*map(_without_values, node.args)) if node.args else sp.S.Zero
