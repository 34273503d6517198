import keras
import numpy as np
import pytest
from keras import ops

import keraspinn as kp
from keraspinn.layers import GatedDense


def inputs(features=3, units=4, dtype="float32", leading=(6,)):
    rng = np.random.default_rng(0)
    return [
        ops.cast(rng.normal(size=(*leading, width)), dtype)
        for width in (features, units, units)
    ]


def test_the_gate_chooses_between_u_and_v():
    layer = GatedDense(4, bias_initializer="random_normal", dtype="float64")
    h, u, v = inputs(dtype="float64")
    result = layer(h, u, v)
    weights, bias = layer.kernel.numpy(), layer.bias.numpy()
    h, u, v = map(np.array, (h, u, v))
    z = np.tanh(h @ weights + bias)
    np.testing.assert_allclose(result, (1 - z) * u + z * v, rtol=1e-13, atol=1e-15)
    assert result.dtype == "float64"


@pytest.mark.parametrize(("bias", "chosen"), [(-1e4, 1), (1e4, 2)])
def test_a_gate_that_is_shut_or_open(bias, chosen):
    layer = GatedDense(4, "sigmoid", bias_initializer=keras.initializers.Constant(bias))
    arguments = inputs()
    np.testing.assert_allclose(layer(*arguments), arguments[chosen], rtol=1e-6)


def test_gated_dense_arguments_by_keyword_and_leading_axes():
    layer = GatedDense(4)
    h, u, v = inputs(leading=(2, 5))
    together = layer(h, v=v, u=u)
    assert together.shape == (2, 5, 4)
    np.testing.assert_allclose(together[1], layer(h[1], u[1], v[1]), rtol=1e-6)


def test_shapes_and_weights():
    layer = GatedDense(4, kernel_regularizer="l2", bias_regularizer="l1")
    shapes = (None, 3), (None, 4), (None, 4)
    assert layer.compute_output_shape(*shapes) == (None, 4)
    layer.build(*shapes)
    assert [weight.path.split("/")[-1] for weight in layer.weights] == [
        "kernel",
        "bias",
    ]
    assert layer.kernel.shape == (3, 4)
    assert layer.bias.shape == (4,)
    assert len(layer.losses) == 2
    h, u, v = (keras.Input(shape[1:]) for shape in shapes)
    assert layer(h, u, v).shape == (None, 4)


def test_initialisation_is_glorot_normal_and_zero():
    layer = GatedDense(300)
    layer.build((None, 200), (None, 300), (None, 300))
    assert layer.kernel.numpy().std() == pytest.approx((2 / 500) ** 0.5, rel=0.02)
    assert not np.any(layer.bias)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {
            "activation": "sin",
            "kernel_initializer": keras.initializers.HeNormal(seed=1),
            "bias_initializer": "ones",
            "kernel_regularizer": keras.regularizers.L2(0.1),
            "bias_regularizer": "l1",
            "name": "gate",
            "dtype": "float64",
            "trainable": False,
        },
    ],
)
def test_config(options):
    layer = GatedDense(4, **options)
    config = layer.get_config()
    copy = GatedDense.from_config(config)
    assert copy.get_config() == config
    assert copy.activation is layer.activation
    assert copy.dtype_policy == layer.dtype_policy
    assert config["units"] == 4
    for argument in ("kernel_initializer", "kernel_regularizer", "bias_regularizer"):
        assert type(getattr(copy, argument)) is type(getattr(layer, argument))


def test_saving_and_loading(tmp_path):
    h, u, v = (keras.Input((width,)) for width in (3, 4, 4))
    model = keras.Model([h, u, v], GatedDense(4, "sin")(h, u, v))
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(model(inputs()), loaded(inputs()))
    assert loaded.layers[-1].activation is kp.activations.sin


def test_units_accept_integers_of_any_type():
    assert type(GatedDense(np.int64(4)).units) is int


@pytest.mark.parametrize("units", [0, -1, 2.0, True, "4", None])
def test_rejects_units_that_are_not_positive_integers(units):
    with pytest.raises(
        ValueError, match="`units` must be a positive integer. Received"
    ):
        GatedDense(units)


def test_rejects_an_unknown_activation():
    with pytest.raises(ValueError, match="no-such"):
        GatedDense(4, activation="no-such")


@pytest.mark.parametrize("narrow", ["U", "V"])
def test_rejects_encodings_of_another_width(narrow):
    h, u, v = inputs()
    encodings = {"u": u, "v": v} | {narrow.lower(): u[:, :3]}
    with pytest.raises(ValueError, match=rf"{narrow} of shape \(6, 3\)"):
        GatedDense(4)(h, **encodings)
