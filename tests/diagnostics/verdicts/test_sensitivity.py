import types

import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn as kp
from keraspinn.diagnostics.verdicts.sensitivity import (
    DAMPING,
    _judged,
    amplification,
)
from keraspinn.training.tangent import FIELDS, Tangent

X = sp.Symbol("x")
U, F = sp.Function("u")(X), sp.Function("f")(X)


def amplified(equation, conditions, units=8):
    """Return the amplification of an untrained network, in double precision."""
    keras.utils.set_random_seed(0)
    domain = kp.geometry.Box({X: (0, 1)})
    problem = kp.Problem(domain, {"equation": equation}, conditions, scales=None)
    network = kp.networks.MLP(units, 2, outputs=len(problem.fields))
    model = kp.PINNModel(problem, network, seed=0).astype("float64")
    tangent = Tangent(model, inside=200, on_face=1)
    rows = tangent.rows(tangent.draw(-1))
    norms = {
        name: [np.linalg.norm(j) for _, j in pairs] for name, pairs in rows.items()
    }
    others = rows, tangent.draw(-2), norms
    counts = len(problem.fields), len(problem.parameters)
    sizes = ([1.0] * count for count in counts)
    return amplification(tangent, *others, *sizes, DAMPING)


ENDS = {"ends": kp.Condition(U, on="boundary")}


@pytest.mark.slow
@pytest.mark.parametrize("units", [8, 30])
def test_unknown_source_with_few_values_is_hardly_determined(units):
    """Also with 30 units, which have four times as many parameters as rows."""
    points = np.linspace(0.1, 0.9, 6)[:, None]
    few = kp.Data(points, {U: np.sin(3 * np.pi * points)})
    unknown = amplified(sp.Eq(U.diff(X, 2), F), ENDS | {"data": few}, units)
    determined = amplified(U.diff(X, 2) + 1, ENDS, units)
    assert unknown.max() > 1e3 * determined
    assert 1 < determined < 100


@pytest.mark.slow
def test_undetermined_parameter_is_amplified():
    k = kp.Parameter("k", initial=1.0)
    equation = U.diff(X, 2) + k * sp.exp(U)
    flux = {"flux": kp.Condition(sp.Eq(U.diff(X), 0.6), on={X: 0})}
    assert amplified(equation, ENDS)[1] > 1e6
    assert amplified(equation, ENDS | flux)[1] < 1e3


@pytest.mark.slow
def test_amplification_does_not_depend_on_units_of_an_equation():
    expected = amplified(U.diff(X, 2) + 1, ENDS)
    assert amplified(1e6 * U.diff(X, 2) + 1, ENDS) == pytest.approx(expected, 1e-3)


def test_amplification_is_unknown_without_a_finite_direction():
    class Fixed:
        size, model = 3, types.SimpleNamespace(problem=kp.problems.poisson())

        def draw(self, number):
            return None

        def moved(self, batches, direction):
            return None, {FIELDS: [direction], "e": [direction]}

    one, none = np.ones((3, 1)), np.ones((3, 0))
    arguments = {"e": [1.0]}, [2.0], []
    assert _judged(Fixed(), one, *arguments) == pytest.approx([0.5 / np.sqrt(3)])
    for directions in (none, np.nan * one):
        ratio = _judged(Fixed(), directions, *arguments).max()
        assert not ratio <= 1e9
