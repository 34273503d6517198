import keras
import numpy as np
import pytest
from keras import ops

import keraspinn as kp
from keraspinn.derivatives.engines import taylor_derivatives
from keraspinn.derivatives.taylor import propagate


def test_networks_of_periodic_features_are_periodic_with_all_derivatives():
    keras.utils.set_random_seed(0)
    network = keras.Sequential(
        [
            kp.layers.Periodic([2.0, None, 0.5], dtype="float64"),
            kp.networks.MLP(5, 2, dtype="float64"),
        ]
    )
    x = np.random.default_rng(0).uniform(-1, 1, (6, 3))
    indices = [(0, 0, 0), (3, 0, 0), (1, 1, 1)]

    def derivatives(*shift):
        points = ops.convert_to_tensor(x + shift)
        return taylor_derivatives(lambda s: propagate(network, s), points, indices)

    at_origin, a_period_on, elsewhere = (
        derivatives(*s) for s in [(0, 0, 0), (2, 0, -0.5), (2, 0.5, 0)]
    )
    for index in indices:
        np.testing.assert_allclose(
            at_origin[index], a_period_on[index], rtol=1e-9, atol=1e-12
        )
        assert np.abs(at_origin[index] - elsewhere[index]).max() > 1e-3


@pytest.mark.parametrize("periods", [[0.0], [-1.0, None], ["2"], [True], [np.inf]])
def test_rejects_invalid_periods(periods):
    with pytest.raises(ValueError, match="`periods` must be a positive number"):
        kp.layers.Periodic(periods)


def test_periodic_layer_rejects_another_number_of_coordinates():
    with pytest.raises(ValueError, match="an entry or `None` for each.*3 coordinates"):
        kp.layers.Periodic([2.0, None])(ops.ones((4, 3)))


def test_subclass_of_periodic_may_set_frequencies():
    class Halved(kp.layers.Periodic):
        def frequencies(self, dtype):
            return super().frequencies(dtype) / 2

    x = ops.convert_to_tensor([[0.25], [0.75]])
    expected = kp.layers.Periodic([2.0])(x)
    np.testing.assert_allclose(Halved([1.0])(x), expected, rtol=1e-6)
