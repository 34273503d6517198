"""How well measurements determine a problem's unknown parameters."""

import warnings

import numpy as np
from keras import ops

from keraspinn import backend
from keraspinn.declaration.conditions import Data
from keraspinn.declaration.terms import RESIDUAL
from keraspinn.training.tangent import Tangent

POINTS, POINTS_ON_FACE = 1000, 200
# Equations hold as if measured so many times better than all data together.
EXACT = 1e8
# How far a weight of the network may move, of its own size of about one.
REACH = 1e3
# Rows of Data below which all share a variance; degrees of freedom that are none; and
# what is left of residuals of size one that are zero.
FEW, NONE, ROUNDING = 10, 0.5, 1e-24
# What equations that are bent may move a parameter by, of its deviation.
BIAS = 0.5
SHOWN = 1e-5  # of a parameter: digits that a warning has
# What is left of a parameter's column, of its size, where other parameters do the same:
# of a*b 1e-16, by rounding. Measurements leave some 1e-5, 1 / √EXACT at most.
LOST = 1e-9
NAMED = 3  # of the Data that a warning is about


def parameter_deviation(model):
    """What `PINNModel.parameter_deviation` returns.

    Args:
        model: A `PINNModel`.
    """
    deviations, notes = _deviations(model)
    for note in notes:
        warnings.warn(note, stacklevel=3)
    return deviations


def member_deviations(load, names, going):
    """What `Ensemble.parameter_deviation` returns.

    Args:
        load: Function from a member's number to its `PINNModel`.
        names: Names of the unknown parameters.
        going: Boolean array `(size,)`, false for members that stopped.
    """
    found = {name: np.full(len(going), np.nan) for name in names}
    noted = {}
    for number in np.flatnonzero(going).tolist():
        deviations, notes = _deviations(load(number))
        for name, deviation in deviations.items():
            found[name][number] = deviation
        for note in notes:
            noted.setdefault(note, []).append(str(number))
    for note, numbers in noted.items():
        whose = "Members" if len(numbers) > 1 else "Member"
        warnings.warn(f"{whose} {', '.join(numbers)}: {note}", stacklevel=3)
    return found


