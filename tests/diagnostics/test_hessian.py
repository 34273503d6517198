"""Hessians, compared with dense ones and with known spectra."""

import keras
import numpy as np
import pytest
import sympy as sp
from keras import ops

import keraspinn as kp
import tensors
from keraspinn import backend
from keraspinn.diagnostics import LossHessian, hessian_eigenvalues, hessian_spectrum
from keraspinn.diagnostics.hessian import hessian_products

X = sp.Symbol("x")
U = sp.Function("u")(X)
POINTS = {
    "residual": np.linspace(0.05, 0.95, 7)[:, None],
    "left": np.array([[0.0]]),
}


@pytest.fixture
def double_precision():
    keras.config.set_dtype_policy("float64")
    keras.config.set_floatx("float64")
    yield
    keras.config.set_floatx("float32")
    keras.config.set_dtype_policy("float32")


def nonlinear(network=None):
    problem = kp.Problem(
        kp.geometry.Box({X: (0, 1)}),
        {"ode": sp.Eq(U.diff(X, 2) + U**2, X)},
        {"left": kp.Condition([sp.Eq(U, 1), U.diff(X)], on={X: 0}, weight=3.0)},
        scales=None,
    )
    network = network or kp.networks.MLP(4, 2, standardize=False)
    return kp.PINNModel(problem, network, seed=0)


def dense(model, term):
    """Return the Jacobian of a gradient, for a tanh network on one flat vector."""
    variables = model.trainable_variables
    shapes = [tuple(v.shape) for v in variables]
    theta = np.concatenate([v.numpy().ravel() for v in variables])
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])[:-1].tolist()

    def u(x, theta):
        parts = ops.split(theta, ends)
        w1, b1, w2, b2, w3, b3 = map(ops.reshape, parts, shapes)
        return ops.tanh(ops.tanh(x @ w1 + b1) @ w2 + b2) @ w3 + b3

    def u_x(x, theta):
        return tensors.gradient(lambda x: ops.sum(u(x, theta)), x)

    def loss(theta):
        x = ops.convert_to_tensor(POINTS["residual"])
        u_xx = tensors.gradient(lambda x: ops.sum(u_x(x, theta)), x)
        residual = ops.mean((u_xx + u(x, theta) ** 2 - x) ** 2)
        x = ops.convert_to_tensor(POINTS["left"])
        left = ops.mean((u(x, theta) - 1.0) ** 2) + ops.mean(u_x(x, theta) ** 2)
        return {"residual": residual, "left": left, "loss": residual + 3.0 * left}[term]

    def slope(theta):
        return tensors.gradient(loss, theta)

    return ops.convert_to_numpy(tensors.jacobian(slope, ops.convert_to_tensor(theta)))


@pytest.mark.slow
@pytest.mark.parametrize("term", ["residual", "left", "loss"])
def test_loss_hessian_is_the_dense_hessian(double_precision, term):
    model = nonlinear()
    hessian = LossHessian(model, term, POINTS)
    expected = dense(model, term)
    matrix = hessian.matrix()
    np.testing.assert_array_equal(matrix, matrix.T)
    scale = np.abs(expected).max()
    np.testing.assert_allclose(matrix, expected, atol=1e-11 * scale)
    vectors = np.random.default_rng(0).normal(size=(5, hessian.size))
    np.testing.assert_allclose(
        hessian.products(vectors), vectors @ expected, atol=1e-10 * scale
    )
    spectrum = np.linalg.eigvalsh(expected)
    np.testing.assert_allclose(
        hessian_spectrum(model, term, POINTS, verbose=0)[term],
        spectrum,
        atol=1e-10 * scale,
    )
    for which, ends in {
        "largest": spectrum[-2:],
        "smallest": spectrum[:2],
        "both": spectrum[[0, 1, -2, -1]],
    }.items():
        eigenvalues = hessian.eigenvalues(2, which, tolerance=1e-12)
        np.testing.assert_allclose(eigenvalues, ends, rtol=1e-9)


def quadratic():
    """u = φ(x)·w + b with φ fixed and tanh: every loss here is quadratic in (w, b)."""
    points = np.linspace(-1, 1, 40)[:, None]
    problem = kp.Problem(
        kp.geometry.Box({X: (-1, 1)}),
        {"ode": U.diff(X)},
        {"sensors": kp.Data(points, {U: points[:, 0]}, weight=5.0)},
    )
    features = keras.layers.Dense(
        20,
        "tanh",
        kernel_initializer=keras.initializers.RandomNormal(seed=1),
        bias_initializer=keras.initializers.RandomNormal(stddev=0.5, seed=2),
    )
    network = keras.Sequential([features, keras.layers.Dense(1)])
    model = kp.PINNModel(problem, network, seed=0)
    features.trainable = False
    inner = points @ features.kernel.numpy() + features.bias.numpy()
    slopes = (1 - np.tanh(inner) ** 2) * features.kernel.numpy()
    values = np.hstack([np.tanh(inner), np.ones_like(points)])
    slopes = np.hstack([slopes, np.zeros_like(points)])
    hessians = {
        "sensors": 2 / len(points) * values.T @ values,
        "residual": 2 / len(points) * slopes.T @ slopes,
    }
    hessians["loss"] = hessians["residual"] + 5 * hessians["sensors"]
    return model, points, hessians


