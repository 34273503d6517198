"""Integrals of fields over the domain and its parts."""

import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn as kp

X, Y = sp.symbols("x y")
T = sp.Function("T")(X, Y)
HOLE = kp.geometry.Disk((0.3, 0.1), 0.2)
PLATE = kp.geometry.Box({X: (-1, 1), Y: (-1, 1)}) - HOLE


@pytest.fixture(scope="module")
def model():
    keras.utils.set_random_seed(0)
    problem = kp.Problem(
        PLATE,
        {"heat": T.diff(X, 2) + T.diff(Y, 2)},
        {"all": kp.Condition(T - 300 - 50 * X, on="boundary")},
    )
    return kp.PINNModel(problem, kp.networks.MLP(5, 2), seed=0)


N = PLATE.normal


@pytest.mark.parametrize(
    ("expression", "arguments", "exact"),
    [
        (sp.Integer(1), {}, 4 - 0.04 * np.pi),
        (1, {"over": HOLE}, 0.4 * np.pi),
        (N[0] * X, {"over": HOLE}, -0.04 * np.pi),  # inwards of the hole
        (Y**2, {"over": {X: 1}}, 2 / 3),
        (Y**2, {"over": {X: 1}, "where": Y > 0}, 1 / 3),
        (Y**2, {"over": [{X: 1}, {X: -1}]}, 4 / 3),
        (N[0] * X + N[1] * Y, {"over": "boundary"}, 2 * (4 - 0.04 * np.pi)),
    ],
)
def test_integrals_of_known_fields(model, expression, arguments, exact):
    assert model.integrate(expression, **arguments) == pytest.approx(exact, rel=1e-4)


def test_divergence_theorem(model):
    inside = model.integrate(T.diff(X, 2) + T.diff(Y, 2))
    flux = kp.normal_derivative(T, PLATE)
    assert model.integrate(flux, "boundary") == pytest.approx(inside, rel=1e-2)


def test_mean_of_the_field(model):
    y = np.linspace(-1, 1, 2001)
    values = model.predict(np.stack([np.ones_like(y), y], axis=1))[:, 0]
    mean = np.trapezoid(values.astype("float64"), y) / 2
    assert model.integrate(T, {X: 1}) / 2 == pytest.approx(mean, rel=1e-5)


@pytest.mark.parametrize(
    ("arguments", "match"),
    [
        ((T, {X: 5}), "x goes from -1 to 1"),
        ((N[0] * T,), "no normal on the interior"),
        ((sp.Function("q")(X, Y),), "no fields"),
        ((T, "interior", None, 0), "points"),
    ],
)
def test_integrate_rejects_invalid_regions(model, arguments, match):
    with pytest.raises(ValueError, match=match):
        model.integrate(*arguments)
