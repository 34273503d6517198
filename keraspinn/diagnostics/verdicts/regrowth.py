"""Fields that are lost in the residual for a time, and may grow again."""

import numpy as np
import sympy as sp
from keras import ops

from keraspinn.declaration.probe_points import with_symbols
from keraspinn.declaration.terms import RESIDUAL
from keraspinn.diagnostics.verdicts.causes import is_initial
from keraspinn.diagnostics.verdicts.extents import rms
from keraspinn.expressions import Field, Program
from keraspinn.expressions.derivatives import field_and_index
from keraspinn.training.tangent import FIELDS

# Parts of the time.
PARTS = 50
# Residual relative to an equation's largest term, from which on a field is lost.
LOST = 0.5


def regrown(model, batches, values, sizes):
    """Return the changes that residuals of lost fields may cause later, as `slacks`.

    The solution u = 0 of u_t = (t − 4) u has no residual, and a field that decays to
    almost zero before t = 4 may grow again. Where a residual outweighs its equation's
    terms, the linearised equations are integrated with it, for changes c(t) φ(x) with
    φ the field at the time when it is largest.

    Args:
        model: The `PINNModel`, in double precision.
        batches: Dict from names of terms to batches.
        values: Dict from these to scaled residuals, and `"fields"` to fields.
        sizes: Magnitudes that changes of the fields are relative to.

    Returns:
        Dict from names of fields to relative changes, of at most one. Empty without
        lost fields, but for initial value problems of first order in time that have one
        set of points.
    """
    from scipy.linalg import expm

    problem, names = model.problem, model.problem.field_names
    terms = {n: t for n, t in problem.terms.items() if t.is_equation}
    is_here = problem.domain.time_coordinate and [*terms] == [RESIDUAL]
    if not is_here or problem.measured or not is_initial(problem):
        return {}
    term, batch, residuals = terms[RESIDUAL], batches[RESIDUAL], values[RESIDUAL]
    pairs = zip(term.pointwise, problem.scales.sizes(term), strict=True)
    equations = [problem.scales.apply(*pair) for pair in pairs]
    times = ops.convert_to_numpy(batch.points)[:, -1]
    parts = np.array_split(np.argsort(times), min(PARTS, len(times)))
    step = 2 * problem.domain.half[-1] / problem.scales.half[-1] / len(parts)

    def evaluated(expressions, where=batch):
        rows = model._fields.at(Program(expressions, problem.coordinates), where)
        return np.array([ops.convert_to_numpy(row) + 0 * times for row in rows])

    def norms(rows):
        return np.array([[rms(row[part]) for row in rows] for part in parts])

    largest = [norms(evaluated(sp.Add.make_args(e))).max(axis=1) for e in equations]
    is_lost = norms(residuals) > LOST * np.column_stack(largest)
    if not is_lost.any():
        return {}
    latest = parts[np.argmax((norms(values[FIELDS]) / sizes).sum(axis=1))][0]

    def at_one_time(points):
        return ops.concatenate(
            [points[:, :-1], 0 * points[:, -1:] + points[latest, -1]], 1
        )

    moved = batch._replace(
        points=at_one_time(batch.points), coordinates=at_one_time(batch.coordinates)
    )
    shapes = [rms(row) for row in evaluated(problem.fields, moved)]
    scales = [problem.scales.field(name) for name in names]
    units = np.array(sizes) / scales / np.where(shapes, shapes, np.inf)
    rates, others = np.zeros((2, len(equations), len(names), len(times)))
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
                factor = evaluated([plain.diff(symbol).xreplace(nodes)])[0]
                factor[~np.isfinite(factor)] = 0.0  # as of a root at zero
                shape = problem.fields[number] if index[-1] else node
                operator[k, number] += factor * evaluated([shape], moved)[0]
    rates, others = rates * units[:, None], others * units[:, None]
    # Equations without rates determine the fields without rates.
    rows, columns = rates.any(axis=(1, 2)), rates.any(axis=(0, 2))
    if not rows.any():
        return {}
    tests = np.where(rows[:, None], rates.sum(axis=1), others.sum(axis=1))
    change, changes = np.zeros(len(names)), []
    for part, lost in zip(parts, is_lost, strict=True):
        slopes, matrix = (
            np.einsum("kn,kfn->kf", tests[:, part], operator[..., part])
            for operator in (rates, others)
        )
        source = np.einsum("kn,kn->k", tests[:, part], np.array(residuals)[:, part])
        system = np.column_stack([matrix[:, columns], lost * source])
        hidden = matrix[rows][:, ~columns] @ np.linalg.pinv(matrix[~rows][:, ~columns])
        system = system[rows] - hidden @ system[~rows]
        growth = np.linalg.pinv(slopes[rows][:, columns]) @ system
        with np.errstate(all="ignore"):  # beyond any number
            later = change[columns] - step * growth[:, -1]
            later = expm(-step * growth[:, :-1]) @ later
        change[columns] = np.clip(np.nan_to_num(later, nan=1.0), -1, 1)
        changes.append(change.copy())
    changes = np.sqrt(np.mean(np.square(changes), axis=0))
    return dict(zip(names, changes.tolist(), strict=True))
