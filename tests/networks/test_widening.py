"""Widening keeps the values and adds trainable units."""

import keras
import numpy as np
import pytest
from keras import ops

import keraspinn as kp


@pytest.fixture
def network():
    network = kp.networks.MLP(units=4, depth=3, outputs=2)
    network(keras.random.uniform((1, 2)))
    return network


def test_widening_keeps_values_and_new_units_train(network):
    points = np.random.default_rng(0).uniform(size=(7, 2)).astype("float32")
    wider = kp.networks.widened(network, 9)
    np.testing.assert_allclose(
        ops.convert_to_numpy(wider(points)),
        ops.convert_to_numpy(network(points)),
        atol=1e-6,
    )
    assert wider.count_params() > network.count_params()
    incoming = ops.convert_to_numpy(wider.hidden[1].kernel)[:4, 4:]
    assert abs(incoming).min() > 0, "new units must have nonzero gradients"


def test_widening_of_other_networks_is_refused():
    with pytest.raises(TypeError, match="MLP"):
        kp.networks.widened(kp.networks.SIREN(units=4, depth=1), 8)
