import numpy as np
import pytest
import sympy as sp
from keras import ops

import keraspinn as kp
from keraspinn.sampling.place import Place

X, Y = sp.symbols("x y")
U = sp.Function("u")(X, Y)
BOX = kp.geometry.Box({X: (0, 1), Y: (10, 14)})


def make_place(on, requested=5, dtype="float64"):
    condition = kp.Condition([U, U.diff(X)], on=on)
    problem = kp.Problem(BOX, {"e": U.diff(X)}, {"c": condition}, scales=None)
    what = problem.terms["c"], BOX, problem.scales, requested, dtype
    return Place(*what, across_replicas=lambda count: count)


def counter(start=0):
    """Substitute for random numbers: distinct known numbers."""
    rng = np.random.default_rng(start)
    return lambda shape: ops.convert_to_tensor(rng.uniform(size=shape), "float64")


def loss(batch, function):
    return float(ops.sum(batch.weights * ops.square(function(batch.coordinates))))


def test_boundary_is_one_mean_and_a_list_a_sum_of_means():
    def ones(points):
        return ops.ones_like(points[:, 0])

    faces = [{X: 0}, {X: 1}, {Y: 10}]
    for on, expected in (("boundary", 1.0), (faces, 3.0)):
        drawn = make_place(on).draw(counter())
        assert loss(drawn, ones) == pytest.approx(expected)


def test_samples_the_requested_number_of_points_on_each_face():
    assert make_place("boundary", 7).draw(counter()).points.shape == (28, 2)
    assert make_place([{X: 0}, {Y: 14}], 7).draw(counter()).points.shape == (14, 2)
    assert make_place("boundary", 7).count() == 28


def test_points_are_scaled_and_coordinates_are_not():
    batch = make_place({Y: 14}).draw(counter())
    assert (np.array(batch.coordinates)[:, 1] == 14).all()
    np.testing.assert_allclose(batch.points[:, 1], np.sqrt(3))
    expected = (np.array(batch.coordinates) - [0.5, 12]) / BOX.half * np.sqrt(3)
    np.testing.assert_allclose(batch.points, expected, atol=1e-12)


def test_points_passed_to_fit_count_in_their_blocks():
    points = [[0, 10.1], [0, 11], [0, 12], [1, 13]]
    batch = make_place([{X: 0}, {X: 1}]).given(ops.convert_to_tensor(points, "float64"))
    np.testing.assert_allclose(batch.weights, [1 / 3, 1 / 3, 1 / 3, 1])


def test_sampled_and_passed_points_make_the_same_loss():
    for on in ("boundary", [{X: 0}, {Y: 14}]):
        place = make_place(on, 6)
        drawn = place.draw(counter(1))

        def function(points):
            return ops.sin(3 * points[:, 0]) + points[:, 1]

        passed = place.given(drawn.coordinates)
        assert loss(passed, function) == pytest.approx(loss(drawn, function))
        np.testing.assert_allclose(passed.points, drawn.points, atol=1e-12)


def test_float32_resolves_times_within_a_century():
    t = sp.Symbol("t")
    moments = kp.geometry.Box({t: (1.7e9, 1.7e9 + 100)})
    u = sp.Function("u")(t)
    problem = kp.Problem(
        moments, {"e": u.diff(t)}, {"c": kp.Condition(u, on={t: 1.7e9})}
    )
    what = problem.terms["residual"], moments, problem.scales, 1000, "float32"
    place = Place(*what, across_replicas=lambda count: count)
    rng = np.random.default_rng(0)
    drawn = place.draw(lambda s: ops.convert_to_tensor(rng.uniform(size=s), "float32"))
    assert len(np.unique(np.array(drawn.points))) > 990
    points = 1.7e9 + np.linspace(0, 100, 1000)[:, None]
    passed = place.given(ops.convert_to_tensor(points, "float64"))
    assert len(np.unique(np.array(passed.points))) > 990


def test_points_of_an_integral_are_refused():
    mean = kp.Condition(sp.Eq(kp.integral(U), 1))
    problem = kp.Problem(BOX, {"e": U.diff(X)}, {"mean": mean}, scales=None)
    settings = problem.terms["mean"], BOX, problem.scales, 5, "float64"
    points = ops.convert_to_tensor([[0.5, 11.0]], "float64")
    with pytest.raises(ValueError, match="'mean' is a condition on integrals"):
        Place(*settings, across_replicas=lambda count: count).given(points)
