"""Conversion of models to another precision."""

import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn as kp

X, Y = sp.symbols("x y")
U = sp.Function("u")(X, Y)
Dense = keras.layers.Dense


class Unknown(Dense):
    """Layer that is neither registered nor has a Taylor rule."""


class Own(keras.Model):
    """Network whose layers take the current dtype policy."""

    def __init__(self, units=3, **kwargs):
        super().__init__(**kwargs)
        self.first, self.head = Dense(units, "tanh"), Dense(1)

    def call(self, x):
        return self.head(self.first(x))

    def get_config(self):
        return {**super().get_config(), "units": self.first.units}


def functional():
    points = keras.Input((2,))
    bent = Dense(4, "tanh")(points)
    joined = keras.layers.Concatenate()([bent, keras.ops.sin(points)])
    return keras.Model(points, Dense(1)(joined))


NETWORKS = {
    "PirateNet": lambda: kp.networks.PirateNet(4, 1),
    "nested": lambda: keras.Sequential(
        [keras.Sequential([Dense(4, "tanh", dtype="float32")]), Dense(1)]
    ),
    "functional": functional,
    "subclass": Own,
    "frozen": lambda: keras.Sequential([Dense(4, "tanh", trainable=False), Dense(1)]),
    "unknown": lambda: keras.Sequential([Unknown(4, "tanh"), Dense(1, name="float32")]),
}


def problem():
    c = kp.Parameter("c", initial=0.1)
    table = np.array([[0.1, 0.2], [0.2, 0.7]])
    return kp.Problem(
        kp.geometry.Box({X: (0, 0.3), Y: (0, 1.7)}),
        {"e": sp.Eq(U.diff(X, 2) + c * U.diff(Y), 3)},
        {"data": kp.Data(table, {U: [0.1, 0.3]}, weight=2.0)},
    )


def trained(network=None, **kwargs):
    model = kp.PINNModel(problem(), network or kp.networks.MLP(4, 2), **kwargs)
    model.compile("adam", jit_compile=False)
    annealing = kp.callbacks.LearningRateAnnealing(update_freq=1)
    model.fit(steps_per_epoch=2, batch_size=4, verbose=0, callbacks=[annealing])
    return model


POINTS = np.random.default_rng(0).uniform(size=(20, 2))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Derivatives are taken by nested")
@pytest.mark.parametrize("name", NETWORKS)
def test_astype_agrees_to_single_precision(name):
    model = trained(NETWORKS[name](), seed=3)
    initial_weights = [weight.numpy() for weight in model.weights]
    double = model.astype("float64")
    values = double.predict(POINTS, verbose=0)
    assert values.dtype == "float64"
    np.testing.assert_allclose(values, model.predict(POINTS, verbose=0), atol=1e-5)
    assert {v.dtype for v in double.weights} == {"float64"}
    for new, old in zip(double.weights, initial_weights, strict=True):
        np.testing.assert_array_equal(new, old)
    assert double.loss_weights["data"].numpy() != 2
    assert double.weighting == model.weighting
    assert double.seed == 3 and not double.compiled
    assert double.problem is model.problem
    double.compile("adam", jit_compile=False)
    double.fit(steps_per_epoch=1, batch_size=4, verbose=0)
    # The original model and its network are unchanged.
    assert model.network.dtype_policy.name == "float32"
    for weight, before in zip(model.weights, initial_weights, strict=True):
        np.testing.assert_array_equal(weight, before)
    assert keras.config.dtype_policy().name == "float32"


@pytest.mark.slow
def test_astype_round_trip_is_bit_exact():
    model = trained()
    again = model.astype("float64").astype("float32")
    for new, old in zip(again.weights, model.weights, strict=True):
        np.testing.assert_array_equal(new, old)


@pytest.mark.slow
def test_astype_keeps_shared_networks():
    network = kp.networks.MLP(4, 2)
    first, second = trained(network), trained(network)
    double = first.astype("float64")
    assert double.network is not network
    assert first.network is second.network is network
    assert {v.dtype for v in network.weights} == {"float32"}


@pytest.mark.slow
def test_astype_keeps_random_seeds():
    double = trained().astype("float64")
    assert double.trainer.settings["seed"] is None


@pytest.mark.slow
def test_saves_and_loads(tmp_path):
    double = trained().astype("float64")
    double.save(tmp_path / "double.keras")
    loaded = kp.load_model(tmp_path / "double.keras")
    expected = double.predict(POINTS, verbose=0)
    np.testing.assert_array_equal(loaded.predict(POINTS, verbose=0), expected)


@pytest.mark.parametrize("dtype", ["float16", "mixed_bfloat16", "int32", None])
def test_rejects_other_types(dtype):
    model = kp.PINNModel(problem(), kp.networks.MLP(4, 1))
    with pytest.raises(ValueError, match=r"`dtype` must be one of .*'float64'"):
        model.astype(dtype)
