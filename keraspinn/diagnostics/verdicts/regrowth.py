"""Effects of residuals that a correction does not see: of lost fields, and early ones.

A field that is lost in the residual for a time may grow again. A flux that begins at
once enters through a layer, first thinner than the distance between points. Heat that a
network loses there is missed at all times.
"""

import itertools

import numpy as np
import sympy as sp
from keras import ops

from keraspinn.declaration.probe_points import with_symbols
from keraspinn.declaration.scaling.offsets import bare_fields, evolving_fields
from keraspinn.declaration.terms import RESIDUAL, condition_terms, expressions_of
from keraspinn.diagnostics.verdicts.causes import is_initial
from keraspinn.diagnostics.verdicts.extents import rms
from keraspinn.expressions import Field, Program, field_and_index, fields_of

# Parts of the time, and halvings of the first of them.
PARTS, HALVINGS = 50, 8
# Points in each part, and in each half of the first: the layer is thin there.
POINTS, EARLY_POINTS = 160, 4_000
# Points that are evaluated at a time.
LARGEST = 4_000
# Residual relative to an equation's largest term, from which on a field is lost.
LOST = 0.5


def regrown(tangent, sizes, is_early_known):
    """Return the changes that these residuals may cause later, as `slacks`.

    The solution u = 0 of u_t = (t − 4) u has no residual, and a field that decays to
    almost zero before t = 4 may grow again. Where a residual outweighs its equation's
    terms, the linearised equations are integrated with it, for changes c(t) φ(x) with
    φ the field at the time when it is largest. For fields without a prescribed value at
    later times they are integrated for φ = 1, too, with all residuals of the first
    fiftieth of the time. A prescribed value would absorb them.

    Args:
        tangent: The `Tangent` of the model.
        sizes: Magnitudes that changes of the fields are relative to.
        is_early_known: Whether the first instants count, as in a trained model.

    Returns:
        Dict from names of fields to relative changes, of at most one. Empty but for
        initial value problems of first order in time that have one set of points.
    """
    fields, problem = tangent.model._fields, tangent.model.problem
    names = problem.field_names
    terms = {n: t for n, t in problem.terms.items() if t.is_equation}
    is_here = problem.domain.time_coordinate and [*terms] == [RESIDUAL]
    if not is_here or problem.measured or not is_initial(problem):
        return {}
    term = terms[RESIDUAL]
    pairs = zip(term.pointwise, problem.scales.sizes(term), strict=True)
    equations = [problem.scales.apply(*pair) for pair in pairs]
    free = _without_later_values(problem) if is_early_known else set()
    batch, parts, steps = _denser_at_first(tangent, EARLY_POINTS if free else POINTS)
    times = ops.convert_to_numpy(batch.points)[:, -1]

    def evaluated(expressions, where=batch):
        program = Program(expressions, problem.coordinates)
        count, part = where.parts(LARGEST)
        zero = np.zeros(part(0).points.shape[0])
        rows = [fields.at(program, part(number)) for number in range(count)]
        rows = [[ops.convert_to_numpy(row) + zero for row in some] for some in rows]
        return np.concatenate(rows, axis=1)[:, : len(times)]

    def norms(rows):
        return np.array([[rms(row[part]) for row in rows] for part in parts])

    residuals = evaluated(equations)
    terms = [norms(evaluated(sp.Add.make_args(e))).max(axis=1) for e in equations]
    is_lost = norms(residuals) > LOST * np.column_stack(terms)
    is_early = np.arange(len(parts))[:, None] <= HALVINGS  # layers may be unresolved
    is_lost, is_missed = is_lost & ~is_early, is_lost | is_early
    has_lost = is_lost.any()
    if not (has_lost or free):
        return {}
    scales = np.array([problem.scales.field(name) for name in names])
    relative = norms(evaluated(problem.fields)) * scales / sizes
    latest = parts[np.argmax(relative.sum(axis=1))][0]

    moved = _at_times(batch, batch.points[latest, -1], batch.coordinates[latest, -1])
    shape_then = abs(evaluated(problem.fields, moved))
    shapes = shape_then, np.ones_like(shape_then)
    rates, others = np.zeros((2, 2, len(equations), len(names), len(times)))
    for k, equation in enumerate(equations):
        plain, symbols = with_symbols(equation)
        nodes = {symbol: node for node, symbol in symbols.items()}
        for symbol, node in nodes.items():
            if isinstance(node, (Field, sp.Derivative)):
                name, index = field_and_index(node, problem.coordinates)
                number = names.index(name)
                operator = rates if index[-1] else others
                if index[-1] and sum(index) > 1:
                    return {}
                shape = problem.fields[number] if index[-1] else node
                is_uniform = name in free and isinstance(shape, Field)
                if not (has_lost or is_uniform):
                    continue
                factor = evaluated([plain.diff(symbol).xreplace(nodes)])[0]
                factor[~np.isfinite(factor)] = 0.0  # as of a root at zero
                along = evaluated([shape], moved)[0] if has_lost else 0.0
                operator[0, k, number] += factor * along
                operator[1, k, number] += factor * is_uniform
    changes = np.zeros(len(names))
    kinds = zip(rates, others, shapes, (is_lost, is_missed), strict=True)
    for *operators, mask in kinds:
        norms_of = np.array([[rms(row) or np.inf] for row in operators[-1]])
        units = (sizes / scales)[:, None] / norms_of
        how = (rows * units for rows in operators)
        later = _integrated(*how, residuals, mask, parts, steps)
        changes = np.maximum(changes, later)
    return dict(zip(names, changes.tolist(), strict=True))


