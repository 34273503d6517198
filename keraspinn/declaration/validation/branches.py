"""Checks of Piecewise: points reach each branch, and one branch holds everywhere."""

import warnings

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from keraspinn.declaration.probe_points import (
    evaluate_at,
    probe_points,
    substitute_symbols,
)
from keraspinn.expressions import Parameter
from keraspinn.expressions.nodes import distinct_nodes

# Points at which a branch must hold. A gap that they miss fills about 0.1 % of the
# domain, and the guard in `fit` detects it.
BRANCH_POINTS = 1_000

# Functions that are constant on regions: an equation in them can hold on a volume.
_FLAT = (sp.sign, sp.Heaviside, sp.Abs, sp.Max, sp.Min, sp.Piecewise)


def check_branches(expressions, domain, blocks, where):
    """Check the branches of every Piecewise.

    Args:
        expressions: Normalized SymPy expressions.
        domain: The geometry.
        blocks: The parts of the domain where the expressions should hold.
        where: String that names them in errors.

    Raises:
        ValueError: If a branch holds only on a surface or at a point, which sampling
            never hits, and is not a limit; or if no branch holds at a point.

    Warns:
        UserWarning: If a branch holds at none of the probe points.
    """
    pieces = list(distinct_nodes(expressions, sp.Piecewise))
    if not pieces:
        return
    coordinates, points = (
        domain.coordinates,
        probe_points(domain, blocks, BRANCH_POINTS),
    )
    for piece in pieces:
        _check_measure(piece, where)
        _warn_of_unsampled_branches(piece, coordinates, points, where)
    for expression in expressions:
        gap = _find_gap(expression, coordinates, points)
        if gap is not None:
            at = dict(zip(map(str, coordinates), gap.tolist(), strict=True))
            raise ValueError(
                f"In {where}: no branch of a Piecewise holds at {at}, where the "
                "expression has no value. Give it a last branch that holds elsewhere, "
                f"such as (0, True). Received: {expression}"
            )


def _check_measure(node, where):
    """Raise `ValueError` for a branch on a surface or at a point."""
    for k, (value, condition) in enumerate(node.args):
        others = [v for v, _ in (*node.args[:k], *node.args[k + 1 :])]
        remaining = [sp.Not(c) for _, c in node.args[:k] if isinstance(c, sp.Ne)]
        surface = _surface(sp.And(condition, *remaining))
        if surface is None or _is_limit(value, others, surface):
            continue
        raise ValueError(
            f"In {where}: a branch of a Piecewise holds where {surface.lhs} = "
            f"{surface.rhs} only, which no collocation point hits. For a point source "
            "write a narrow Gaussian; for a value on a face, a Condition with its "
            f"`on=`; otherwise leave the branch out. Received: {node}"
        )


def _warn_of_unsampled_branches(node, coordinates, points, where):
    """Warn of a branch in the coordinates that holds at none of the points."""
    conditions = [condition for _, condition in node.args]
    known = set(coordinates)
    if not all(
        c.free_symbols <= known and not c.has(AppliedUndef, sp.Derivative, sp.Eq, sp.Ne)
        for c in conditions
    ):
        return
    numbered = sp.Piecewise(*((k, c) for k, c in enumerate(conditions)))
    (numbers,) = evaluate_at([numbered], coordinates, points)
    sampled = set(numbers.tolist())
    for k, condition in enumerate(conditions):
        if k not in sampled and condition != sp.true:
            warnings.warn(
                f"In {where}: the branch of a Piecewise where {condition} holds at none"
                f" of {len(points)} points, so training hardly samples it. For a point "
                "source write a Gaussian at least as wide as the distance between "
                f"points, or leave the branch out. Received: {node}",
                stacklevel=2,
            )


def _surface(condition):
    """Return an equation that a condition implies, or `None`."""
    if isinstance(condition, sp.Eq):
        return None if condition.has(*_FLAT) else condition
    if not isinstance(condition, (sp.And, sp.Or)):
        return None
    surfaces = [_surface(argument) for argument in condition.args]
    implied = [surface for surface in surfaces if surface is not None]
    needed = 1 if isinstance(condition, sp.And) else len(surfaces)
    return implied[0] if len(implied) >= needed else None


def _is_limit(value, others, surface):
    """Return whether another branch is singular there, or has the same value."""
    on_surface = {surface.lhs: surface.rhs}
    for other in others:
        limit = other.xreplace(on_surface)
        is_singular = limit.has(sp.nan, sp.zoo, sp.oo, -sp.oo)
        if is_singular or limit == value.xreplace(on_surface):
            return True
    return False


def _find_gap(expression, coordinates, points):
    """Find a point where no branch holds for random fields, or return `None`."""
    initial = {p: sp.Float(p.initial) for p in expression.atoms(Parameter)}
    gaps, names = substitute_symbols(_without_values(expression.xreplace(initial)))
    if not gaps.has(sp.Piecewise):
        return None
    random, shape = np.random.default_rng(0), (len(points), len(names))
    fields = random.standard_normal(shape) * 10.0 ** random.uniform(-3, 3, shape)
    states = np.hstack([points, fields])
    symbols = *coordinates, *names.values()
    (values,) = evaluate_at([gaps], symbols, states)
    rows = np.flatnonzero(np.isnan(values))
    return points[rows[0]] if len(rows) else None


def _without_values(node):
    """Return an expression with the same branches, all of the value zero."""
    if isinstance(node, (sp.Derivative, AppliedUndef)):
        return sp.S.Zero
    if isinstance(node, sp.Piecewise):
        branches = [(_without_values(value), where) for value, where in node.args]
        if node.args[-1].cond == sp.true and not any(value for value, _ in branches):
            return sp.S.Zero
        # SymPy would simplify the conditions, which takes seconds for about twenty.
        return sp.Piecewise(*branches, evaluate=False)
    return sp.Add(*map(_without_values, node.args)) if node.args else sp.S.Zero
