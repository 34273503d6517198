"""Time windows: continuous at edges, with exact derivatives, saved and loaded."""

import keras
import numpy as np
import pytest
from keras import ops

import keraspinn as kp
from keraspinn.derivatives.taylor import IndexSet, Taylor

EDGES = [0.0, 1.0, 1.5, 3.0]
NEAR = 1e-7  # distance from an edge, in the unit of time


@pytest.fixture
def windows(float64_policy):
    networks = [kp.networks.MLP(units=5, depth=2, outputs=3) for _ in range(3)]
    jumps = {1.5: [(1.0, 0.0), (0.5, 2.0), (1.0, 0.0)]}
    network = kp.networks.TimeWindows(networks, EDGES, orders=[0, 1, 2], jumps=jumps)
    network.build((None, 2))
    return network


@pytest.fixture
def float64_policy():
    policy = keras.config.dtype_policy()
    keras.config.set_dtype_policy("float64")
    yield
    keras.config.set_dtype_policy(policy)


def values(network, x, t):
    points = np.stack([x, np.broadcast_to(t, x.shape)], axis=-1)
    return ops.convert_to_numpy(network(points))


def test_fields_of_first_and_second_order_are_continuous_at_edges(windows):
    x = np.linspace(-1, 1, 7)
    before, behind = values(windows, x, 1 - NEAR), values(windows, x, 1 + NEAR)
    np.testing.assert_allclose(before[:, 1:], behind[:, 1:], atol=10 * NEAR)
    assert abs(before[:, 0] - behind[:, 0]).min() > 100 * NEAR


def test_the_time_derivative_of_second_order_fields_is_continuous(windows):
    x = np.linspace(-1, 1, 7)
    times = 1 + NEAR * np.array([-2, -1, 1, 2])
    a, b, c, d = (values(windows, x, t)[:, 2] for t in times)
    np.testing.assert_allclose((b - a) / NEAR, (d - c) / NEAR, atol=1e-5)


def test_a_jump_scales_and_shifts_the_field_behind_an_edge(windows):
    x = np.linspace(-1, 1, 7)
    before, behind = values(windows, x, 1.5 - NEAR), values(windows, x, 1.5 + NEAR)
    np.testing.assert_allclose(0.5 * before[:, 1] + 2, behind[:, 1], atol=1e-5)
    np.testing.assert_allclose(before[:, 2], behind[:, 2], atol=1e-5)


@pytest.mark.parametrize("index", [(2, 0), (1, 1), (0, 2)])
def test_derivatives_agree_with_difference_quotients(windows, index):
    step = 1e-4
    points = np.random.default_rng(0).uniform([-1, 0.1], [1, 2.9], (20, 2))
    points = points[abs(points[:, 1:] - EDGES).min(axis=1) > 2 * step]
    series = windows._fields(Taylor.of_points(ops.array(points), IndexSet([index])))
    exact = ops.convert_to_numpy(series.derivative(index))
    quotient = difference(lambda p: ops.convert_to_numpy(windows(p)), points, index)
    np.testing.assert_allclose(exact, quotient, atol=1e-5)


def difference(function, points, index, step=1e-4):
    if not any(index):
        return function(points)
    column = next(k for k, count in enumerate(index) if count)
    lower = tuple(count - (k == column) for k, count in enumerate(index))
    shift = step * np.eye(len(index))[column]
    forward, backward = (
        difference(function, points + sign * shift, lower, step) for sign in (1, -1)
    )
    return (forward - backward) / (2 * step)


def test_only_the_active_window_is_evaluated(windows):
    config = windows.get_config()
    config["active"] = 1
    active = kp.networks.TimeWindows.from_config(config)
    active.build((None, 2))
    active.set_weights(windows.get_weights())
    x = np.linspace(-1, 1, 7)
    np.testing.assert_allclose(values(active, x, 1.2), values(windows, x, 1.2))


def test_config_round_trip(windows):
    clone = kp.networks.TimeWindows.from_config(windows.get_config())
    clone.build((None, 2))
    clone.set_weights(windows.get_weights())
    x = np.linspace(-1, 1, 7)
    np.testing.assert_array_equal(values(clone, x, 2.2), values(windows, x, 2.2))


@pytest.mark.parametrize(
    ("edges", "orders", "word"),
    [
        ([0, 1], [1], "one more"),
        ([0, 2, 1], [1], "increase"),
        ([0, 1, 2], [3], "order"),
    ],
)
def test_edges_and_orders_that_do_not_fit_are_refused(edges, orders, word):
    networks = [kp.networks.MLP(units=2, depth=1) for _ in range(2)]
    with pytest.raises(ValueError, match=word):
        kp.networks.TimeWindows(networks, edges, orders)
