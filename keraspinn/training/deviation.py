"""Uncertainty of a problem's unknown parameters from noisy measurements."""

import warnings

import numpy as np
from keras.ops import convert_to_numpy

from keraspinn import backend
from keraspinn.training.systematic import systematic_part
from keraspinn.training.tangent import Tangent, stacked

# Points inside, at least, and on each face.
POINTS = 1000
POINTS_ON_FACE = 200
# Weight of the equations relative to all data together: they hold as if exact.
EXACT = 1e8
# Largest change of a network's weight; a weight is about one.
REACH = 1e3
# Rows of Data below which all expressions share a variance.
FEW = 10
# Degrees of freedom below which there are none.
NONE = 0.5
# Mean square of residuals of scale one that are zero up to round-off.
ROUNDING = 1e-24
# Bias of a parameter that is reported, relative to its deviation.
BIAS = 0.5
# Bias that a warning's digits can show, relative to the parameter.
SHOWN = 1e-5
# Norm of a parameter's column, relative to its initial one, after the columns of
# others are eliminated, below which it is not identifiable. For a*b round-off leaves
# 1e-16; measurements leave about 1e-5, 1 / √EXACT at most.
LOST = 1e-9
# Relative singular value of parameters' columns above which they are independent,
# however large the network's error: 0.09 for a drag a v + c v².
ALIKE = 0.01


def parameter_deviation(model):
    """Return the result of `PINNModel.parameter_deviation`.

    Args:
        model: A `PINNModel`.
    """
    deviations, notes, _ = deviations_of(model)
    for note in notes:
        warnings.warn(note, stacklevel=3)
    return deviations


def member_deviations(load, names, going):
    """Return the result of `Ensemble.parameter_deviation`.

    Args:
        load: Function from a member's number to its `PINNModel`.
        names: Names of the unknown parameters.
        going: Boolean array `(size,)`, false for members that stopped.
    """
    arrays = {name: np.full(len(going), np.nan) for name in names}
    noted = {}
    for number in np.flatnonzero(going).tolist():
        deviations, notes, _ = deviations_of(load(number))
        for name, deviation in deviations.items():
            arrays[name][number] = deviation
        for note in notes:
            noted.setdefault(note, []).append(str(number))
    for note, numbers in noted.items():
        whose = "Members" if len(numbers) > 1 else "Member"
        warnings.warn(f"{whose} {', '.join(numbers)}: {note}", stacklevel=3)
    return arrays


