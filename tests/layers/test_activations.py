import keras
import numpy as np
import pytest
from keras import ops

from keraspinn import activations


def test_sin_is_the_sine():
    x = ops.linspace(-3.0, 3.0, 7)
    np.testing.assert_array_equal(activations.sin(x), ops.sin(x))


@pytest.mark.parametrize("identifier", ["sin", activations.sin, ops.sin])
def test_every_sine_can_be_saved(identifier):
    assert activations.get(identifier) is activations.sin


@pytest.mark.parametrize("identifier", ["tanh", "swish", None, keras.activations.gelu])
def test_other_names_are_activations_of_keras(identifier):
    assert activations.get(identifier) is keras.activations.get(identifier)


def test_rejects_an_unknown_name():
    with pytest.raises(ValueError, match="no-such"):
        activations.get("no-such")


def test_a_keras_model_with_a_sine_loads(tmp_path):
    model = keras.Sequential(
        [keras.Input((2,)), keras.layers.Dense(3, activation=activations.sin)]
    )
    model.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    assert loaded.layers[0].activation is activations.sin
    points = ops.ones((4, 2))
    np.testing.assert_array_equal(model(points), loaded(points))
