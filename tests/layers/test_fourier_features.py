import keras
import numpy as np
import pytest
from keras import ops

from keraspinn.layers import FourierFeatures


def test_waves_of_the_scale_that_are_not_trained():
    layer = FourierFeatures(4000, scale=3.0, seed=0)
    x = ops.ones((1, 2))
    features = layer(x)
    assert layer.trainable_variables == []
    kernel = layer.kernel.numpy()
    assert kernel.std() == pytest.approx(3.0, rel=0.02)
    phase = kernel.sum(axis=0)
    expected = np.concatenate([np.cos(phase), np.sin(phase)])
    np.testing.assert_allclose(features[0], expected, atol=1e-5)


def test_one_seed_gives_the_same_waves():
    x = keras.random.normal((3, 2))
    first, second, other = (FourierFeatures(4, seed=seed)(x) for seed in (1, 1, 2))
    np.testing.assert_array_equal(first, second)
    assert np.abs(first - other).max() > 0.1


@pytest.mark.parametrize("scale", [0, -1.0, np.nan, "1"])
def test_rejects_scales_that_are_not_positive(scale):
    with pytest.raises(ValueError, match="`scale` must be a positive number"):
        FourierFeatures(4, scale)
