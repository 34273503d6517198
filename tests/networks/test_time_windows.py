"""Time windows: continuous at edges, with exact derivatives, saved and loaded."""

import itertools

import keras
import numpy as np
import pytest
import sympy as sp
from keras import ops

import keraspinn as kp
from keraspinn.declaration.windows import restricted
from keraspinn.derivatives.taylor import IndexSet, Taylor, propagate
from keraspinn.networks.active_window import ActiveWindow

EDGES = [0.0, 1.0, 1.5, 3.0]
x, t = sp.symbols("x t")
FIELDS = [sp.Function(name)(x, t) for name in "abc"]
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


def test_uncorrected_velocity_ends_with_its_time_window(windows):
    second = windows.networks[1]
    second.set_weights([0 * weight for weight in second.get_weights()])
    x = np.linspace(-1, 1, 7)
    start, end = values(windows, x, 1.0)[:, 2], values(windows, x, 1.5 - NEAR)[:, 2]
    np.testing.assert_allclose(end, start, atol=10 * NEAR)


def test_jump_scales_and_shifts_the_field_after_an_edge(windows):
    x = np.linspace(-1, 1, 7)
    before, behind = values(windows, x, 1.5 - NEAR), values(windows, x, 1.5 + NEAR)
    np.testing.assert_allclose(0.5 * before[:, 1] + 2, behind[:, 1], atol=1e-5)
    np.testing.assert_allclose(before[:, 2], behind[:, 2], atol=1e-5)


@pytest.mark.parametrize("index", [(2, 0), (1, 1), (0, 2)])
def test_derivatives_agree_with_difference_quotients(windows, index):
    step = 1e-4
    points = np.random.default_rng(0).uniform([-1, 0.1], [1, 2.9], (20, 2))
    points = points[abs(points[:, 1:] - EDGES).min(axis=1) > 2 * step]
    series = windows.call(Taylor.of_points(ops.array(points), IndexSet([index])))
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


@pytest.mark.slow
@pytest.mark.parametrize("index", [(0, 0), (2, 0), (0, 1)])
@pytest.mark.parametrize(
    ("standardize", "features"), [(True, ()), (False, ()), (True, [sp.tanh(3 * x + t)])]
)
def test_active_time_window_agrees_with_all_windows(
    float64_policy, index, standardize, features
):
    problem = kp.Problem(
        kp.geometry.Box({x: (-1, 1)}, time={t: (0, 3)}),
        {f"{f.func}": f.diff(t) - f.diff(x, 2) for f in FIELDS},
        {"initial": kp.Condition(list(FIELDS), on="initial")},
    )
    networks = []
    for start, end in itertools.pairwise(EDGES):
        one = kp.networks.MLP(5, 2, outputs=3, standardize=standardize)
        window = restricted(problem, start, end)
        if standardize:
            known = [] if networks else features  # the first window's
            one.work_in(window.scales, [0.5, 2.0, 3.0], features=known)
        one.build((None, 2))
        networks.append(one)
    jumps, orders = {1.5: [(1.0, 0.0), (0.5, 2.0), (0.5, 0.0)]}, [0, 1, 2]
    all_windows = kp.networks.TimeWindows(networks, EDGES, orders, jumps)
    all_windows.build((None, 2))
    # A program of the second window, which is as long as the third.
    copy = type(networks[2]).from_config(networks[2].get_config())
    if standardize:
        copy.work_in(restricted(problem, 0.0, 1.5).scales, [1.0, 1.0, 1.0])
    active = [copy]
    if features:
        active.append(type(copy).from_config(networks[0].get_config()))
    active = ActiveWindow(active, [0.0, 1.5], orders, capacity=3)
    active.build((None, 2))
    active.follow(networks[:2], networks[2], EDGES, jumps)
    points = np.random.default_rng(0).uniform([-1, 1.5], [1, 3], (20, 2))
    series = Taylor.of_points(ops.array(points), IndexSet([index]))
    earlier = Taylor.of_points(ops.array(points - [0, 1.5]), IndexSet([index]))
    np.testing.assert_allclose(
        propagate(active, earlier).derivative(index),
        propagate(all_windows, series).derivative(index),
        atol=1e-12,
    )
    assert float(active.time_shift.numpy()) == 1.5


def test_config_round_trip(windows):
    clone = kp.networks.TimeWindows.from_config(windows.get_config())
    clone.build((None, 2))
    clone.set_weights(windows.get_weights())
    x = np.linspace(-1, 1, 7)
    np.testing.assert_array_equal(values(clone, x, 2.2), values(windows, x, 2.2))


def test_a_network_without_an_output_for_each_field_is_refused():
    networks = [kp.networks.MLP(units=4, depth=1, outputs=1)]
    network = kp.networks.TimeWindows(networks, [0, 1], orders=[1, 1])
    with pytest.raises(ValueError, match="one output for each"):
        network(np.zeros((3, 2)))
