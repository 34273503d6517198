"""Functional models written with `keras.ops`, against nested products."""

import keras
import numpy as np
import pytest
from keras import layers, ops

import keraspinn as kp
from keraspinn.derivatives.engines import jvp_derivatives, taylor_derivatives
from keraspinn.derivatives.taylor import IndexSet, MissingRule, Taylor, propagate

INDICES = [(0, 0), (1, 0), (2, 1), (0, 3)]
MATRIX = np.random.default_rng(1).normal(size=(2, 4))
ROW = np.array([0.3, 1.7])


@pytest.fixture(autouse=True)
def random_weights():
    keras.utils.set_random_seed(0)


def points(dtype="float64"):
    return ops.cast(np.random.default_rng(0).uniform(0.2, 1, (7, 2)), dtype)


def model_of(function, dtype="float64"):
    x = keras.Input((2,), dtype=dtype)
    return keras.Model(x, function(x))


def series(dtype="float64"):
    return Taylor.of_points(points(dtype), IndexSet(INDICES))


def dense(units=3, **kwargs):
    return layers.Dense(units, activation="tanh", dtype="float64", **kwargs)


def assert_exact(model):
    x = points()
    taylor = taylor_derivatives(lambda s: propagate(model, s), x, INDICES)
    nested = jvp_derivatives(model, x, INDICES)
    for index in INDICES:
        assert taylor[index].shape == nested[index].shape
        assert taylor[index].dtype == nested[index].dtype
        scale = np.abs(nested[index]).max()
        np.testing.assert_allclose(
            taylor[index], nested[index], rtol=1e-11, atol=1e-11 * scale
        )


ELEMENTWISE = ["sin", "cos", "tanh", "exp", "log", "sqrt", "square", "reciprocal"]
ELEMENTWISE += ["negative", "sigmoid", "softplus", "silu"]
FUNCTIONS = {
    **{name: getattr(ops, name) for name in ELEMENTWISE},
    "exact gelu": keras.activations.gelu,
    "negated": lambda x: -x,
    "plus": lambda x: 2.0 + x + ROW + 1,
    "minus": lambda x: (1.5 - x) - ROW,
    "of two": lambda x: x * dense(2)(x) - dense(2)(x) + x,
    "times": lambda x: 2 * x * ROW,
    "over": lambda x: 1.0 / x + x / 3 + x / (x + ROW),
    "over one column": lambda x: ops.divide(x[:, :1], x) / ops.true_divide(x, ROW),
    "powers": lambda x: x**2 + x**3.5 + x**-1 + ops.power(x, 0) + x**1,
    "columns": lambda x: x[:, 0:1] * ops.sin(x[..., 1:]),
    "last column": lambda x: x[:, -1:] ** 2,
    "one number a point": lambda x: ops.stack([x[:, 0] * x[:, 1], x[..., 1]], -1),
    "stacked": lambda x: ops.stack([x[:, 1], x[:, 0] ** 2], axis=1),
    "new axis": lambda x: ops.expand_dims(x[:, 0] ** 2, -1) + x[:, 1][:, None],
    "joined": lambda x: ops.concatenate([ops.sin(x), x[:, :1], x], axis=-1),
    "joined on axis 1": lambda x: ops.concatenate([ops.sin(x), x], axis=1),
    "radius": lambda x: ops.sqrt(ops.sum(x**2, axis=-1, keepdims=True)),
    "total": lambda x: ops.sum(ops.sin(x), axis=1)[:, None],
    "product": lambda x: ops.sin(ops.matmul(x, MATRIX)),
    "operator": lambda x: ops.cos(x @ ops.convert_to_tensor(MATRIX)),
    "wide constant": lambda x: dense(4)(x[:, :1] + ROW),
    "wide sum": lambda x: ops.sum(x[:, :1] + ROW, axis=-1, keepdims=True) ** 2,
    "wide part": lambda x: (x[:, :1] * 1.0 + ROW)[:, 1:] ** 3,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_operations(name):
    assert_exact(model_of(FUNCTIONS[name]))


def fourier(x):
    phase = 2 * np.pi * ops.matmul(x, MATRIX)
    features = ops.concatenate([ops.sin(phase), ops.cos(phase)], axis=-1)
    return layers.Dense(1, dtype="float64")(dense()(features))


def ansatz(x):
    t, bump = x[:, 1:], x[:, :1] * (1 - x[:, :1])
    return ops.sin(np.pi * x[:, :1]) + t**2 * bump * fourier(x)


@pytest.mark.parametrize("build", [fourier, ansatz])
def test_models_of_users(build, tmp_path):
    model = model_of(build)
    assert_exact(model)
    assert_exact(keras.Sequential([model_of(build), dense()]))
    model.save(tmp_path / "model.keras")
    assert_exact(keras.models.load_model(tmp_path / "model.keras"))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_dtypes_are_those_of_keras(dtype):
    row = np.array([1, 2], dtype)
    model = model_of(lambda x: x * 2 + ops.sin(x) ** 2 * row, "float32")
    value = propagate(model, series("float32")).value
    expected = model(points("float32"))
    assert value.dtype == expected.dtype
    np.testing.assert_allclose(value, expected, rtol=1e-6)


REFUSED = {
    "approximate gelu": (ops.gelu, "approximate"),
    "no rule": (ops.floor, "operation 'floor.*' of class Floor"),
    "other points": (lambda x: x[::-1, :], "other parts than features"),
    "one point": (lambda x: x[0], "other parts than features"),
    "sum of points": (lambda x: ops.sum(x, axis=0), "axis 0"),
    "points joined": (lambda x: ops.concatenate([x, x], axis=0), "axis 0"),
    "numbers joined": (lambda x: ops.concatenate([x[:, 0], x[:, 1]], -1), "axis -1"),
    "axis in front": (lambda x: ops.expand_dims(x, 0), "axis 0"),
    "points stacked": (lambda x: ops.stack([x, x], axis=0), "axis 0"),
    "exponents": (lambda x: x**ROW, "exponent"),
    "matrix of features": (lambda x: ops.matmul(x, ops.matmul(x, MATRIX)), "product"),
    "two outputs": (lambda x: ops.split(x, 2, axis=-1)[0], "No Taylor rule"),
    "larger constant": (lambda x: x + np.ones((3, 1, 2)), "constant of more axes"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_operations_that_mix_points_have_no_rule(name):
    build, why = REFUSED[name]
    with pytest.raises(MissingRule, match=why):
        propagate(model_of(build), series())


def test_operations_on_leading_axes_have_no_rule():
    """Use the other engine, as `x[:, 0]` differs there."""
    several = Taylor.of_points(ops.stack([points()] * 3), IndexSet(INDICES))
    with pytest.raises(MissingRule, match="other parts than features"):
        propagate(model_of(lambda x: x[:, :1] ** 2), several)
    propagate(model_of(dense()), several)


def test_a_user_writes_a_rule_for_a_function_of_keras():
    @kp.taylor.register_rule(ops.cosh)
    def cosh(operation, x):
        up, down = (
            kp.taylor.propagate(
                layers.Activation("exponential", dtype="float64"), argument
            )
            for argument in (x, -x)
        )
        return 0.5 * (up + down)

    assert_exact(model_of(ops.cosh))
