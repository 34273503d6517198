import numpy as np
import pytest
import sympy as sp

import keraspinn as kp
from keraspinn.sampling import Held
from keraspinn.sampling.sources import PointSources

X, Y = sp.symbols("x y")
U = sp.Function("u")(X, Y)
PROBLEM = kp.Problem(
    kp.geometry.Box({X: (0, 1), Y: (2, 3)}),
    {"e": U.diff(X)},
    {
        "left": kp.Condition(U, on={X: 0}),
        "same": kp.Condition(U.diff(X), on={X: 0}),
        "walls": kp.Condition(U.diff(Y), on="boundary"),
    },
)


def points(sources, iteration=0, seed=1):
    batches = sources.draw(seed, iteration)
    return {name: np.array(batch.coordinates) for name, batch in batches.items()}


def test_points_are_a_function_of_seed_iteration_and_term():
    sources = PointSources(PROBLEM, "float64", 16)
    once = points(sources, 5)
    np.testing.assert_array_equal(once["left"], points(sources, 5)["left"])
    for other in (points(sources, 6), points(sources, 5, seed=2)):
        for name in once:
            assert not np.intersect1d(once[name][:, 1], other[name][:, 1]).size > 2
    assert not np.intersect1d(once["left"][:, 1], once["same"][:, 1]).size


def test_points_do_not_depend_on_other_terms():
    alone = kp.Problem(
        PROBLEM.domain, dict(PROBLEM.equations), {"left": PROBLEM.conditions["left"]}
    )
    np.testing.assert_array_equal(
        points(PointSources(alone, "float64", 16))["left"],
        points(PointSources(PROBLEM, "float64", 16))["left"],
    )


def test_replicas_sample_different_points():
    sources = PointSources(PROBLEM, "float64", 16)
    once = sources.draw(1, 0)
    for replica, same in ((0, True), (1, False)):
        other = sources.step(sources.init(1), 1, 0, None, replica=replica)[0]
        for name, batch in once.items():
            shared = np.intersect1d(batch.points[:, 1], other[name].points[:, 1])
            assert (shared.size > 2) is same


def test_batch_size_may_differ_by_term():
    drawn = points(PointSources(PROBLEM, "float64", {"residual": 10, "walls": 3}))
    assert {name: len(p) for name, p in drawn.items()} == {
        "residual": 10,
        "left": 128,
        "same": 128,
        "walls": 12,
    }


def test_held_points_are_used_whole_or_sampled():
    held = np.array([[0.0, 2.1], [0.0, 2.2], [0.0, 2.3]])
    np.testing.assert_array_equal(
        points(PointSources(PROBLEM, "float64", None, {"left": held}))["left"], held
    )
    drawn = points(PointSources(PROBLEM, "float64", 2, {"left": held}))["left"]
    assert drawn.shape == (2, 2) and np.isin(drawn[:, 1], held[:, 1]).all()


@pytest.mark.parametrize(
    ("batch_size", "held", "message"),
    [
        (0, None, "positive integer.* Received: 0"),
        (2.5, None, "Received: 2.5"),
        (True, None, "Received: True"),
        ({"top": 3}, None, r"names \['top'\], which are no terms"),
        ({"left": -1}, None, r"`batch_size\['left'\]` must be.* Received: -1"),
        (None, {"top": [[0, 1]]}, "no term 'top'. Its terms are"),
        (None, {"left": [0.0, 1.0]}, r"shape \(n, 2\).*\['x', 'y'\]"),
        (None, {"left": [[0.0, 1.0, 2.0]]}, r"Received: shape \(1, 3\)"),
        (None, {"left": [[0.0, np.nan]]}, "must be finite.*row 0"),
        (None, {"left": np.zeros((0, 2))}, r"Received: shape \(0, 2\)"),
        (None, {"left": Held([[0.0, 1.0, 2.0]])}, r"Received: shape \(1, 3\)"),
    ],
)
def test_sources_reject_invalid_points_and_batch_sizes(batch_size, held, message):
    with pytest.raises(ValueError, match=message):
        PointSources(PROBLEM, "float64", batch_size, held)
