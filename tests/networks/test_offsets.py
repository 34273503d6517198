"""Tests of fields with an offset, for all networks."""

import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn as kp
from tensors import FEW_STEPS

X = sp.Symbol("x")
T = sp.Function("T")(X)
POINTS = np.array([[0.02], [0.07]])


def user_network():
    scaled = keras.layers.Rescaling(20.0, -1.0)
    hidden = keras.layers.Dense(4, activation="tanh")
    layers = [keras.Input((1,)), scaled, hidden, keras.layers.Dense(1)]
    return keras.Sequential(layers)


NETWORKS = {
    "ours": lambda: kp.networks.MLP(4, 1),
    "a user's": user_network,
    "one for each field": lambda: {T: kp.networks.MLP(4, 1)},
    "a user's for each field": lambda: {T: user_network()},
}


def slab(hard=False):
    return kp.Problem(
        kp.geometry.Box({X: (0, 0.1)}),
        {"heat": T.diff(X, 2)},
        {
            "hot": kp.Condition(sp.Eq(T, 303), on={X: 0}, hard=hard),
            "air": kp.Condition(sp.Eq(-40 * T.diff(X), 100 * (T - 293)), on={X: 0.1}),
        },
    )


@pytest.mark.slow
def test_ensemble_members_use_the_offset():
    ensemble = kp.Ensemble(slab(), kp.networks.MLP(4, 1), size=2, seed=0)
    ensemble.compile(keras.optimizers.Adam(1e-3), **FEW_STEPS)
    logs = ensemble.fit(steps_per_epoch=3, epochs=1, verbose=0).history
    keras.utils.set_random_seed(0)
    alone = kp.PINNModel(slab(), kp.networks.MLP(4, 1), seed=0)
    alone.compile(keras.optimizers.Adam(1e-3), **FEW_STEPS)
    history = alone.fit(steps_per_epoch=3, epochs=1, verbose=0).history
    losses = logs["loss_of_members"][-1]
    np.testing.assert_allclose(losses[0], history["loss"][-1], rtol=1e-4)
    predicted = ensemble.member(0).predict(POINTS, verbose=0)
    np.testing.assert_allclose(predicted, alone.predict(POINTS, verbose=0), rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("hard", [False, True])
@pytest.mark.parametrize("name", NETWORKS)
def test_predictions_include_the_offset(name, hard):
    problem = slab(hard)
    assert problem.scales.offset("T") == 298 and problem.scales.field("T") == 5
    again = kp.Problem.from_config(problem.get_config())
    assert again.scales == problem.scales
    model = kp.PINNModel(problem, NETWORKS[name](), seed=0).astype("float64")
    predicted = model.predict(POINTS, verbose=0)
    twice = model.predict_expression(2 * T, POINTS)
    np.testing.assert_allclose(twice.ravel(), 2 * predicted.ravel(), rtol=1e-12)
    slope = model.predict_expression(T.diff(X), POINTS).ravel()
    ends = [model.predict(POINTS + h, verbose=0).ravel() for h in (1e-6, -1e-6)]
    np.testing.assert_allclose(slope, (ends[0] - ends[1]) / 2e-6, rtol=1e-4, atol=1e-4)
    if "user" not in name:
        assert np.all(abs(predicted - 298) < 20)
    if not hard:
        np.testing.assert_allclose(
            np.array(model.network(POINTS)), predicted, rtol=1e-12
        )
    if hard:
        start = model.predict(np.zeros((1, 1)), verbose=0)
        np.testing.assert_allclose(start, 303, rtol=1e-12)
        network = model.network(np.array([[0.1]]))  # u = g + φ N, as for any units
        end = model.predict(np.array([[0.1]]), verbose=0)
        form = problem.hard["T"]
        factor = float(form.factor.subs(X, 0.1))
        np.testing.assert_allclose(end - 303, factor * np.array(network), rtol=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("level", [0.0, 101325.0])
def test_errors_up_to_a_constant_are_not_lost_in_rounding(level):
    values = 10 * POINTS.ravel() / 0.1
    problem = kp.Problem(
        kp.geometry.Box({X: (0, 0.1)}),
        {"slope": sp.Eq(T.diff(X), 100)},
        {"end": kp.Condition(sp.Eq(T, 101325), on={X: 0})},
        kp.Reference(POINTS, {T: level + values}, up_to_constant=[T]),
    )
    assert problem.scales.offset("T") == 101325
    model = kp.PINNModel(problem, kp.networks.MLP(4, 1), seed=0)
    model.compile()
    logs = model.evaluate(*problem.test_data(), verbose=0, return_dict=True)
    predicted = model.predict(POINTS, verbose=0).ravel().astype("float64")
    wrong = np.ptp(predicted - values) / np.ptp(values)
    assert logs["T_relative_l2"] == pytest.approx(abs(wrong), rel=0.02)
