"""Known functions of the coordinates as inputs of a network."""

import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn as kp

X, Y = sp.symbols("x y")


def test_values_follow_the_points():
    layer = kp.layers.Features([X * Y, sp.erf(Y)], ["x", "y"], dtype="float64")
    points = np.random.default_rng(0).uniform(-1, 1, (4, 2))
    values = keras.ops.convert_to_numpy(layer(points))
    np.testing.assert_array_equal(values[:, :2], points)
    np.testing.assert_allclose(values[:, 2], points.prod(axis=1), rtol=1e-12)


@pytest.mark.parametrize("wrong", [sp.gamma(X), sp.Symbol("z") + X, X**Y])
def test_functions_without_a_rule_and_unknown_symbols_raise(wrong):
    with pytest.raises(ValueError, match="Features are sums.*Received"):
        kp.layers.Features([wrong], [X, Y])


def test_network_with_features_is_saved_and_loaded(tmp_path):
    u = sp.Function("u")(X, Y)
    problem = kp.Problem(
        kp.geometry.Box({X: (0, 1), Y: (0, 1)}),
        {"laplace": u.diff(X, 2) + u.diff(Y, 2)},
        {
            "top": kp.Condition(sp.Eq(u, 1), on={Y: 1}),
            "rest": kp.Condition(u, on=[{X: 0}, {X: 1}, {Y: 0}]),
        },
    )
    model = kp.PINNModel(problem, kp.networks.MLP(4, 1), seed=0)
    model.save(tmp_path / "plate.keras")
    points = problem.domain.grid(5)
    np.testing.assert_array_equal(
        kp.load_model(tmp_path / "plate.keras").predict(points, verbose=0),
        model.predict(points, verbose=0),
    )
    assert model.network.get_layer("features").expressions
