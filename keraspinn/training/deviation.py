"""How well measurements determine a problem's unknown parameters."""

import numpy as np

from keraspinn import backend
from keraspinn.spec.conditions import Data
from keraspinn.spec.terms import RESIDUAL
from keraspinn.training.tangent import Tangent

POINTS, POINTS_ON_FACE = 1000, 200
# Equations hold as if measured so many times better than all data together.
EXACT = 1e8
# How far a weight of the network may move, of its own size of about one.
REACH = 1e3


def parameter_deviation(model):
    """What `PINNModel.parameter_deviation` returns.

    Args:
        model: A `PINNModel`.
    """
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
    exact = [j for name in rows if name not in measured for _, j in rows[name]]
    exact = np.concatenate([j / (np.linalg.norm(j) or 1.0) for j in exact])
    data = [pair for name in measured for pair in rows[name]]
    variances = [np.mean(np.square(residual)) for residual, _ in data]
    for _ in range(2):  # with as many degrees of freedom as the first time leaves
        scaled = [j / np.sqrt(v) for (_, j), v in zip(data, variances, strict=True)]
        known = np.sqrt(EXACT * sum(np.sum(np.square(j)) for j in scaled))
        loose = np.eye(tangent.size)[: tangent.size - len(names)] / REACH
        q, r = np.linalg.qr(np.concatenate([*scaled, known * exact, loose]))
        ends = np.cumsum([len(j) for j in scaled])
        leverages = np.split(np.sum(np.square(q[: ends[-1]]), axis=1), ends[:-1])
        variances = [
            np.sum(np.square(residual)) / max(len(residual) - np.sum(own), 1.0)
            for (residual, _), own in zip(data, leverages, strict=True)
        ]
    # (RᵀR)⁻¹ of the last rows and columns: what is left of a parameter's column
    # after all that the network's own can make of it.
    last = r[-len(names) :, -len(names) :]
    covariance = np.linalg.inv(last.T @ last)
    return dict(zip(names, np.sqrt(np.diag(covariance)).tolist(), strict=True))