def _deviations(model):
    """A dict of the unknown parameters' deviations, and a list of what to warn of."""
    problem = model.problem
    names = [parameter.name for parameter in problem.parameters]
    measured = [n for n, c in problem.conditions.items() if isinstance(c, Data)]
    if not names:
        raise ValueError(
            "The problem has no unknown parameters, whose deviation there could be. "
            "Declare one, keraspinn.Parameter('nu', initial=0.1), in an equation."
        )
    if not measured:
        raise ValueError(
            "The problem has no Data, whose noise the deviation follows from. Declare "
            "measurements, keraspinn.Data(points, {u: values}), as a condition."
        )
    # Twice as many rows as parameters, so that none is left between the points.
    count = max(POINTS, 2 * model.count_params() // len(problem.equations))
    drawn = {name: POINTS_ON_FACE for name in problem.terms if name not in measured}
    with backend.double_precision():
        tangent = Tangent(model, drawn | {RESIDUAL: count})
        rows = tangent.rows(tangent.draw(-1))
    exact = [pair for name in rows if name not in measured for pair in rows[name]]
    # By the network's own columns: a parameter's is as large as its unit makes it.
    norms = [np.linalg.norm(j[:, : -len(names)]) or 1.0 for _, j in exact]
    missed, exact = (
        np.concatenate([part / n for part, n in zip(parts, norms, strict=True)])
        for parts in zip(*exact, strict=True)
    )
    data = [pair for name in measured for pair in rows[name]]
    variances = [max(np.mean(np.square(r)), ROUNDING) for r, _ in data]
    ends = np.cumsum([len(residual) for residual, _ in data])
    loose = np.eye(tangent.size)[: tangent.size - len(names)] / REACH
    for _ in range(2):  # with as many degrees of freedom as the first time leaves
        scaled = [
            (values / np.sqrt(v), j / np.sqrt(v))
            for (values, j), v in zip(data, variances, strict=True)
        ]
        values, slopes = (np.concatenate(parts) for parts in zip(*scaled, strict=True))
        known = np.sqrt(EXACT) * np.linalg.norm(slopes)
        q, r = np.linalg.qr(np.concatenate([slopes, known * exact, loose]))
        right = np.concatenate([values, known * missed, np.zeros(len(loose))])
        # Of the last rows and columns: what is left of a parameter's column after all
        # that the network's own can make of it.
        first = len(loose)
        basis, inverse, unsaid = _inverted(r[first:, first:], r[:, first:])
        q, right = np.hstack([q[:, :first], q[:, first:] @ basis]), q.T @ right
        moves = inverse @ right[first:]
        rest = right[:first] - r[:first, first:] @ moves
        change = np.append(np.linalg.solve(r[:first, :first], rest), moves)
        leverages = np.split(np.sum(np.square(q[: ends[-1]]), axis=1), ends[:-1])
        variances = _variances([own - j @ change for own, j in data], leverages)
        if not np.isfinite(variances).all():
            labels = [name for name in measured for _ in rows[name]]
            lacking = {
                name: len(residual)
                for name, (residual, _), v in zip(labels, data, variances, strict=True)
                if not np.isfinite(v)
            }
            return dict.fromkeys(names, np.inf), [_of_few_rows(names, lacking)]
    undetermined = np.diagonal(unsaid) > LOST
    deviations = np.where(undetermined, np.inf, np.linalg.norm(inverse, axis=1))
    found = dict(zip(names, deviations.tolist(), strict=True))
    groups = _together(names, unsaid)
    notes = [_of_undetermined(groups)] if groups else []
    return found, notes + _of_bent_equations(model, found, moves)


def _inverted(left, columns):
    """The inverse R⁻¹ of what is left of parameters' columns, where there is one.

    Args:
        left: Array `(K, K)`, R.
        columns: Array `(P, K)`, the columns before anything was taken off.

    Returns:
        An orthonormal basis `(K, k)` of the rows that say something; R⁻¹, zero along
        what they do not; and the projection onto that, `(K, K)`.
    """
    sizes = np.linalg.norm(columns, axis=0)
    sizes = np.where(sizes > 0, sizes, 1.0)
    basis, parts, directions = np.linalg.svd(left / sizes)
    said = parts > LOST
    basis, told = basis[:, said], directions[said].T / parts[said]
    unsaid = directions[~said].T @ directions[~said]
    return basis, told @ basis.T / sizes[:, None], unsaid


def _together(names, unsaid):
    """Lists of the undetermined parameters that only count together, or not at all.

    Args:
        names: Names of the parameters.
        unsaid: As `_inverted` returns it.
    """
    linked = np.eye(len(names)) + (np.abs(unsaid) > np.sqrt(LOST))
    # Each takes the first that is linked to it, over however many others.
    labels = (np.linalg.matrix_power(linked, len(names)) > 0).argmax(axis=1)
    groups = {}
    for name, label, share in zip(names, labels, np.diagonal(unsaid), strict=True):
        if share > LOST:
            groups.setdefault(label, []).append(name)
    return list(groups.values())


def _variances(residuals, leverages):
    """The noise of each expression, of one for all where rows are few."""
    squares = [np.sum(np.square(own)) for own in residuals]
    free = [len(own) - np.sum(own) for own in leverages]
    if min(map(len, leverages)) < FEW:
        squares, free = ([sum(own)] * len(own) for own in (squares, free))
    return [
        max(own / left, ROUNDING) if left > NONE else np.inf
        for own, left in zip(squares, free, strict=True)
    ]


def _of_few_rows(names, lacking):
    """Why nothing is known of the noise, and so of any parameter.

    Args:
        names: Names of the parameters.
        lacking: Dict from names of `Data` to the number of their rows.
    """
    shown = ", ".join(f"'{name}'" for name in [*lacking][:NAMED])
    total, more = sum(lacking.values()), ", …" if len(lacking) > NAMED else ""
    return (
        f"The deviation of {' and '.join(names)} is infinite: {shown}{more} "
        f"{'have' if len(lacking) > 1 else 'has'} {total} row{'s' * (total > 1)}, not "
        "more than there are unknowns, parameters and what equations and conditions "
        "leave open of the fields, so that these fit any noise. Add rows, measured at "
        "other points, or give a number for a parameter that is known."
    )


def _of_undetermined(groups):
    """Which parameters equations and data do not determine.

    Args:
        groups: What `_together` returned.
    """
    apart = ", nor ".join(
        " and ".join(own) + " separately" * (len(own) > 1) for own in groups
    )
    several = any(len(own) > 1 for own in groups)
    make = "make one parameter of those that only count together, such as a*b or a + b"
    advice = f"{make}, give" if several else "give"
    return (
        f"The equations and data do not determine {apart}: other values fit as well, "
        f"and the deviation is infinite. {advice.capitalize()} a number for one that "
        "is known, or add Data on which they act otherwise."
    )


def _of_bent_equations(model, deviations, change):
    """Where parameters would be if the equations held, a list of one text or none."""
    values = [
        float(ops.convert_to_numpy(model.coefficients[name])) for name in deviations
    ]
    moves = [
        f"{name} is {value - move:.6g}"
        for (name, deviation), value, move in zip(
            deviations.items(), values, change, strict=True
        )
        if deviation < np.inf and abs(move) > max(BIAS * deviation, SHOWN * abs(value))
    ]
    if not moves:
        return []
    return [
        "The equations are bent to follow the data's noise, or are not solved yet: "
        f"where they hold, {' and '.join(moves)}, off by more than {BIAS:g} of the "
        "deviation. Take that value, or train on with less weight for the data, "
        "keraspinn.Data(..., weight=0.01), without LearningRateAnnealing, which "
        "sets weights of its own, for as long as the data's misfit stays near "
        "their noise. Where the domain has a corner that points inward, what a "
        "network cannot express there moves the parameter instead."
    ]
