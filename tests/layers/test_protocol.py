"""Tests for all layers: config, saving and Taylor rule."""

import keras
import numpy as np
import pytest
import sympy as sp
from keras import ops

import keraspinn as kp
from keraspinn.derivatives.engines import jvp_derivatives, taylor_derivatives
from keraspinn.derivatives.taylor import propagate

INDICES = [(0, 0), (1, 0), (2, 1), (0, 3)]
# Class, arguments, and number of inputs of three features besides the points.
X, Y = sp.symbols("x y")
ROOT = sp.sqrt((X - 1.5) ** 2 + (Y + 2) ** 2)
KNOWN = [
    ROOT**0.7 * sp.cos(0.7 * sp.atan(Y / (X + 3))),
    sp.Piecewise(((X**2 * Y - 0.01) ** 2, X**2 * Y > 0.01), (0, True)),
    sp.erf(X / sp.sqrt(2 + Y)) + sp.sin(Y) * sp.exp(-(X**2)),
]
LAYERS = {
    "skip": (kp.layers.AdaptiveSkip, {"initial": 0.3}, 2),
    "factorized": (kp.layers.FactorizedDense, {"units": 3, "activation": "sin"}, 0),
    "factorized, given": (
        kp.layers.FactorizedDense,
        {
            "units": 3,
            "mean": 0.5,
            "deviation": 0.2,
            "kernel_initializer": "he_normal",
            "bias_initializer": "ones",
            "seed": 1,
        },
        0,
    ),
    "Fourier": (kp.layers.FourierFeatures, {"units": 4, "scale": 2.0, "seed": 3}, 0),
    "gated": (kp.layers.GatedDense, {"units": 3}, 2),
    "features": (kp.layers.Features, {"expressions": KNOWN, "coordinates": [X, Y]}, 0),
    "periodic": (kp.layers.Periodic, {"periods": [None, 0.7]}, 0),
    "periodic in all": (kp.layers.Periodic, {"periods": (2, 0.7)}, 0),
    "sine": (kp.layers.SineDense, {"units": 3, "frequency": 2.0, "seed": 1}, 0),
    "first sine": (kp.layers.SineDense, {"units": 3, "first": True}, 0),
}
each_layer = pytest.mark.parametrize("name", LAYERS)


@pytest.fixture(autouse=True)
def random_weights():
    keras.utils.set_random_seed(0)


def points():
    return ops.cast(np.random.default_rng(0).uniform(-1, 1, (5, 2)), "float64")


def model_with(layer, features):
    """Build a model of the layer, on points or features, and a head."""
    x = keras.Input((2,), dtype="float64")
    dense = [keras.layers.Dense(3, "tanh", dtype="float64")(x) for _ in range(features)]
    inputs = ([] if isinstance(layer, kp.layers.AdaptiveSkip) else [x]) + dense
    return keras.Model(x, keras.layers.Dense(2, dtype="float64")(layer(*inputs)))


def made(case, **options):
    layer_class, arguments, features = LAYERS[case]
    return layer_class(**arguments, **options), features


def test_every_layer_is_tested():
    assert {case[0].__name__ for case in LAYERS.values()} == set(kp.layers.__all__)


@each_layer
def test_config(name):
    layer, _ = made(name, name="own", dtype="float64", trainable=False)
    config = layer.get_config()
    copy = type(layer).from_config(config)
    assert copy.get_config() == config
    for argument, value in LAYERS[name][1].items():
        assert argument in config, argument
        if isinstance(value, (int, float)):
            assert config[argument] == value
    assert (copy.name, copy.dtype, copy.trainable) == ("own", "float64", False)


@each_layer
def test_saving_and_loading(name, tmp_path):
    model = model_with(*made(name, dtype="float64"))
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(model(points()), loaded(points()))


@each_layer
def test_compute_output_shape(name):
    model = model_with(*made(name, dtype="float64"))
    layer = model.layers[-2]
    inputs = keras.tree.flatten(layer.input)
    announced = layer.compute_output_shape(*(tuple(x.shape) for x in inputs))
    value = keras.Model(model.inputs, layer.output)(points())
    assert tuple(value.shape) == (5, *announced[1:])


@each_layer
def test_taylor_rule(name):
    model = model_with(*made(name, dtype="float64"))
    x = points()
    taylor = taylor_derivatives(lambda s: propagate(model, s), x, INDICES)
    nested = jvp_derivatives(model, x, INDICES)
    for index in INDICES:
        assert taylor[index].dtype == "float64"
        scale = np.abs(nested[index]).max()
        np.testing.assert_allclose(
            taylor[index], nested[index], rtol=1e-11, atol=1e-11 * scale
        )


@each_layer
def test_leading_axes(name):
    layer, features = made(name, dtype="float64")
    shape = (3, 5, 3 if features else 2)
    widths = [3] * features if name == "skip" else [2] + [3] * features
    rng = np.random.default_rng(0)
    inputs = [ops.cast(rng.normal(size=(*shape[:2], w)), "float64") for w in widths]
    together = layer(*inputs)
    alone = layer(*(x[1] for x in inputs))
    np.testing.assert_allclose(together[1], alone, rtol=1e-12)


@pytest.mark.parametrize("name", ["factorized", "Fourier", "sine"])
def test_integer_inputs_equal_float_inputs(name):
    kind, arguments, _ = LAYERS[name]
    layer, integers = kind(**arguments), np.arange(6).reshape(2, 3)
    expected = ops.convert_to_numpy(layer(integers.astype("float32")))
    np.testing.assert_array_equal(ops.convert_to_numpy(layer(integers)), expected)
