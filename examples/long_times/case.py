"""A problem of the study, its aim and its reference solution."""

import dataclasses
from collections.abc import Callable, Sequence

import numpy as np
from scipy.integrate import solve_ivp

import keraspinn as kp

TOLERANCE = 1e-12
"""Relative tolerance of SciPy; a run with 100 times it states the error."""

TIMES = 1_001
"""Number of times at which solutions of ODEs are compared."""


@dataclasses.dataclass(frozen=True)
class Case:
    """A problem with a long time.

    Args:
        title: Name in the table.
        aim: Relative L2 error to reach.
        problem: The `Problem`.
        truth: Function that returns points `(N, d)`, a dict from fields to values
            `(N,)`, and the relative L2 error of these values.
        windows: As for `march`.
        units: Units of each layer.
        depth: Number of hidden layers.
        steps: Steps of Gauss–Newton in each window.
        points: Collocation points of a step.
        held_back: Whether the problem was written before its first run and never tuned.
    """

    title: str
    aim: float
    problem: kp.Problem
    truth: Callable[[], tuple]
    windows: int | Sequence[float] | str = 10
    units: int = 20
    depth: int = 2
    steps: int = 100
    points: int = 1_500
    held_back: bool = False

    def network(self):
        """Return a new network of the case."""
        return kp.networks.MLP(self.units, self.depth, outputs=len(self.problem.fields))


def exact(problem, count=100):
    """Return the truth of a problem whose reference is its exact solution."""

    def truth():
        return *problem.test_data(count), 0.0

    return truth


def ode(right_side, initial, end, fields, method="DOP853", columns=None):
    """Return the truth of an ODE, from SciPy.

    Args:
        right_side: Function of t and y.
        initial: Values at t = 0.
        end: Last time.
        fields: Names of the fields.
        method: SciPy's integrator.
        columns: Number of a column of y for each field; all of them if not given.
    """

    def solved(tolerance, times):
        return solve_ivp(
            right_side,
            (0, end),
            initial,
            method,
            times,
            rtol=tolerance,
            atol=tolerance * 1e-3,
        ).y[columns if columns is not None else slice(None)]

    def truth():
        times = np.linspace(0, end, TIMES)
        values, other = solved(TOLERANCE, times), solved(100 * TOLERANCE, times)
        own = np.linalg.norm(values - other, axis=1) / np.linalg.norm(values, axis=1)
        return times[:, None], dict(zip(fields, values, strict=True)), float(own.max())

    return truth
