import functools

import keras
import mpmath as mp
import numpy as np
import pytest
from keras import ops

import keraspinn as kp
from keraspinn import activations
from keraspinn.derivatives.taylor import IndexSet, Taylor
from keraspinn.derivatives.taylor.activations import coefficients_of
from tensors import ON_JAX

ORDER = 6
POINTS = np.array([-4.0, -1.3, -0.2, 0.0, 0.1, 0.7, 2.5, 4.0])


def sigmoid(x):
    return 1 / (1 + mp.exp(-x))


# TensorFlow computes gelu with it in single precision, also on float64 tensors.
GELU_ROOT = float((np.float64 if ON_JAX else np.float32)(0.5**0.5))


def gelu(x):
    return x * (1 + mp.erf(x * GELU_ROOT)) / 2


SMOOTH = {
    "tanh": (keras.activations.tanh, mp.tanh),
    "ops.tanh": (ops.tanh, mp.tanh),
    "sigmoid": (keras.activations.sigmoid, sigmoid),
    "ops.sigmoid": (ops.sigmoid, sigmoid),
    "sin": (activations.sin, mp.sin),
    "ops.sin": (ops.sin, mp.sin),
    "ops.cos": (ops.cos, mp.cos),
    "exponential": (keras.activations.exponential, mp.exp),
    "ops.exp": (ops.exp, mp.exp),
    "softplus": (keras.activations.softplus, lambda x: mp.log(1 + mp.exp(x))),
    "ops.softplus": (ops.softplus, lambda x: mp.log(1 + mp.exp(x))),
    "silu": (keras.activations.silu, lambda x: x * sigmoid(x)),
    "ops.silu": (ops.silu, lambda x: x * sigmoid(x)),
    "gelu": (keras.activations.gelu, gelu),
    "linear": (keras.activations.linear, lambda x: x),
}


@functools.cache
def exact_coefficients(name):
    with mp.workdps(60):
        rows = [mp.taylor(SMOOTH[name][1], mp.mpf(x), ORDER) for x in POINTS]
        return np.array([[float(c) for c in row] for row in rows]).T


@pytest.mark.parametrize("name", SMOOTH)
def test_activation_coefficients_in_float64(name):
    function, _ = SMOOTH[name]
    x = ops.convert_to_tensor(POINTS)
    coefficients = coefficients_of(function)(x, ORDER)
    assert len(coefficients) == ORDER + 1
    for k, expected in enumerate(exact_coefficients(name)):
        c = np.zeros_like(POINTS) if coefficients[k] is None else coefficients[k]
        scale = np.abs(expected).max()
        np.testing.assert_allclose(c, expected, rtol=1e-12, atol=1e-12 * scale)
    np.testing.assert_allclose(coefficients[0], function(x), rtol=1e-14, atol=1e-15)


@pytest.mark.parametrize("name", [*SMOOTH, "relu"])
@pytest.mark.parametrize("order", [0, 1, 2, 5])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_activations_of_any_order_in_any_dtype(name, order, dtype):
    function = keras.activations.relu if name == "relu" else SMOOTH[name][0]
    coefficients = coefficients_of(function)(ops.cast(POINTS, dtype), order)
    assert len(coefficients) == order + 1
    for c in coefficients:
        assert c is None or keras.backend.standardize_dtype(c.dtype) == dtype
        assert c is None or c.shape == POINTS.shape


@pytest.mark.parametrize(
    "name",
    ["tanh", "sigmoid", "softplus", "softsign", "swish", "silu", "gelu"]
    + ["exponential", "relu"],
)
def test_activations_are_known_by_their_names_in_keras(name):
    function = keras.activations.get(name)
    reloaded = keras.activations.get(keras.activations.serialize(function))
    assert coefficients_of(function) is coefficients_of(reloaded) is not None


def test_no_activation_is_the_identity():
    assert coefficients_of(keras.activations.get(None)) is not None
    assert coefficients_of(keras.layers.Dense(1).activation) is not None


def test_relu_is_linear_on_either_side():
    value, slope, *rest = coefficients_of(keras.activations.relu)(
        ops.convert_to_tensor([-1.0, 0.0, 2.0]), 3
    )
    np.testing.assert_array_equal(value, [0.0, 0.0, 2.0])
    np.testing.assert_array_equal(slope, [0.0, 0.0, 1.0])
    assert rest == [None, None]


@pytest.mark.parametrize("function", [keras.activations.softsign, ops.softsign])
def test_softsign_on_either_side_of_its_kink(function):
    x = POINTS[POINTS != 0]
    coefficients = coefficients_of(function)(ops.convert_to_tensor(x), ORDER)
    np.testing.assert_allclose(coefficients[0], x / (1 + abs(x)), rtol=1e-14)
    for k in range(1, ORDER + 1):
        expected = (-np.sign(x)) ** (k - 1) / (1 + abs(x)) ** (k + 1)
        np.testing.assert_allclose(coefficients[k], expected, rtol=1e-12)


def test_saturated_activations_are_finite():
    x = ops.convert_to_tensor([-700.0, 700.0])
    for name in ("tanh", "sigmoid", "softplus", "silu", "gelu"):
        for c in coefficients_of(SMOOTH[name][0])(x, 4):
            assert np.all(np.isfinite(c)), name


@pytest.mark.parametrize(
    "function",
    [
        keras.activations.elu,
        lambda x: x,
        ops.gelu,
        keras.layers.LeakyReLU(),
        type("Unhashable", (), {"__hash__": None, "__call__": lambda self, x: x})(),
    ],
)
def test_unknown_activation_has_no_rule(function):
    assert coefficients_of(function) is None


def test_a_user_registers_an_activation():
    def cube(x):
        return x**3

    @kp.taylor.register_activation(cube)
    def cube_coefficients(x, order):
        return [x**3, 3 * x**2, 3 * x, 1 + 0 * x, *[None] * order][: order + 1]

    layer = keras.layers.Activation(cube)
    x = Taylor.of_points(ops.convert_to_tensor([[2.0]]), IndexSet([(5,)]))
    y = kp.taylor.propagate(layer, x)
    assert [float(y.derivative((k,))[0, 0]) for k in range(6)] == [8, 12, 12, 6, 0, 0]

    # Registered again, as when a notebook's cell is run twice, the last one counts.
    kp.taylor.register_activation(cube)(lambda x, order: [0 * x] * (order + 1))
    assert not np.any(kp.taylor.propagate(layer, x).value)


def test_one_registration_for_several_functions():
    def one(x):
        return x

    def other(x):
        return x

    def rule(x, order):
        return [x, *[None] * order]

    assert kp.taylor.register_activation(one, other)(rule) is rule
    assert coefficients_of(one) is coefficients_of(other) is rule
