"""Loss as a function of one vector, compared with the losses of a step."""

import keras
import numpy as np
import pytest
import sympy as sp
from keras import ops

import keraspinn as kp
from keraspinn.training.flat import FlatObjective, joined

X, Y = sp.symbols("x y")
U = sp.Function("u")(X, Y)
TABLE = np.array([[0.1, 0.2], [0.2, 0.7], [0.9, 0.4]])


@pytest.fixture(scope="module")
def model():
    c = kp.Parameter("c", initial=0.7)
    domain = kp.geometry.Box({X: (0, 1), Y: (0, 1)})
    flux = kp.normal_derivative(U, domain)
    problem = kp.Problem(
        domain,
        {"heat": sp.Eq(U.diff(Y), c * U.diff(X, 2) + sp.sin(X)), "u": U * U.diff(X)},
        {
            "sides": kp.Condition(U - Y, on=[{X: 0}, {X: 1}], weight=3.0),
            "flux": kp.Condition(sp.Eq(flux, U), on=[{Y: 0}, {Y: 1}]),
            "data": kp.Data(TABLE, {U: [0.1, 0.3, 0.2]}, weight=0.5),
            "flow": kp.Condition(
                [
                    kp.integral(U**2, over={X: 1}) - c * kp.integral(X * U),
                    sp.Eq(kp.integral(U, over="boundary"), 1),
                ],
                weight=2.0,
            ),
        },
    )
    keras.utils.set_random_seed(0)
    network = kp.networks.MLP(5, 2, dtype="float64")
    network.layers[0].kernel_regularizer = keras.regularizers.L2(0.01)
    model = kp.PINNModel(problem, network, seed=1, dtype="float64")
    model.compile(kp.optimizers.BFGS(), jit_compile=False)
    model.fit(batch_size=6, steps_per_epoch=1, verbose=0)
    return model


def flat_of(model, largest=None):
    step, state = model.trainer.step, model.trainer.state.read()
    object.__setattr__(step, "largest", largest)
    iteration = ops.convert_to_tensor(3, "int32")
    batches, _ = step.points(state, iteration)
    flat = FlatObjective(step, batches, state["weights"], state, iteration)
    return flat, joined(state["variables"])


def differences(function, at, eps=1e-5):
    """Return central differences by each parameter, a row each."""
    steps = eps * np.eye(len(at))
    return np.array(
        [
            (np.array(function(at + step)) - np.array(function(at - step))) / (2 * eps)
            for step in steps
        ]
    )


@pytest.mark.slow
def test_split_inverts_flatten(model):
    flat, parameters = flat_of(model)
    values = flat.split(parameters)
    for value, variable in zip(values, model.trainable_variables, strict=True):
        np.testing.assert_array_equal(value, variable.numpy())
    np.testing.assert_array_equal(joined(values), parameters)


@pytest.mark.slow
def test_loss_is_the_weighted_sum_of_terms_and_regularizers(model):
    flat, parameters = flat_of(model)
    losses = model._objective.losses(flat.batches, model.loss_weights)
    expected = losses["residual_loss"] + 3 * losses["sides_loss"]
    expected = expected + 0.5 * losses["data_loss"] + losses["flux_loss"]
    expected = expected + 2 * losses["flow_loss"]
    kernel = model.network.layers[0].kernel
    expected = expected + kernel.regularizer(kernel)
    assert float(flat.loss(parameters)) == pytest.approx(float(expected), rel=1e-12)
    assert float(losses["data_loss"]) > 0


@pytest.mark.slow
def test_gradient_of_the_loss(model):
    flat, parameters = flat_of(model)
    loss, gradient = flat.value_and_gradient(parameters)
    assert float(loss) == pytest.approx(float(flat.loss(parameters)), rel=1e-12)
    expected = differences(flat.loss, np.array(parameters))
    np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-8)


def test_squared_residual_rows_sum_to_the_loss(model):
    flat, parameters = flat_of(model)
    rows = flat.residuals(parameters)
    assert rows.shape == (3 * 2 * 6 + 3 + 2,)
    penalty = flat.loss(parameters) - np.sum(np.array(rows) ** 2)
    kernel = model.network.layers[0].kernel
    regularization = float(kernel.regularizer(kernel))
    assert regularization > 0 and float(penalty) == pytest.approx(
        regularization, abs=1e-12
    )


@pytest.mark.slow
def test_jacobian_products_match_finite_differences(model):
    flat, parameters = flat_of(model)
    jacobian = differences(flat.residuals, np.array(parameters)).T
    np.testing.assert_allclose(
        flat.jacobian(parameters), jacobian, rtol=1e-5, atol=1e-7
    )
    random = np.random.default_rng(0)
    direction, rows = (random.normal(size=n) for n in reversed(jacobian.shape))
    forward = flat.jvp(parameters, ops.convert_to_tensor(direction))
    np.testing.assert_allclose(forward, jacobian @ direction, rtol=1e-6, atol=1e-7)
    backward = flat.vjp(parameters, ops.convert_to_tensor(rows))
    np.testing.assert_allclose(backward, rows @ jacobian, rtol=1e-6, atol=1e-7)


def test_chunked_points_give_the_same_loss(model):
    flat, parameters = flat_of(model)
    loss, gradient = flat.value_and_gradient(parameters)
    part, _ = flat_of(model, largest=4)
    assert float(part.loss(parameters)) == pytest.approx(float(loss), rel=1e-12)
    one, slope = part.value_and_gradient(parameters)
    assert float(one) == pytest.approx(float(loss), rel=1e-12)
    np.testing.assert_allclose(slope, gradient, rtol=1e-9, atol=1e-12)


def test_resampling_keeps_tabulated_points(model):
    flat, parameters = flat_of(model)
    other = flat.fresh()
    for name in ("residual", "sides"):
        points, resampled = (np.array(f.batches[name].points) for f in (flat, other))
        assert points.shape == resampled.shape
        assert not np.isin(resampled[:, 1], points[:, 1]).any()
    np.testing.assert_array_equal(
        other.batches["data"].coordinates, flat.batches["data"].coordinates
    )
    again = flat.fresh()
    assert float(again.loss(parameters)) == float(other.loss(parameters))
    assert float(other.loss(parameters)) != float(flat.loss(parameters))
