"""Checks that expressions have values: of Piecewise branches, logarithms and roots."""

import warnings

import numpy as np
import sympy as sp

from keraspinn.declaration.probe_points import evaluate_at, probe_points, with_symbols
from keraspinn.expressions import Field, Parameter, distinct_nodes

# Points at which a branch must hold. A gap that they miss fills about 0.1 % of the
# domain, and the guard in `fit` detects it.
BRANCH_POINTS = 1_000
# Share of the points at which a function may be undefined, as x log(x) is at 0.
UNDEFINED = 0.01
# Functions that are undefined for some arguments, beside powers.
_PARTIAL = sp.log, sp.asin, sp.acos, sp.acosh, sp.atanh


def check_branches(expressions, domain, blocks, where):
    """Check the branches of every Piecewise, and factors of the coordinates.

    Args:
        expressions: Normalized SymPy expressions.
        domain: The geometry.
        blocks: The parts of the domain where the expressions should hold.
        where: String that names them in errors.

    Raises:
        ValueError: If no branch holds at a point, or one holds only on a surface and is
            no limit there; or if a factor of the coordinates alone, such as sqrt(x), is
            undefined at more than 1 % of the points.

    Warns:
        UserWarning: If a branch holds at none of the probe points, nor elsewhere in the
            domain, as one of a coefficient of two layers does on a face of the other.
    """
    _check_known_values(expressions, domain, blocks, where)
    pieces = list(distinct_nodes(expressions, sp.Piecewise))
    inside = domain.blocks("interior")
    parts = [probe_points(domain, b, BRANCH_POINTS) for b in (blocks, inside) if pieces]
    for piece in pieces:
        here, within = (_branch_numbers(piece, domain.coordinates, p) for p in parts)
        points, numbers = parts[0], np.concatenate([here, within])
        if len(gaps := points[np.isnan(here)]):
            at = dict(zip(map(str, domain.coordinates), gaps[0].tolist(), strict=True))
            raise ValueError(
                f"In {where}: no branch of a Piecewise holds at {at}, where the "
                "expression has no value. Give it a last branch that holds elsewhere, "
                f"such as (0, True). Received: {piece}"
            )
        for k, (_, condition) in enumerate(piece.args):
            others = (c for _, c in piece.args[:k] if isinstance(c, sp.Ne))
            condition = sp.And(condition, *map(sp.Not, others))
            if k not in numbers and _should_hold(k, condition, piece):
                text = (
                    f"In {where}: the branch of a Piecewise where {condition} holds at "
                    f"none of {len(points)} points, so training hardly samples it. For "
                    "a point source write a Gaussian at least as wide as the distance "
                    "between points; for a value on a face, a Condition with its "
                    f"`on=`; otherwise leave the branch out. Received: {piece}"
                )
                if condition.has(sp.Eq, sp.Ne):
                    raise ValueError(text)
                warnings.warn(text, stacklevel=4)


def _check_known_values(expressions, domain, blocks, where):
    """Raise `ValueError` for a factor of the coordinates that is not real."""
    terms = (term for e in expressions for term in sp.Add.make_args(e))
    for known, names in map(with_symbols, terms):
        known, _ = known.as_independent(*names.values(), as_Add=False)
        has_roots = any(not p.exp.is_integer for p in known.atoms(sp.Pow))
        is_known = known.free_symbols <= {*domain.coordinates}
        if not (is_known and (has_roots or known.has(*_PARTIAL))):
            continue
        points = probe_points(domain, blocks, BRANCH_POINTS)
        missing = np.isnan(evaluate_at([known], domain.coordinates, points)[0])
        if missing.mean() > UNDEFINED:
            at = points[missing.argmax()].tolist()
            at = dict(zip(map(str, domain.coordinates), at, strict=True))
            raise ValueError(
                f"In {where}: {known} has no real value at {at}. Take another domain, "
                "or limit its argument, as in sqrt(Max(a, 0)) or by a Piecewise."
            )


def _branch_numbers(piece, coordinates, points):
    """Return numbers of the branches at points, for random fields; NaN for none."""
    pairs = ((k, condition) for k, (_, condition) in enumerate(piece.args))
    # SymPy would simplify the conditions, which takes seconds for about twenty.
    numbered = sp.Piecewise(*pairs, evaluate=False)
    initial = {p: sp.Float(p.initial) for p in numbered.atoms(Parameter)}
    known, names = with_symbols(numbered.xreplace(initial))
    random, shape = np.random.default_rng(0), (len(points), len(names))
    fields = random.standard_normal(shape) * 10.0 ** random.uniform(-3, 3, shape)
    symbols, states = (*coordinates, *names.values()), np.hstack([points, fields])
    return evaluate_at([known], symbols, states)[0]


def _should_hold(number, condition, piece):
    """Return whether a branch without points matters: no limit, none of fields."""
    if surface := {equal.lhs: equal.rhs for equal in condition.atoms(sp.Eq)}:
        limits = [value.xreplace(surface) for value, _ in piece.args]
        is_singular = any(limit.has(sp.nan, sp.zoo, sp.oo, -sp.oo) for limit in limits)
        return not is_singular and limits.count(limits[number]) == 1
    return condition != sp.true and not condition.has(Field, Parameter)
