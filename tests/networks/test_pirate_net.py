import keras
import numpy as np
import pytest
from keras import ops

import keraspinn as kp
from keraspinn.derivatives.engines import (
    choose_engine,
    jvp_derivatives,
    taylor_derivatives,
)
from keraspinn.derivatives.taylor import propagate
from keraspinn.networks import PirateNet

INDICES = [(0, 0), (1, 0), (2, 1), (0, 3)]


def points():
    return ops.cast(np.random.default_rng(0).uniform(-1, 1, (5, 2)), "float64")


def opened(**options):
    """Build a network with nonzero skips, as after some training."""
    keras.utils.set_random_seed(0)
    options = {"bias_initializer": "random_normal", "dtype": "float64"} | options
    network = PirateNet(6, 2, 2, **options)
    network(points())
    for k, skip in enumerate(network.skips):
        skip.alpha.assign(0.3 + 0.4 * k)
    return network


def test_forward_rule():
    """Compare with the rule of the paper, section 4."""
    network = opened()
    weights = {
        layer.name: [w.numpy() for w in layer.weights] for layer in network.layers
    }

    def dense(name, h):
        kernel, bias = weights[name]
        return np.tanh(h @ kernel + bias)

    phase = np.array(points()) @ weights["features"][0]
    x = np.concatenate([np.cos(phase), np.sin(phase)], axis=-1)
    u, v = dense("encoder_u", x), dense("encoder_v", x)
    for k in (1, 2):
        f = dense(f"gate_{k}_1", x)
        y = f * u + (1 - f) * v
        g = dense(f"gate_{k}_2", y)
        z = g * u + (1 - g) * v
        (alpha,) = weights[f"skip_{k}"]
        x = alpha * dense(f"hidden_{k}", z) + (1 - alpha) * x
    kernel, bias = weights["head"]
    np.testing.assert_allclose(network(points()), x @ kernel + bias, rtol=1e-12)


def test_pirate_net_is_initially_linear_in_the_features():
    network = PirateNet(6, 3, dtype="float64")
    expected = network.head(network.features(points()))
    np.testing.assert_array_equal(network(points()), expected)
    assert [float(skip.alpha) for skip in network.skips] == [0.0, 0.0, 0.0]


@pytest.mark.slow
def test_taylor_rule():
    network, x = opened(), points()
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
    network = opened(scale=2.0, seed=4, activation="sin", name="own")
    config = network.get_config()
    assert (config["scale"], config["seed"]) == (2.0, 4)
    copy = PirateNet.from_config(config)
    assert copy.get_config() == config
    network.save(tmp_path / "model.keras")
    loaded = keras.models.load_model(tmp_path / "model.keras")
    assert loaded.get_config() == config
    np.testing.assert_array_equal(loaded(points()), network(points()))


@pytest.mark.parametrize("policy", ["float64", "mixed_bfloat16"])
def test_dtype_policy_reaches_every_layer(policy):
    network = PirateNet(4, 2, dtype=policy)
    assert {layer.dtype_policy.name for layer in network.layers} == {policy}
    network.build((None, 2))
    assert all(layer.built for layer in network.layers)
    assert network.compute_output_shape((None, 2)) == (None, 1)


def test_rejects_an_odd_number_of_units():
    with pytest.raises(ValueError, match="`units` must be even.*units=5"):
        PirateNet(5)


@pytest.mark.slow
def test_pirate_net_trains():
    model = kp.PINNModel(kp.problems.helmholtz(), PirateNet(6, 2), seed=0)
    assert model.derivative_engine == "taylor"
    model.compile(keras.optimizers.Adam(1e-3))
    model.fit(steps_per_epoch=20, batch_size=16, verbose=0)
    assert all(float(skip.alpha) for skip in model.network.skips)
