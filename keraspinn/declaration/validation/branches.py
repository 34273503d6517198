"""The branches of a Piecewise: each must be met, and one at every point."""

import warnings

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from keraspinn import backend
from keraspinn.declaration.probe_points import columns, values_at
from keraspinn.expressions import Program
from keraspinn.expressions.nodes import distinct_nodes

POINTS = 1_000
"""Points at which some branch must hold. What they miss is a tenth of a percent of a
domain, and the guard of `fit` finds it."""

# Functions that take one value on a whole region, so that an equation of theirs holds
# on more than a surface.
_FLAT = (sp.sign, sp.Heaviside, sp.Abs, sp.Max, sp.Min, sp.Piecewise)


def has_branches(expressions):
    """Whether an expression holds a `sympy.Piecewise`."""
    return any(isinstance(n, sp.Piecewise) for n in distinct_nodes(expressions))


def check_branches(expressions, coordinates, points, where):
    """Checks the branches of every Piecewise.

    Args:
        expressions: Normalized SymPy expressions.
        coordinates: The domain's symbols.
        points: Array `(n, d)` of points where the expressions should hold.
        where: String that names them in errors.

    Raises:
        ValueError: If a branch holds on a surface or at a point only, where it is
            never met and is not needed either, or if no branch holds at a point.

    Warns:
        UserWarning: If a branch holds at none of the points, or the coefficient of a
            second derivative jumps.
    """
    for node in distinct_nodes(expressions):
        if isinstance(node, sp.Piecewise):
            _check_sizes(node, where)
            _warn_of_branches_not_met(node, coordinates, points, where)
    for expression in expressions:
        _warn_of_jumps(expression, where)
        hole = _find_hole(expression, coordinates, points)
        if hole is not None:
            at = dict(zip(map(str, coordinates), hole.tolist(), strict=True))
            raise ValueError(
                f"In {where}: no branch of a Piecewise holds at {at}, where the "
                "expression has no value. Give it a last branch that holds elsewhere, "
                f"such as (0, True). Received: {expression}"
            )


def _warn_of_jumps(expression, where):
    """Warns of a second derivative whose coefficient jumps from number to number.

    SymPy's derivative of such a Piecewise is zero, so that (k u')' has become k u'',
    and nothing is left that holds the flux k u' together where k jumps.
    """
    for node in distinct_nodes([expression]):
        if not isinstance(node, sp.Mul):
            continue
        orders = [d.derivative_count for d in node.args if isinstance(d, sp.Derivative)]
        for factor in node.args:
            if not isinstance(factor, sp.Piecewise) or max(orders, default=0) < 2:
                continue
            values = {value for value, _ in factor.args}
            if len(values) > 1 and all(value.is_number for value in values):
                warnings.warn(
                    f"In {where}: the coefficient {factor} of a second derivative "
                    "jumps. If it stood within a derivative, as in (k u')', SymPy has "
                    "left the jump out, and no term says what the flux does there. Make"
                    " the flux a field, u' = q / k and q' = f, or k smooth. Not as q ="
                    " k u', where a small k counts for little beside a large one.",
                    stacklevel=5,
                )
                return


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
    holes = _without_values(expression)
    if not holes.has(sp.Piecewise):
        return None
    program = Program([holes], coordinates)
    generator = np.random.default_rng(0)

    def some():
        sizes = 10.0 ** generator.uniform(-3, 3, len(points))
        return generator.standard_normal(len(points)) * sizes

    derivatives = {
        (f, i): some() for f, own in program.derivatives.items() for i in own
    }
    # What is no Parameter is a component of a normal.
    parameters = {
        symbol.name: getattr(symbol, "initial", 0.5)
        for symbol in holes.free_symbols - set(coordinates)
        if symbol.name in program.parameters
    }
    given = columns(coordinates, points), derivatives, parameters
    with backend.double_precision():
        (values,) = program.on_host(*given)
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
