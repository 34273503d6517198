import numpy as np
import pytest
from keras import ops

from keraspinn.layers import SineDense


def test_sine_layer_is_the_sine_of_a_scaled_dense_layer():
    layer = SineDense(3, frequency=7.0)
    x = np.random.default_rng(0).normal(size=(5, 2))
    value = layer(x)
    phase = 7.0 * (x @ layer.kernel.numpy() + layer.bias.numpy())
    np.testing.assert_allclose(value, np.sin(phase), atol=1e-5)


def test_initialisation():
    first, later = SineDense(500, 5.0, first=True, seed=1), SineDense(500, 5.0, seed=1)
    for layer, bound in ((first, 1 / 20), (later, (6 / 20) ** 0.5 / 5.0)):
        layer.build((None, 20))
        assert np.abs(layer.kernel).max() == pytest.approx(bound, rel=1e-2)
        assert np.abs(layer.bias).max() == pytest.approx(20**-0.5, rel=2e-2)


def test_sine_layers_keep_the_distribution():
    """Map arcsine-distributed inputs to arcsine-distributed outputs: variance 1/2."""
    values = ops.sin(np.random.default_rng(0).uniform(-np.pi, np.pi, (400, 256)))
    for seed in range(4):
        values = SineDense(256, seed=seed)(values)
        assert np.var(values) == pytest.approx(0.5, abs=0.04)


@pytest.mark.parametrize("frequency", [0.0, -3, None])
def test_rejects_frequencies_that_are_not_positive(frequency):
    with pytest.raises(ValueError, match="`frequency` must be a positive number"):
        SineDense(3, frequency)
