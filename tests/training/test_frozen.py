"""Frozen layers in copies of models and in loaded models."""

import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn as kp
from keraspinn.training.digests import weights_digest

X, Y = sp.symbols("x y")
U = sp.Function("u")(X, Y)
Dense = keras.layers.Dense
RUN = {"steps_per_epoch": 2, "batch_size": 4, "verbose": 0}


@keras.saving.register_keras_serializable("test_frozen")
class Block(keras.layers.Layer):
    """Network whose configuration omits its two layers."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.first, self.second = Dense(3, "tanh"), Dense(3, "tanh")

    def build(self, input_shape):
        self.first.build(input_shape)
        self.second.build((*input_shape[:-1], 3))

    def call(self, x):
        return self.second(self.first(x))

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], 3)


def problem(periodic=()):
    c = kp.Parameter("c", initial=0.1)
    return kp.Problem(
        kp.geometry.Box({X: (0, 1), Y: (0, 1)}, periodic=periodic),
        {"e": sp.Eq(U.diff(X, 2) + c * U.diff(Y), 3)},
        {"data": kp.Data([[0.1, 0.2], [0.2, 0.7]], {U: [0.1, 0.3]})},
    )


def model_of(network, **options):
    return kp.PINNModel(problem(**options), network, seed=0)


def sequential(*layers):
    return keras.Sequential([*layers, Dense(3, "tanh"), Dense(1)])


MODELS = {
    "MLP": lambda: model_of(kp.networks.MLP(4, 2)),
    "periodic": lambda: model_of(kp.networks.MLP(4, 2), periodic=[X]),
    "PirateNet": lambda: model_of(kp.networks.PirateNet(4, 1)),
    "FieldNetworks": lambda: model_of({U: kp.networks.MLP(4, 2)}),
    "Sequential of its own": lambda: model_of({U: sequential()}),
    "Sequential": lambda: model_of(sequential()),
    "factorized": lambda: model_of(sequential(kp.layers.FactorizedDense(3))),
}
each_model = pytest.mark.parametrize("name", MODELS)


def layers_of(network):
    """Return the layers with weights, by name."""
    inner = [layers_of(part) for part in getattr(network, "layers", ())]
    direct = {} if inner else {network.name: network}
    return {name: layer for part in inner for name, layer in part.items()} | direct


def flags(network):
    return {name: layer.trainable for name, layer in layers_of(network).items()}


def freeze_first(model):
    layer = next(
        inner for inner in layers_of(model.network).values() if inner.trainable_weights
    )
    layer.trainable = False
    return layer.name


def from_file(model, path):
    model.save(path / "model.keras")
    return kp.load_model(path / "model.keras")


@each_model
def test_frozen_layer(tmp_path, name):
    model = MODELS[name]()
    frozen = freeze_first(model)
    model.compile("adam", jit_compile=False)
    for other in (model.astype("float64"), from_file(model, tmp_path)):
        assert flags(other.network) == flags(model.network)
        assert not flags(other.network)[frozen]
        assert [v.trainable for v in other.weights] == [
            v.trainable for v in model.weights
        ]
    assert len(other.optimizer.variables) == len(model.optimizer.variables)


@pytest.mark.slow
@each_model
def test_frozen_network(tmp_path, name):
    model = MODELS[name]()
    model.network.trainable = False
    for other in (model.astype("float64"), from_file(model, tmp_path)):
        assert [v.name for v in other.trainable_variables] == ["c"]
        assert not any(flags(other.network).values())


@pytest.mark.parametrize("name", ["MLP", "PirateNet", "FieldNetworks"])
def test_frozen_network_alone(name):
    network = MODELS[name]().network
    next(reversed(layers_of(network).values())).trainable = False
    assert not all(flags(network).values())
    copy = type(network).from_config(network.get_config())
    assert flags(copy) == flags(network)
    assert copy.get_config() == network.get_config()
    assert keras.models.clone_model(network).get_config() == network.get_config()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Derivatives are taken by nested")
@pytest.mark.parametrize("what", ["layer in a block", "coefficient"])
def test_second_stage_resumes_from_file(tmp_path, what):
    network = sequential(Block()) if what == "layer in a block" else None
    model = model_of(network or kp.networks.MLP(4, 2)).astype("float64")
    frozen = {
        "first layer": lambda: model.network.layers[0],
        "layer in a block": lambda: model.network.layers[0].first,
        "coefficient": lambda: model.coefficients["c"],
    }[what]()
    frozen.trainable = False
    model.compile(kp.optimizers.SSBroyden(), jit_compile=False)
    model.fit(**RUN)
    loaded = from_file(model, tmp_path)
    before = [v.numpy() for v in loaded.weights if not v.trainable]
    assert len(before) == len(model.non_trainable_weights)
    assert weights_digest(loaded) == weights_digest(model)
    state = loaded.optimizer.state_variables
    for key, value in model.optimizer.state_variables.items():
        np.testing.assert_array_equal(state[key], value)
    loaded.fit(**RUN)
    after = [v.numpy() for v in loaded.weights if not v.trainable]
    for expected, actual in zip(before, after, strict=True):
        np.testing.assert_array_equal(expected, actual)
    assert weights_digest(loaded) != weights_digest(model)


@pytest.mark.slow
def test_frozen_layers_of_an_ensemble(tmp_path):
    network = kp.networks.MLP(4, 2)
    network.layers[0].trainable = False
    ensemble = kp.Ensemble(problem(), network, size=2)
    ensemble.compile("adam", jit_compile=False)
    others = (
        ensemble.member(0),
        ensemble.astype("float64"),
        from_file(ensemble, tmp_path),
    )
    for other in (ensemble, *others):
        assert flags(other.network) == {
            "hidden_1": False,
            "hidden_2": True,
            "head": True,
        }
    loaded = others[-1]
    frozen = loaded.member(1).network.layers[0].kernel.numpy()
    loaded.fit(**RUN)
    np.testing.assert_array_equal(loaded.member(1).network.layers[0].kernel, frozen)


def kernels(network):
    return [v.trainable for v in network.weights]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Derivatives are taken by nested")
def test_frozen_inner_layer_of_an_ensemble(tmp_path):
    block = Block()
    network = sequential(Dense(3), block)
    network.build((None, 2))
    block.second.trainable = False
    ensemble = kp.Ensemble(problem(), network, size=2)
    expected = [True] * 4 + [False] * 2 + [True] * 4
    assert kernels(ensemble.network) == kernels(ensemble.member(1).network) == expected
    ensemble.compile("adam", jit_compile=False)
    ensemble.fit(**RUN)
    double, loaded = ensemble.astype("float64"), from_file(ensemble, tmp_path)
    begun = [member.get_weights() for member in members(loaded)]
    assert weights_digest(loaded) == weights_digest(ensemble)
    for other in (double, loaded):
        assert kernels(other.network) == expected
        assert [v.trainable for v in other.weights] == [
            v.trainable for v in ensemble.weights
        ]
    loaded.fit(**RUN)
    for before, network in zip(begun, members(loaded), strict=True):
        pairs = zip(before, network.get_weights(), strict=True)
        assert [not np.array_equal(*pair) for pair in pairs] == expected


@pytest.mark.parametrize("by_field", [False, True])
def test_ensemble_of_a_network_not_built_keeps_inner_layers_frozen(by_field):
    block = Block()
    block.second.trainable = False
    network = sequential(block)
    ensemble = kp.Ensemble(problem(), {U: network} if by_field else network, size=2)
    expected = [True] * 2 + [False] * 2 + [True] * 4
    assert kernels(ensemble.network) == expected
    assert len(ensemble.trainable_variables) == 7  # c among them


def members(ensemble):
    return [ensemble.member(number).network for number in range(ensemble.size)]


def test_ensemble_frozen_later_keeps_its_weights(tmp_path):
    ensemble = kp.Ensemble(problem(), kp.networks.MLP(4, 3), size=2)
    ensemble.network.layers[1].trainable = False
    for other in (ensemble.astype("float64"), from_file(ensemble, tmp_path)):
        for actual, expected in zip(members(other), members(ensemble), strict=True):
            assert kernels(actual) == kernels(expected) and not all(kernels(actual))
            for pair in zip(actual.get_weights(), expected.get_weights(), strict=True):
                np.testing.assert_array_equal(*pair)


@pytest.mark.slow
def test_a_quantized_model_is_refused_with_advice(tmp_path):
    model = kp.PINNModel(problem(), kp.networks.MLP(units=8, depth=2))
    model.save(tmp_path / "model.keras")
    model.quantize("int8")
    with pytest.raises(ValueError, match="Save the model before you quantize it"):
        model.to_json()
    again = keras.models.load_model(tmp_path / "model.keras")
    again.quantize("int8")
    points = [[0.2, 0.7], [0.9, 0.1]]
    np.testing.assert_array_equal(again.predict(points), model.predict(points))
