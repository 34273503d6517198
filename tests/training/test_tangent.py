import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn as kp
from keraspinn.training.tangent import Tangent

X = sp.Symbol("x")
U = sp.Function("u")(X)


def model_with_a_layer(width):
    """Return a model of u' = 1 with u = x + tanh((x - 1) / width), about."""
    problem = kp.Problem(
        kp.geometry.Box({X: (0, 1)}),
        {"slope": U.diff(X) - 1},
        {"left": kp.Condition(U, on={X: 0})},
        scales=None,
    )
    hidden = keras.layers.Dense(2, activation="tanh")
    network = keras.Sequential([hidden, keras.layers.Dense(1)])
    model = kp.PINNModel(problem, network, seed=0)
    first, last = network.layers
    # The inputs of a network are scaled to [-1, 1].
    first.set_weights([np.array([[1e-3, 0.5 / width]]), np.array([0, -0.5 / width])])
    last.set_weights([np.array([[500.0], [1.0]]), np.array([1.5])])
    return model


def test_rows_by_residual_sample_a_narrow_layer():
    model = model_with_a_layer(width=0.01)
    tangent = Tangent(model, 200, 10)
    uniform, weighted = tangent.rows(tangent.draw(-1)), tangent.rows_by_residual(-1)
    assert [r.shape for r, _ in weighted["residual"]] == [(200,)]
    assert weighted["left"][0][1].shape == (1, tangent.size)
    (fine, _), (coarse, _) = weighted["residual"][0], uniform["residual"][0]
    large = [np.sum(abs(rows) > 1) for rows in (coarse, fine)]
    assert large[0] < 12 and large[1] > 60
    values, _ = tangent.moved(tangent.draw(-2, 100_000), np.zeros(tangent.size))
    exact = np.mean(np.square(values["residual"][0]))
    assert np.mean(fine**2) == pytest.approx(exact, rel=0.2)


def test_rows_by_residual_of_an_even_residual_are_uniform():
    model = model_with_a_layer(width=0.01)
    last = model.network.layers[-1]
    last.set_weights([np.array([[0.0], [0.0]]), np.array([0.0])])
    tangent = Tangent(model, 100, 10)
    (residual, jacobian) = tangent.rows_by_residual(-1)["residual"][0]
    assert np.isfinite(jacobian).all()
    np.testing.assert_allclose(residual, residual[0])


def test_number_of_points_of_equations_is_a_choice_of_each_draw():
    tangent = Tangent(model_with_a_layer(width=0.1), 20, 10)
    sizes = {n: b.points.shape[0] for n, b in tangent.draw(-2, 160).items()}
    assert sizes == {"residual": 160, "left": 1}


def test_a_frozen_network_has_no_tangent_space():
    model = model_with_a_layer(width=0.1)
    model.network.trainable = False
    with pytest.raises(ValueError, match="frozen.*network.trainable = True"):
        Tangent(model, 20, 10)
    model.network.trainable = True
    assert Tangent(model, 20, 10).size == 7


@pytest.mark.parametrize("rate", [1.0, kp.Parameter("k", initial=2.0)])
def test_widened_tangent_has_the_residuals_of_the_model(rate):
    problem = kp.Problem(
        kp.geometry.Box({X: (0, 1)}),
        {"slope": U.diff(X) - rate},
        {"left": kp.Condition(U, on={X: 0}), "end": kp.Condition(U - 2, on={X: 1})},
    )
    model = kp.PINNModel(problem, kp.networks.MLP(1, 1), seed=0).astype("float64")
    tangent = Tangent(model, 20, 5)
    for _ in range(2):
        wider = tangent.widened(5)
        assert wider.size >= 3 * tangent.size
        (expected, rows), (values, columns) = (
            side.rows(side.draw(-1))["residual"][0] for side in (tangent, wider)
        )
        np.testing.assert_allclose(values, expected, rtol=1e-12)
        assert np.linalg.matrix_rank(columns) > np.linalg.matrix_rank(rows)
        # A later one follows the weights.
        model.set_weights([1.5 * w for w in model.get_weights()])


def test_only_a_plain_network_without_measurements_is_widened():
    measured = kp.Problem(
        kp.geometry.Box({X: (0, 1)}),
        {"slope": U.diff(X) - 1},
        {"data": kp.Data([[0.0], [1.0]], {U: [0.0, 1.0]})},
    )
    model = kp.PINNModel(measured, kp.networks.MLP(4, 1), seed=0)
    assert Tangent(model, 20, 5).widened(2) is None
    assert Tangent(model_with_a_layer(0.1), 20, 5).widened(2) is None


def test_a_widened_tangent_leaves_the_models_file_as_it_is(tmp_path):
    problem = kp.problems.poisson()
    model = kp.PINNModel(problem, kp.networks.MLP(4, 1), seed=0).astype("float64")
    model.save_weights(tmp_path / "before.weights.h5")
    assert Tangent.kept(model, 20, 5).widened(3).size > Tangent(model, 20, 5).size
    model.load_weights(tmp_path / "before.weights.h5")
    model.save_weights(tmp_path / "after.weights.h5")
    sizes = [path.stat().st_size for path in tmp_path.iterdir()]
    assert sizes[0] == sizes[1]


@pytest.mark.parametrize("change", ["frozen", "lora"])
def test_a_network_with_other_weights_is_not_widened(change):
    problem, network = kp.problems.poisson(), kp.networks.MLP(4, 2)
    model = kp.PINNModel(problem, network, seed=0).astype("float64")
    hidden = model.network.hidden[1]
    if change == "lora":
        hidden.enable_lora(2)
    else:
        hidden.trainable = False
    assert Tangent(model, 20, 5).widened(2) is None