def _integrated(rates, others, sizes, residuals, is_missed, parts, steps):
    """Return the root mean squares in time of changes by residuals, `(fields,)`.

    Args:
        rates: Factors of the fields' rates, `(equations, fields, points)`.
        others: The same of the fields and their other derivatives.
        sizes: Absolute values of the changes, `(fields, points)`.
        residuals: Array `(equations, points)`.
        is_missed: Which residuals count, `(parts, equations)`.
        parts: Indices of the points in each part of the time.
        steps: Durations of the parts.
    """
    from scipy.linalg import expm

    # Equations without rates determine the fields without rates.
    rows, columns = rates.any(axis=(1, 2)), rates.any(axis=(0, 2))
    change, changes = np.zeros(rates.shape[1]), []
    if not rows.any():
        return change
    # Balances: a coefficient that vanishes at a wall would hide the losses there.
    balances = (np.sign(rates) * sizes).sum(axis=1)
    tests = np.where(rows[:, None], balances, others.sum(axis=1))
    for part, step, missed in zip(parts, steps, is_missed, strict=True):
        slopes, matrix = (
            np.einsum("kn,kfn->kf", tests[:, part], operator[..., part])
            for operator in (rates, others)
        )
        source = np.einsum("kn,kn->k", tests[:, part], residuals[:, part])
        system = np.column_stack([matrix[:, columns], missed * source])
        hidden = matrix[rows][:, ~columns] @ np.linalg.pinv(matrix[~rows][:, ~columns])
        system = system[rows] - hidden @ system[~rows]
        growth = np.linalg.pinv(slopes[rows][:, columns]) @ system
        with np.errstate(all="ignore"):  # beyond any number
            later = change[columns] - step * growth[:, -1]
            later = expm(-step * growth[:, :-1]) @ later
        change[columns] = np.clip(np.nan_to_num(later, nan=1.0), -1, 1)
        changes.append(change.copy())
    return np.sqrt(np.average(np.square(changes), axis=0, weights=steps))


def _without_later_values(problem):
    """Return fields that evolve without a prescribed value after the first time."""
    later = [
        term
        for term in condition_terms(problem.all_terms)
        for part in term.parts
        if problem.domain.dimension - 1 not in dict(problem.domain.fixed(part))
    ]
    evolving = fields_of(evolving_fields(problem.domain, problem.all_terms))
    return {*evolving} - {*bare_fields(expressions_of(later))}


def _denser_at_first(tangent, count):
    """Return a batch with most points at first, their parts in time, and durations.

    Durations are in scaled time.

    Args:
        tangent: The `Tangent`.
        count: Number of points in each half of the first part.
    """
    problem = tangent.model.problem
    ends = np.linspace(0, 1, PARTS + 1)
    early = ends[1] * 0.5 ** np.arange(HALVINGS, 0, -1)
    ends = np.concatenate([ends[:1], early, ends[1:]])
    counts = [count] * (HALVINGS + 1) + [POINTS] * (PARTS - 1)
    batch = tangent.draw(-3, sum(counts))[RESIDUAL]
    shares = [
        np.linspace(start, end, 2 * n + 1)[1::2]
        for n, (start, end) in zip(counts, itertools.pairwise(ends), strict=True)
    ]
    first, half = problem.domain.lower[-1], problem.domain.half[-1]
    centre, unit = (pair[-1] for pair in (problem.scales.centre, problem.scales.half))
    times = (first + 2 * half * np.concatenate(shares))[:, None]
    parts = np.split(np.arange(len(times)), np.cumsum(counts)[:-1])
    batch = _at_times(batch, (times - centre) / unit, times)
    return batch, parts, np.diff(ends) * 2 * half / unit


def _at_times(batch, *times):
    """Return a batch at other times, in scaled and in the user's units."""
    pairs = zip((batch.points, batch.coordinates), times, strict=True)
    moved = [ops.concatenate([p[:, :-1], 0 * p[:, -1:] + t], axis=1) for p, t in pairs]
    return batch._replace(points=moved[0], coordinates=moved[1])
