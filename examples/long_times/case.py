"""Problem of the study, with its aim and its reference solution."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import sympy as sp
from scipy.integrate import solve_ivp

import keraspinn as kp

# Relative tolerance of SciPy. The difference from 100 times this estimates the error.
TOLERANCE = 1e-12

# Number of times at which solutions of ODEs are compared.
TIMES = 1_001


@dataclasses.dataclass(frozen=True)
class Case:
    """Problem with a long time.

    Args:
        title: Name in the table.
        aim: Relative L2 error to reach.
        problem: The `Problem`.
        truth: Function that returns points `(N, d)`, a dict from fields to values
            `(N,)`, and the relative L2 error of these values.
        windows: Number of windows or their ends, as for `march`.
        units: Units of each layer.
        depth: Number of hidden layers.
        steps: Steps of Gauss–Newton in each window, or of SSBroyden for each value.
        points: Collocation points of a step.
        sampler: Optional sampler of these points, for a shock.
        values: Optional dict from a parameter to its values for `continuation`, in
            place of windows.
        compared: Optional dict from the names of `truth` to expressions, if these are
            not fields.
        held_back: Whether nothing was ever tuned on the problem.
    """

    title: str
    aim: float
    problem: kp.Problem
    truth: Callable[[], tuple]
    windows: int | Sequence[float] | str = 10
    units: int = 20
    depth: int = 2
    steps: int = 100
    points: int | dict = 1_500
    sampler: kp.sampling.Sampler | None = None
    values: Mapping[kp.Parameter, Sequence[float]] | None = None
    compared: Mapping[str, sp.Expr] | None = None
    held_back: bool = False

    def network(self):
        """Return a new network of the case."""
        return kp.networks.MLP(self.units, self.depth, outputs=len(self.problem.fields))


def exact(problem, count=100):
    """Return the `truth` of a problem whose reference is its exact solution."""

    def truth():
        return *problem.test_data(count), 0.0

    return truth


def ode(right_side, initial, end, fields, method="DOP853", columns=None):
    """Return the `truth` of an ODE, solved by SciPy.

    Args:
        right_side: Function of t and y that returns the derivative of y.
        initial: Values at t = 0.
        end: Last time.
        fields: Names of the fields.
        method: Integrator of SciPy.
        columns: Index in y of each field, or `None` for all components.
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
        values, coarse = solved(TOLERANCE, times), solved(100 * TOLERANCE, times)
        errors = np.linalg.norm(values - coarse, axis=1)
        error = float((errors / np.linalg.norm(values, axis=1)).max())
        return times[:, None], dict(zip(fields, values, strict=True)), error

    return truth
