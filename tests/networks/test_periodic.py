"""Tests of networks on domains with periodic coordinates."""

import warnings

import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn as kp

X, T = sp.symbols("x t")
U = sp.Function("u")(X, T)
LENGTH = 3.0
RING = kp.geometry.Box({X: (1, 1 + LENGTH)}, time={T: (0, 1)}, periodic=[X])
WAVE = sp.sin(2 * sp.pi * (X - T) / LENGTH)


def advection(scales=None, **condition):
    begin = kp.Condition(sp.Eq(U, WAVE.subs(T, 0)), on="initial", **condition)
    equations = {"advection": U.diff(T) + U.diff(X)}
    return kp.Problem(RING, equations, {"i": begin}, reference={U: WAVE}, scales=scales)


NETWORKS = [
    lambda: kp.networks.MLP(8, 2),
    lambda: kp.networks.ModifiedMLP(8, 1),
    lambda: kp.networks.ModifiedMLP(8, 1, gate_input=True),
    lambda: kp.networks.SIREN(8, 2, frequency=3.0),
    lambda: kp.networks.PirateNet(8, 1),
]


def jumps(model):
    """Return the differences of values and derivatives between the two ends."""
    times = np.linspace(0, 1, 9)
    ends = [np.stack([np.full(9, x), times], 1) for x in (1, 1 + LENGTH)]
    wanted = [U, U.diff(X), U.diff(X, 2), U.diff(X, T)]
    left, right = (np.array(model.predict_expression(wanted, end)) for end in ends)
    return abs(left - right).max() / abs(left).max()


@pytest.mark.parametrize("scales", [None, "auto"])
@pytest.mark.parametrize("network", NETWORKS)
def test_networks_are_periodic_with_all_derivatives(network, scales):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = kp.PINNModel(advection(scales), network())
    assert jumps(model) < 1e-4
    points = np.array([[1.3, 0.2], [2.2, 0.7]])
    np.testing.assert_allclose(
        model(points), model.predict(points, verbose=0), atol=1e-5
    )


def test_user_network_that_is_not_periodic_warns():
    hidden = [keras.layers.Dense(6, "tanh"), keras.layers.Dense(1)]
    with pytest.warns(UserWarning, match=r"periodic in x.*of period 3"):
        kp.PINNModel(advection(), keras.Sequential(hidden))
    closed = keras.Sequential([kp.layers.Periodic([LENGTH, None]), *user_layers()])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert jumps(kp.PINNModel(advection(), closed)) < 1e-4


def user_layers():
    return keras.layers.Dense(6, "tanh"), keras.layers.Dense(1)


@pytest.mark.slow
@pytest.mark.parametrize("hard", [False, True])
def test_a_periodic_wave_is_learned_and_saved(tmp_path, hard):
    keras.utils.set_random_seed(0)
    problem = advection("auto", hard=hard)
    model = kp.PINNModel(problem, kp.networks.MLP(12, 2), seed=0)
    model.compile(kp.optimizers.SSBroyden())
    model.fit(batch_size=300, steps_per_epoch=80, verbose=0)
    logs = model.evaluate(*problem.test_data(30), return_dict=True, verbose=0)
    assert logs["u_relative_l2"] < 2e-2
    model.save(tmp_path / "ring.keras")
    again = kp.load_model(tmp_path / "ring.keras")
    points = RING.grid(5)
    expected = model.predict(points, verbose=0)
    np.testing.assert_allclose(again.predict(points, verbose=0), expected, atol=1e-6)
    assert jumps(again) < 1e-4
