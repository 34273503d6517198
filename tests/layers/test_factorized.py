import keras
import numpy as np
import pytest
from keras import ops

from keraspinn.layers import FactorizedDense


def test_factorized_dense_initially_equals_a_dense_layer():
    initializer = keras.initializers.GlorotNormal(seed=3)
    layer = FactorizedDense(7, "tanh", kernel_initializer=initializer)
    dense = keras.layers.Dense(7, "tanh", kernel_initializer=initializer)
    x = keras.random.normal((5, 3))
    np.testing.assert_allclose(layer(x), dense(x), rtol=1e-5, atol=1e-6)


def test_scales_of_factorized_dense_are_drawn_and_trained():
    layer = FactorizedDense(4000, mean=0.5, deviation=0.1, seed=0)
    layer.build((None, 2))
    scale = layer.scale.numpy()
    assert scale.mean() == pytest.approx(0.5, abs=0.01)
    assert scale.std() == pytest.approx(0.1, rel=0.05)
    assert [w.name for w in layer.trainable_variables] == ["scale", "direction", "bias"]
    before = layer.kernel
    layer.scale.assign(layer.scale + np.log(2.0))
    np.testing.assert_allclose(layer.kernel, 2.0 * before, rtol=1e-5)


def test_factorized_dense_is_built_inside_a_functional_model():
    x = keras.Input((2,))
    model = keras.Model(x, FactorizedDense(3)(x))
    assert np.all(np.isfinite(model(ops.ones((4, 2)))))
