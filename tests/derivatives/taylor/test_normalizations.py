"""Tests of rules of normalizing layers against float64 differences."""

import keras
import numpy as np
import pytest
from keras import layers, ops

from keraspinn import backend
from keraspinn.derivatives.engines import taylor_derivatives
from keraspinn.derivatives.taylor import IndexSet, MissingRule, Taylor, propagate

STEP = 1e-4


@pytest.mark.parametrize(
    "layer",
    [
        lambda: layers.LayerNormalization(dtype="float64"),
        lambda: layers.LayerNormalization(center=False, scale=False, dtype="float64"),
        lambda: layers.LayerNormalization(axis=1, dtype="float64"),
        lambda: layers.GroupNormalization(2, dtype="float64"),
        lambda: layers.GroupNormalization(-1, epsilon=0.1, dtype="float64"),
    ],
)
def test_second_derivatives_of_normalizations_agree_with_differences(layer):
    keras.utils.set_random_seed(0)
    with backend.double_precision():
        hidden = layers.Dense(6, "tanh", dtype="float64")
        layer = layer()
        network = keras.Sequential([keras.Input((2,), dtype="float64"), hidden, layer])
        x = np.random.default_rng(0).uniform(-1, 1, (5, 2))
        values = [
            network(ops.convert_to_tensor(x + k * np.eye(2)[0], "float64"))
            for k in (-STEP, 0.0, STEP)
        ]
        values = [ops.convert_to_numpy(value) for value in values]
        expected = (values[0] - 2 * values[1] + values[2]) / STEP**2
        derivative = taylor_derivatives(
            lambda series: propagate(network, series),
            ops.convert_to_tensor(x, "float64"),
            [(2, 0)],
        )[2, 0]
    scale = np.abs(expected).max()
    np.testing.assert_allclose(derivative, expected, atol=1e-5 * scale)


@pytest.mark.parametrize(
    "layer", [layers.LayerNormalization(axis=0), layers.GroupNormalization(1, axis=0)]
)
def test_normalizations_over_other_axes_have_no_rule(layer):
    with pytest.raises(MissingRule, match="features"):
        points = ops.ones((4, 2))
        propagate(layer, Taylor.of_points(points, IndexSet([(2, 0)])))
