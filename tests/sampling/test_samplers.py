import keras
import numpy as np
import pytest
import sympy as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from keras import ops

import keraspinn as kp
from keraspinn.sampling.residual_based import at_most_once, systematic
from keraspinn.sampling.sources import PointSources
from keraspinn.training.points import point_sources

X = sp.Symbol("x")
U = sp.Function("u")(X)
PROBLEM = kp.Problem(
    kp.geometry.Box({X: (0, 1)}),
    {"e": U.diff(X)},
    {"left": kp.Condition(U, on={X: 0})},
)


def near_one(name, batch):
    """Return a residual that is nonzero only near x = 1."""
    return ops.cast(batch.coordinates[:, 0] > 0.9, "float64")


def drawn(sampler, iterations, count=100):
    sources = PointSources(PROBLEM, "float64", count, default=sampler)
    states = sources.init(0)
    for iteration in iterations:
        batches, states = sources.step(
            states, 0, ops.convert_to_tensor(iteration), near_one
        )
        yield np.array(batches["residual"].coordinates)[:, 0]


def test_resampled_points_stay_until_due():
    batches = list(drawn(kp.sampling.Renewed(every=3), range(7)))
    for step in (0, 3):
        np.testing.assert_array_equal(batches[step], batches[step + 1])
        np.testing.assert_array_equal(batches[step], batches[step + 2])
        assert not np.intersect1d(batches[step], batches[step + 3]).size


def test_adaptive_points_gather_at_large_residuals():
    (points,) = drawn(kp.sampling.ResidualBased(every=5, c=0.1), [0], 1000)
    # Density 1 / 0.1 + c within, c outside.
    expected = 0.1 * 10.1 / (0.1 * 10.1 + 0.9 * 0.1)
    assert np.mean(points > 0.9) == pytest.approx(expected, abs=0.02)
    (uniform,) = drawn(kp.sampling.ResidualBased(every=5, k=0), [0], 1000)
    assert np.mean(uniform > 0.9) == pytest.approx(0.1, abs=0.03)


def test_gauss_newton_draws_points_where_the_residual_is_large():
    optimizers, u = kp.optimizers, sp.Function("u")(X)
    bar = kp.Problem(PROBLEM.domain, energy=kp.integral(u.diff(X) ** 2 / 2 - u))
    cases = [
        (PROBLEM, optimizers.GaussNewton(), kp.sampling.ResidualBased, 1, 3000),
        (PROBLEM, optimizers.SSBroyden(300), kp.sampling.ResidualBased, 300, 3000),
        (bar, optimizers.GaussNewton(), kp.sampling.Uniform, None, 16_384),
    ]
    for problem, optimizer, kind, period, count in cases:
        arguments = problem, optimizer, "float64", None, None, None
        sources = point_sources(*arguments)
        sampler = sources.samplers["residual"]
        assert type(sampler) is kind and getattr(sampler, "every", None) == period
        assert sources.places["residual"].requested == count
    (stage,) = kp.recipes.OneStage().stages  # smooth in a window of `march`
    assert type(stage.fit["x"]) is kp.sampling.Uniform


@given(
    density=st.lists(st.sampled_from([0.0, 0.5, 1.0, 7.0]), min_size=1, max_size=40),
    count=st.integers(1, 30),
    offset=st.sampled_from([0.0, 0.25, 0.9]),
)
@settings(max_examples=50)
def test_systematic_sampling_inverts_the_cumulative_density(density, count, offset):
    density = np.array(density)
    marks = (np.arange(count) + offset) * density.sum() / count
    # No mark coincides with a partial sum, where round-off decides.
    near = abs(np.cumsum(density)[:, None] - marks) < 1e-6 * density.sum()
    assume(density.sum() > 0 and not near.any())
    rows = systematic(ops.convert_to_tensor(density), count, offset)
    expected = np.searchsorted(np.cumsum(density), marks, side="right")
    np.testing.assert_array_equal(ops.convert_to_numpy(rows), expected)


def test_systematic_sampling_follows_the_density():
    density = ops.convert_to_tensor([0.0, 1.0, 3.0, 0.0, 4.0])
    rows = np.array(systematic(density, 8, ops.convert_to_tensor(0.5)))
    np.testing.assert_array_equal(rows, [1, 2, 2, 2, 4, 4, 4, 4])


def test_adaptive_points_are_distinct():
    density = np.ones(2000)
    density[[3, 500, 501]] = 1e6, 1e4, 30
    rows = systematic(at_most_once(ops.convert_to_tensor(density), 100), 100, 0.5)
    rows = ops.convert_to_numpy(rows)
    assert len(np.unique(rows)) == 100 and {3, 500, 501} <= set(rows.tolist())
    even = ops.convert_to_tensor(np.linspace(1, 3, 200))
    np.testing.assert_array_equal(at_most_once(even, 60), even)


def test_resampling_does_not_recompile():
    model = kp.PINNModel(PROBLEM, kp.networks.MLP(4, 1), seed=0)
    model.compile("sgd", jit_compile=False)
    run = {"batch_size": 16, "steps_per_epoch": 7, "verbose": 0}
    model.fit(kp.sampling.ResidualBased(every=3), **run)
    program = model.train_function
    model.fit(kp.sampling.ResidualBased(every=3), **run)
    assert model.train_function is program
    model.fit(**run)
    assert model.train_function is not program


def test_held_points_of_equal_shape_share_a_program():
    model = kp.PINNModel(PROBLEM, kp.networks.MLP(4, 1), seed=0)
    model.compile("sgd", jit_compile=False)
    run = {"steps_per_epoch": 2, "verbose": 0}
    first = model.fit(np.full((4, 1), 0.1), **run)
    program = model.train_function
    keras.utils.set_random_seed(0)
    second = model.fit(np.full((4, 1), 0.9), **run)
    assert model.train_function is program
    assert first.history["loss"] != second.history["loss"]


@pytest.mark.parametrize(
    ("wrong", "word"),
    [({"every": 0}, "every"), ({"k": -1}, "k"), ({"pool": 1.5}, "pool")],
)
def test_residual_based_rejects_invalid_arguments(wrong, word):
    with pytest.raises(ValueError, match=word):
        kp.sampling.ResidualBased(**wrong)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((np.zeros(3),), r"\(n, d\).*shape \(3,\)"),
        ((np.zeros((0, 1)),), r"shape \(0, 1\)"),
        ((np.array([[np.nan]]),), "must be finite.*row 0"),
        ((np.zeros((3, 1)), np.zeros((2, 1))), r"`targets`.*\(3, k\).*shape \(2, 1\)"),
        ((np.zeros((3, 1)), None, 0), "`count` must be a positive integer"),
    ],
)
def test_held_rejects_invalid_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        kp.sampling.Held(*arguments)