@pytest.mark.parametrize("term", ["sensors", "residual", "loss"])
def test_spectrum_of_a_quadratic_loss(term):
    model, points, hessians = quadratic()
    expected = np.linalg.eigvalsh(hessians[term])
    eigenvalues = hessian_spectrum(model, term, points, verbose=0)[term]
    np.testing.assert_allclose(eigenvalues, expected, atol=1e-6 * expected[-1])
    largest = hessian_eigenvalues(model, term, points=points)[term]
    np.testing.assert_allclose(largest, expected[-1:], rtol=1e-4)


def test_hessian_points_are_the_same_in_each_call():
    model = nonlinear()
    first, again = (
        hessian_eigenvalues(model, ["residual"], batch_size=5) for _ in range(2)
    )
    np.testing.assert_array_equal(first["residual"], again["residual"])
    other = hessian_eigenvalues(model, ["residual"], batch_size=6)
    assert first["residual"] != other["residual"]


@pytest.mark.slow
def test_the_spectrum_s_ends_are_the_extreme_eigenvalues():
    model = kp.PINNModel(kp.problems.helmholtz(), kp.networks.ModifiedMLP(6, 2), seed=0)
    spectra = hessian_spectrum(model, batch_size=8, verbose=0)
    assert list(spectra) == ["residual", "boundary"]
    ends = hessian_eigenvalues(model, list(spectra), which="both", batch_size=8)
    for name, spectrum in spectra.items():
        assert len(spectrum) == model.network.count_params()
        np.testing.assert_allclose(ends[name], spectrum[[0, -1]], rtol=1e-3)


@pytest.mark.slow
def test_hessian_of_the_loss_includes_regularizers():
    plain, penal = (
        nonlinear(
            keras.Sequential(
                [
                    keras.layers.Dense(3, "tanh"),
                    keras.layers.Dense(1, kernel_regularizer=penalty),
                ]
            )
        )
        for penalty in (None, keras.regularizers.L2(7.0))
    )
    penal.set_weights(plain.get_weights())
    difference = LossHessian(penal, "loss", POINTS).matrix()
    difference -= LossHessian(plain, "loss", POINTS).matrix()
    expected = np.diag([0.0] * 6 + [14.0] * 3 + [0.0])
    np.testing.assert_allclose(difference, expected, atol=1e-4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"terms": "top"}, "no term 'top'"),
        ({"k": 0}, "`k` must be a positive integer.* Received: 0"),
        ({"which": "LM"}, "`which` must be one of .*'largest'.* Received: 'LM'"),
        ({"which": ["largest"]}, r"`which` must be one of .*: \['largest'\]"),
        ({"points": np.zeros((3, 2))}, r"shape \(n, 1\)"),
    ],
)
def test_hessian_eigenvalues_reject_invalid_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        hessian_eigenvalues(nonlinear(), **arguments)


def test_hessian_rejects_too_little_memory_other_models_and_nan_weights():
    with pytest.raises(ValueError, match="33 parameters would take .* max_gigabytes="):
        hessian_spectrum(nonlinear(), max_gigabytes=1e-9)
    with pytest.raises(TypeError, match="must be a keraspinn.PINNModel"):
        hessian_spectrum(keras.Sequential())
    model = nonlinear()
    model.network.head.bias.assign([np.nan])
    with pytest.raises(ValueError, match="not finite: the weights"):
        hessian_eigenvalues(model)


@pytest.mark.parametrize("count", [1, 3])
def test_hessian_products_follow_the_inputs_and_the_variables(count):
    """Return f = a Σ x² y_j with x (2,), y (3,), and its Hessian in closed form."""
    x, y = keras.Variable([1.0, 2.0]), keras.Variable([[3.0], [4.0], [5.0]])
    unused = keras.Variable([7.0])
    variables = [x, y, unused]
    products = backend.compiled(
        hessian_products(
            lambda a: a * ops.sum(x.value**2) * ops.sum(y.value), variables
        ),
        variables,
    )

    def expected(a, x, y):
        hessian = np.zeros((6, 6))
        hessian[:2, :2] = 2 * a * y.sum() * np.eye(2)
        hessian[:2, 2:5] = 2 * a * np.outer(x, np.ones(3))
        hessian[2:5, :2] = hessian[:2, 2:5].T
        return hessian

    vectors = np.random.default_rng(0).normal(size=(count, 6))
    for a in (1.0, -2.0):
        hessian = expected(a, x.numpy(), y.numpy())
        np.testing.assert_allclose(
            products(ops.convert_to_tensor(a), vectors), vectors @ hessian, rtol=1e-5
        )
        x.assign([3.0, -1.0])
