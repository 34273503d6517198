import keras
import numpy as np
import pytest
from keras import ops

from keraspinn.derivatives.engines import (
    choose_engine,
    jvp_derivatives,
    taylor_derivatives,
)
from keraspinn.derivatives.taylor import propagate
from keraspinn.networks import SIREN

INDICES = [(0, 0), (1, 0), (2, 1), (0, 3)]


def points(count=5):
    return ops.cast(np.random.default_rng(0).uniform(-1, 1, (count, 2)), "float64")


def test_forward_rule():
    network = SIREN(6, 3, 2, frequency=4.0, dtype="float64")
    result, x = network(points()), np.array(points())
    *hidden, head = network.layers
    for layer in hidden:
        x = np.sin(4.0 * (x @ layer.kernel.numpy() + layer.bias.numpy()))
    expected = x @ head.kernel.numpy() + head.bias.numpy()
    np.testing.assert_allclose(result, expected, rtol=1e-12)


def test_initialisation():
    network = SIREN(400, 3, frequency=10.0)
    network.build((None, 2))
    first, second, third, head = (
        np.abs(layer.kernel.numpy()).max() for layer in network.layers
    )
    assert first == pytest.approx(1 / 2, rel=0.02)
    for bound in (second, third, head):
        assert bound == pytest.approx((6 / 400) ** 0.5 / 10, rel=0.02)


def test_a_seed_fixes_the_weights_and_layers_differ():
    def weights(seed):
        network = SIREN(5, 3, seed=seed)
        network.build((None, 2))
        return network.get_weights()

    first, again, other = weights(1), weights(1), weights(2)
    for a, b, c in zip(first[:-1], again, other, strict=False):
        np.testing.assert_array_equal(a, b)
        assert not np.allclose(a, c)
    assert not np.allclose(first[2], first[4])  # kernels of two equal layers


def test_taylor_rule():
    network, x = SIREN(6, 2, 2, frequency=3.0, dtype="float64"), points()
    series = lambda s: propagate(network, s)  # noqa: E731
    assert choose_engine(series, 2, "float64") == "taylor"
    taylor = taylor_derivatives(series, x, INDICES)
    nested = jvp_derivatives(network, x, INDICES)
    for index in INDICES:
        scale = np.abs(nested[index]).max()
        np.testing.assert_allclose(
            taylor[index], nested[index], rtol=1e-10, atol=1e-10 * scale
        )


def test_config_and_saving(tmp_path):
    network = SIREN(6, 2, 2, frequency=5.0, seed=3, name="own", dtype="float64")
    config = network.get_config()
    assert (config["frequency"], config["seed"]) == (5.0, 3)
    copy = SIREN.from_config(config)
    assert copy.get_config() == config
    np.testing.assert_array_equal(copy(points()), network(points()))
    network.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    np.testing.assert_array_equal(loaded(points()), network(points()))


@pytest.mark.parametrize("argument", ["activation", "kernel_initializer"])
def test_rejects_fixed_arguments(argument):
    with pytest.raises(TypeError, match=argument):
        SIREN(4, **{argument: "tanh"})


@pytest.mark.parametrize("frequency", [0, -1.0, "30"])
def test_rejects_frequencies_that_are_not_positive(frequency):
    with pytest.raises(ValueError, match="`frequency` must be a positive number"):
        SIREN(4, frequency=frequency)
