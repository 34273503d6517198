import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn as kp

X, T = sp.symbols("x t")
U, V = sp.Function("u")(X, T), sp.Function("v")(X, T)
PROBLEM = kp.Problem(
    kp.geometry.Box({X: (0, 2)}, time={T: (0, 4)}),
    {"e": U.diff(X) + V.diff(T)},
    fields=[V, U],
    scales=None,
)


@pytest.fixture
def model():
    """Return v = tanh(x) and u = tanh(t) in standardised coordinates."""
    return identity(kp.networks.MLP(2, 1, outputs=2))


def identity(network):
    model = kp.PINNModel(PROBLEM, network)
    network.set_weights([np.eye(2), np.zeros(2)] * 2)
    return model


POINTS = np.random.default_rng(0).uniform(size=(50, 2)) * [2, 4]


def test_chain_rule_of_scaled_coordinates(model):
    x, t = POINTS.T
    width_x, width_t = 2 / np.sqrt(12), 4 / np.sqrt(12)
    v, u = np.tanh((x - 1) / width_x), np.tanh((t - 2) / width_t)
    np.testing.assert_allclose(
        model.predict(POINTS, verbose=0), np.stack([v, u], 1), atol=1e-6
    )
    u_t, v_xx, v_t = model.predict_expression(
        [U.diff(T), V.diff(X, 2), V.diff(T)], POINTS
    )
    np.testing.assert_allclose(u_t, (1 - u**2) / width_t, atol=1e-5)
    np.testing.assert_allclose(v_xx, -2 * v * (1 - v**2) / width_x**2, atol=1e-4)
    np.testing.assert_allclose(v_t, 0, atol=1e-6)


def test_expressions_are_compiled_once(model):
    model.predict_expression(U, POINTS)
    model.predict_expression(U, POINTS[:10])
    assert model._fields._function.cache_info()[:2] == (1, 1)  # hits and misses


def test_custom_networks_receive_unscaled_coordinates():
    layers = [keras.layers.Dense(2, "tanh"), keras.layers.Dense(2)]
    model = identity(keras.Sequential(layers))
    v, u = np.tanh(POINTS.T)
    np.testing.assert_allclose(
        model.predict(POINTS, verbose=0), np.stack([v, u], 1), atol=1e-6
    )
    u_t, v_xx = model.predict_expression([U.diff(T), V.diff(X, 2)], POINTS)
    np.testing.assert_allclose(u_t, 1 - u**2, atol=1e-5)
    np.testing.assert_allclose(v_xx, -2 * v * (1 - v**2), atol=1e-4)


def test_scales_do_not_change_predictions():
    scales = kp.Scales({X: (1.0, 3.0), T: (0.5, 0.1)}, fields={"u": 5.0, "v": 0.1})
    network = kp.networks.MLP(4, 2, outputs=2, standardize=False)
    expressions = [U, V.diff(X, 2) + X * U, U.diff(X, T)]
    values = []
    for problem in (PROBLEM, PROBLEM.with_scales(scales)):
        model = kp.PINNModel(problem, network)
        values.append(model.predict_expression(expressions, POINTS))
    np.testing.assert_allclose(*values, rtol=1e-3, atol=1e-5)


def test_points_may_come_in_batches(model):
    at_once = model.predict(POINTS, verbose=0)
    in_batches = model.predict(POINTS, batch_size=7, verbose=0)
    np.testing.assert_allclose(at_once, in_batches, atol=1e-6)


class Bent(kp.networks.MLP):
    def call(self, x):
        return keras.ops.sin(3 * super().call(x))


def patched():
    network = kp.networks.MLP(4, 1)
    call = network.call
    network.call = lambda x: keras.ops.sin(3 * call(x))
    return network


@pytest.mark.parametrize("network", [lambda: Bent(4, 1), patched])
def test_overridden_call_of_a_network_is_trained(network):
    """Train by `call` if a subclass overrides it; built-in networks use `forward`."""
    x = sp.Symbol("x")
    u = sp.Function("u")(x)
    box = kp.geometry.Box({x: (0, 2)})
    wall = {"wall": kp.Condition(u, on="boundary")}
    problem = kp.Problem(box, {"e": u.diff(x) + 1}, wall)
    trained = kp.PINNModel(problem, network(), seed=0)
    points, step = np.linspace(0.1, 1.9, 7)[:, None], 1e-2
    called = [
        keras.ops.convert_to_numpy(trained(points + d))[:, 0] for d in (step, -step)
    ]
    field, slope = trained.predict_expression([u, u.diff(x)], points)
    np.testing.assert_allclose(field, trained(points)[:, 0], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(slope, (called[0] - called[1]) / (2 * step), atol=1e-2)
    assert trained.derivative_engine == "jvp"