def deviations_of(model):
    """Return deviations by name, warnings, and the one on unidentified parameters."""
    problem = model.problem
    names = [parameter.name for parameter in problem.parameters]
    measured = problem.measured
    if not (names and measured):
        raise ValueError(
            "A deviation needs an unknown keraspinn.Parameter in an equation, and Data "
            "as a condition, keraspinn.Data(points, {u: values})."
        )
    # Twice as many rows as parameters, so that none is left between the points.
    count = max(POINTS, 2 * model.count_params() // len(problem.equations))
    with backend.double_precision():
        tangent = Tangent(model, count, POINTS_ON_FACE, measured)
        batches = tangent.draw(-1)
        rows = tangent.rows(batches)
    exact = [pair for name in rows if name not in measured for pair in rows[name]]
    # Scaled by the network's columns: a parameter's column depends on its unit.
    norms = [np.linalg.norm(j[:, : -len(names)]) or 1.0 for _, j in exact]
    missed, exact = stacked(exact, norms)
    data = [pair for name in measured for pair in rows[name]]
    variances = [max(np.mean(np.square(r)), ROUNDING) for r, _ in data]
    ends = np.cumsum([len(residual) for residual, _ in data])
    floor = LOST
    loose = np.eye(tangent.size)[: tangent.size - len(names)] / REACH
    for _ in range(2):  # with as many degrees of freedom as the first time leaves
        values, rows_ = stacked(data, np.sqrt(variances))
        known = np.sqrt(EXACT) * np.linalg.norm(rows_)
        q, r = np.linalg.qr(np.concatenate([rows_, known * exact, loose]))
        right = np.concatenate([values, known * missed, np.zeros(len(loose))])
        # The last rows and columns are the parameters' columns after those of the
        # network are eliminated.
        first = len(loose)
        basis, inverse, null = _inverted(r[first:, first:], r[:, first:], floor)
        q, right = np.hstack([q[:, :first], q[:, first:] @ basis]), q.T @ right
        moves = inverse @ right[first:]
        rest = right[:first] - r[:first, first:] @ moves
        change = np.append(np.linalg.solve(r[:first, :first], rest), moves)
        floor = _column_error(tangent, batches, rows, change, measured, len(names))
        leverages = np.split(np.sum(np.square(q[: ends[-1]]), axis=1), ends[:-1])
        rests = [values - j @ change for values, j in data]
        variances = _variances(rests, leverages)
        if not np.isfinite(variances).all():
            break
    undetermined = np.diagonal(null) > LOST
    lost = [name for name, is_lost in zip(names, undetermined, strict=True) if is_lost]
    notes = [_of_undetermined(lost)] if lost else []
    if not np.isfinite(variances).all():
        counts = {name: len(rows[name][0][0]) for name in measured}
        few = [_of_few_rows(names, counts)] if len(lost) < len(names) else []
        return dict.fromkeys(names, np.inf), notes + few, "".join(notes)
    places = [batches[name].points for name in measured for _ in rows[name]]
    factors = map(_systematic_factor, places, rests, variances)
    # Those of each parameter by the rows of each expression.
    response = inverse @ basis @ q[: ends[-1], first:].T
    parts = np.split(np.square(response), ends[:-1], axis=1)
    pairs = zip(factors, parts, strict=True)
    added = sum((f - 1) * np.sum(squares, axis=1) for f, squares in pairs)
    deviations = np.sqrt(np.sum(np.square(inverse), axis=1) + added)
    deviations = np.where(undetermined, np.inf, deviations)
    estimates = dict(zip(names, deviations.tolist(), strict=True))
    return estimates, notes + _of_biased(model, estimates, moves), "".join(notes)


def _inverted(left, columns, floor):
    """Invert the triangular factor R along the directions that are identified.

    Args:
        left: R, `(K, K)`: columns of parameters less their projection on the others.
        columns: The columns before the projection, `(P, K)`.
        floor: Relative singular value up to which these are linearly dependent.

    Returns:
        An orthonormal basis `(K, k)` of the rows along identified directions; R⁻¹, zero
        along the others; and the projection onto the others, `(K, K)`.
    """
    sizes = np.linalg.norm(columns, axis=0)
    sizes = np.where(sizes > 0, sizes, 1.0)
    _, parts, directions = np.linalg.svd(columns / sizes, full_matrices=False)
    distinct = directions[parts > floor * parts[0]].T
    basis, parts, directions = np.linalg.svd(left / sizes @ distinct)
    kept = parts > LOST
    basis, directions = basis[:, : len(parts)][:, kept], directions[kept] @ distinct.T
    null = np.eye(len(sizes)) - directions.T @ directions
    return basis, directions.T / parts[kept] @ basis.T / sizes[:, None], null


def _column_error(tangent, batches, rows, change, measured, count):
    """Return the relative change of the parameters' columns by the correction.

    Columns that are dependent for the solution, as those of several coefficients are
    beside a single mode, differ by the error of the network.
    """
    with tangent.moved_by(-change):
        moved = tangent.rows(batches)
    exact = [name for name in rows if name not in measured]
    before, after = (
        np.concatenate([j[:, -count:] for name in exact for _, j in terms[name]])
        for terms in (rows, moved)
    )
    sizes = np.linalg.norm(before, axis=0)
    errors = np.linalg.norm(after - before, axis=0)[sizes > 0] / sizes[sizes > 0]
    error = max(errors, default=0.0)
    return min(max(error, LOST), ALIKE) if np.isfinite(error) else ALIKE


def _variances(residuals, leverages):
    """Return the variance of each expression, or one for all if rows are few."""
    squares = [np.sum(np.square(rows)) for rows in residuals]
    free = [len(rows) - np.sum(rows) for rows in leverages]
    if min(map(len, leverages)) < FEW:
        squares, free = ([sum(terms)] * len(terms) for terms in (squares, free))
    pairs = zip(squares, free, strict=True)
    return [max(square / n, ROUNDING) if n > NONE else np.inf for square, n in pairs]


def _systematic_factor(points, residual, variance):
    """Return the factor of a variance for the systematic part of a residual.

    It may act as one, as a clock that is late does, and noise of N rows as one of √N.
    """
    if len(residual) < 3:
        return 1.0
    share = systematic_part(convert_to_numpy(points), residual, is_noisy=True)
    return max(1.0, len(residual) * share**2 / variance)


def _of_few_rows(names, counts):
    """Return the warning for data with too few rows to estimate their noise.

    Args:
        names: Names of the parameters.
        counts: Dict from names of `Data` to the number of rows of an expression.
    """
    rows = ", ".join(f"'{name}' has {count}" for name, count in counts.items())
    return (
        f"The deviation of {' and '.join(names)} is infinite: too few rows of Data "
        f"({rows}), not more than the degrees of freedom of parameters and "
        "underdetermined fields. Add rows at other points, or give a known number."
    )


def _of_undetermined(names):
    """Return the warning for parameters that are not identifiable."""
    return (
        f"The equations and data do not determine {' and '.join(names)}: other values "
        "fit as well, and the deviation is infinite. Give a number for a known one, "
        "or one parameter for those in a product or sum, or Data that tell them apart."
    )


def _of_biased(model, deviations, change):
    """Return the warning, if any, for parameters biased by unsatisfied equations."""
    values = [float(v.numpy()) for v in model.coefficients.values()]
    parts = deviations.items(), values, change
    moves = [
        f"{name} is {value - move:.6g}"
        for (name, deviation), value, move in zip(*parts, strict=True)
        if deviation < np.inf and abs(move) > max(BIAS * deviation, SHOWN * abs(value))
    ]
    if not moves:
        return []
    return [
        "The equations are not satisfied: they give way to the data's noise, or the "
        f"training has not converged. If they held, {' and '.join(moves)}, off by more "
        f"than {BIAS:g} of the deviation. Use that value, or continue training with "
        "less weight for the data, keraspinn.Data(..., weight=0.01), without "
        "LearningRateAnnealing, which changes the weights. The network's error at a "
        "reentrant corner can cause the bias, too."
    ]
