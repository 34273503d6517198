import numpy as np
import pytest
import sympy as sp
from keras import ops

import keraspinn as kp
from keraspinn.terms import Batch

X, Y = sp.symbols("x y")
U = sp.Function("u")(X, Y)
BOX = kp.geometry.Box({X: (0, 1), Y: (0, 1)})


def term(on):
    condition = kp.Condition([U, U.diff(X)], on=on)
    return kp.Problem(BOX, {"e": U.diff(X)}, {"c": condition}).terms["c"]


def counter(start=0):
    """Stands in for random numbers: different, known ones."""
    rng = np.random.default_rng(start)
    return lambda shape: ops.convert_to_tensor(rng.uniform(size=shape), "float64")


def loss(term, batch, first, second):
    return float(term.loss([first(batch.points), second(batch.points)], batch))


def test_boundary_is_one_mean_and_a_list_a_sum_of_means():
    def ones(points):
        return ops.ones_like(points[:, 0])

    faces = [{X: 0}, {X: 1}, {Y: 0}]
    for on, expected in (("boundary", 2.0), (faces, 6.0), ([{X: 0}, "boundary"], 4.0)):
        drawn = term(on).draw(5, counter())
        assert loss(term(on), drawn, ones, ones) == pytest.approx(expected)


def test_draws_the_number_of_points_asked_for_on_each_face():
    assert term("boundary").draw(7, counter()).points.shape == (28, 2)
    assert term([{X: 0}, {Y: 1}]).draw(7, counter()).points.shape == (14, 2)
    assert term("boundary").count(7) == 28


def test_given_points_count_in_the_blocks_they_lie_on():
    own = term([{X: 0}, {X: 1}])
    points = ops.convert_to_tensor([[0, 0.1], [0, 0.2], [0, 0.3], [1, 0.5]], "float64")
    batch = own.given(points)
    np.testing.assert_allclose(batch.weights, [1 / 3, 1 / 3, 1 / 3, 1])


def test_drawn_and_given_points_make_the_same_loss():
    for on in ("boundary", [{X: 0}, {Y: 1}]):
        own = term(on)
        drawn = own.draw(6, counter(1))

        def first(points):
            return ops.sin(3 * points[:, 0]) + points[:, 1]

        def second(points):
            return points[:, 0] * points[:, 1]

        assert loss(own, own.given(drawn.points), first, second) == pytest.approx(
            loss(own, drawn, first, second)
        )


def test_data_are_used_whole_or_drawn():
    points = np.arange(10).reshape(5, 2) / 10
    data = kp.Data(points, {U: points[:, 0] * 100})
    own = kp.Problem(BOX, {"e": U}, {"d": data}).terms["d"]
    whole = own.draw(128, counter())
    np.testing.assert_array_equal(whole.points, points)
    part = own.draw(3, counter())
    assert part.points.shape == (3, 2)
    np.testing.assert_allclose(part.targets[:, 0], part.points[:, 0] * 100)
    misfit = own.loss([whole.targets[:, 0] + 2.0], whole)
    assert float(misfit) == pytest.approx(4.0)


@pytest.mark.parametrize("weights", ["number", "tensor"])
@pytest.mark.parametrize("targets", [False, True])
@pytest.mark.parametrize("largest", [1, 3, 4, 6, 7, 100, None])
def test_parts_of_a_batch_have_its_loss(largest, targets, weights):
    rng = np.random.default_rng(0)
    points = rng.uniform(size=(7, 2))
    batch = Batch(
        ops.convert_to_tensor(points),
        1 / 7 if weights == "number" else ops.convert_to_tensor(rng.uniform(size=7)),
        ops.convert_to_tensor(rng.uniform(size=(7, 1))) if targets else None,
    )

    def loss(part):
        target = 0.0 if part.targets is None else part.targets[:, 0]
        return ops.sum(part.weights * ops.square(part.points[:, 1] - target))

    count, part = batch.parts(largest)
    parts = [part(number) for number in range(count)]
    assert all(p.points.shape[0] <= (largest or 7) for p in parts)
    assert count == (1 if largest is None else -(-7 // largest))
    np.testing.assert_allclose(sum(map(loss, parts)), loss(batch), rtol=1e-12)
