"""Saving and loading of parts of problems, and of models of all kinds.

Layers, networks, geometries and optimizers are saved and loaded in their folders.
"""

import json

import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn as kp

X, T = sp.symbols("x t")
U, V = (sp.Function(name)(X, T) for name in "uv")
BOX = kp.geometry.Box({X: (0, 1)}, time={T: (0, 2)})
POINTS = np.random.default_rng(0).uniform(0, 1, (7, 2))
STEP = sp.Piecewise((1 + X, (X < 0.5) & (T > 0.1)), (sp.exp(-X), True))


# Classes


def wave():
    """Return a time-dependent system with all parts that a problem can have."""
    c = kp.Parameter("c", initial=0.7, positive=True)
    return kp.Problem(
        domain=BOX,
        equations={
            "momentum": sp.Eq(V.diff(T), c**2 * STEP * U.diff(X, 2)),
            "velocity": sp.Eq(U.diff(T), V),
        },
        conditions={
            "initial": kp.Condition([sp.Eq(U, sp.sin(sp.pi * X)), V], on="initial"),
            "ends": kp.Condition(U, on=[{X: 0}, {X: 1}], weight=10.0),
            "corner": kp.Condition(U.diff(X) + sp.Rational(1, 3) * U, on={X: 0, T: 0}),
            "sensors": kp.Data(POINTS, {U: POINTS[:, 0], V.diff(X): POINTS[:, 1]}),
        },
        reference=kp.Reference(
            POINTS, {U: POINTS[:, 1], U**2 + V: POINTS[:, 0]}, {U**2 + V: "energy"}, [U]
        ),
        fields=[V, U],
    )


def exact():
    """Return a problem of one field with a solution in closed form."""
    return kp.Problem(
        domain=BOX,
        equations={"heat": sp.Eq(U.diff(T), STEP * U.diff(X, 2))},
        conditions={"all": kp.Condition(sp.Eq(U, STEP), on="boundary")},
        reference={U: STEP, U.diff(X): sp.Float("0.1", 40) * X},
    )


OBJECTS = {
    "Box": lambda: BOX,
    "Condition": lambda: kp.Condition([U - STEP, V], on=["initial", {X: 1}], weight=2),
    "Data": lambda: kp.Data(POINTS, {U: POINTS[:, 0]}, weight=0.5),
    "Reference": lambda: wave().reference,
    "Problem": wave,
    "Problem, exact": exact,
    "GatedDense": lambda: kp.layers.GatedDense(3, "sin", kernel_regularizer="l2"),
    "MLP": lambda: kp.networks.MLP(5, 2, 3, activation="gelu"),
    "ModifiedMLP": lambda: kp.networks.ModifiedMLP(
        5, 2, 3, gate_input=True, encoder_bias_initializer="random_normal"
    ),
    "RelativeL2": lambda: kp.metrics.RelativeL2("error", up_to_constant=True),
    "LearningRateAnnealing": lambda: kp.callbacks.LearningRateAnnealing(
        0.3, 5, "literal", ("bias",), "averaged"
    ),
    "PINNModel": lambda: kp.PINNModel(wave(), kp.networks.MLP(3, 1, 2), seed=5),
}


@pytest.mark.parametrize("name", OBJECTS)
def test_config_round_trip(name):
    saved = OBJECTS[name]()
    config = saved.get_config()
    as_text = json.dumps(config, default=keras.saving.serialize_keras_object)
    again = type(saved).from_config(config)
    assert type(again) is type(saved)
    assert (
        json.dumps(again.get_config(), default=keras.saving.serialize_keras_object)
        == as_text
    )


@pytest.mark.parametrize("name", sorted(set(OBJECTS) - {"LearningRateAnnealing"}))
def test_keras_serialization_round_trip(name):
    saved = OBJECTS[name]()
    text = json.dumps(keras.saving.serialize_keras_object(saved))
    again = keras.saving.deserialize_keras_object(json.loads(text))
    assert json.dumps(keras.saving.serialize_keras_object(again)) == text


# Models


@keras.saving.register_keras_serializable("round_trips")
class Fourier(keras.Model):
    """Custom network, with a weight outside of its layers."""

    def __init__(self, units, **kwargs):
        super().__init__(**kwargs)
        self.units = units
        self.head = keras.layers.Dense(1)

    def build(self, input_shape):
        self.frequencies = self.add_weight(
            shape=(input_shape[-1], self.units), name="frequencies"
        )
        self.head.build((*input_shape[:-1], self.units))
        self.built = True

    def call(self, x):
        return self.head(keras.ops.sin(x @ self.frequencies))

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], 1)

    def get_config(self):
        return {**super().get_config(), "units": self.units}


def functional():
    points = keras.Input((2,))
    left = keras.layers.Dense(3, "tanh")(points)
    right = keras.ops.sin(keras.layers.Dense(3, kernel_regularizer="l2")(points))
    return keras.Model(points, keras.layers.Dense(1)(left * right + right))


def sequential():
    return keras.Sequential(
        [
            keras.layers.Dense(4, "gelu"),
            keras.layers.Dropout(0.1),
            keras.layers.Dense(1),
        ]
    )


def compiled_before():
    network = sequential()
    network.build((None, 2))
    network.compile("adam", "mse")
    return network


NETWORKS = {
    "MLP": (exact, lambda: kp.networks.MLP(3, 1, activation="sin")),
    "ModifiedMLP": (wave, lambda: kp.networks.ModifiedMLP(3, 1, 2)),
    "gate_input": (wave, lambda: kp.networks.ModifiedMLP(3, 2, 2, gate_input=True)),
    "functional": (exact, functional),
    "sequential": (exact, sequential),
    "compiled before": (exact, compiled_before),
    "subclass": (exact, lambda: Fourier(4)),
    "stream function": (
        lambda: kp.problems.lid_driven_cavity(formulation="streamfunction-pressure"),
        lambda: kp.networks.MLP(3, 1, 2),
    ),
}


@pytest.fixture(params=NETWORKS)
def model(request):
    """Return a model whose variables all differ from those of a new one."""
    problem, network = NETWORKS[request.param]
    model = kp.PINNModel(problem(), network(), seed=11)
    rate = keras.optimizers.schedules.CosineDecay(1e-2, 100, warmup_steps=10)
    optimizer = keras.optimizers.AdamW(rate, use_ema=True, clipnorm=1.0)
    model.compile(optimizer, steps_per_execution=3, jit_compile=False)
    generator = np.random.default_rng(1)
    for variable in [*model.variables, *model.optimizer.variables]:
        numbers = generator.normal(size=variable.shape)
        variable.assign(numbers + 5 if "int" in variable.dtype else numbers)
    return model


def state(model, optimizer=True):
    variables = [*model.variables, *(model.optimizer.variables if optimizer else ())]
    # Keras does not save Dropout's seed, and here Dropout is inactive.
    variables = [v for v in variables if "seed_generator" not in v.path]
    return [variable.numpy().tobytes() for variable in variables]


def check_equal(copy, model):
    """Save and load bit-exact, with all state outside of the variables."""
    assert state(copy) == state(model)
    assert copy.problem.get_config() == model.problem.get_config()
    assert copy.compiled_with == model.compiled_with
    assert copy.optimizer.get_config() == model.optimizer.get_config()
    assert copy.seed == model.seed
    assert copy.problem.scales == model.problem.scales
    assert set(copy.loss_weights) == set(model.loss_weights)
    assert copy.derivative_engine == model.derivative_engine
    points = model.problem.domain.grid(3)
    np.testing.assert_array_equal(copy(points), model(points))


@pytest.mark.slow
@pytest.mark.parametrize("load", [keras.models.load_model, kp.load_model])
def test_whole_model_round_trip(tmp_path, model, load):
    model.save(tmp_path / "model.keras")
    check_equal(load(tmp_path / "model.keras"), model)


@pytest.mark.slow
def test_weights_round_trip(tmp_path, model):
    model.save_weights(tmp_path / "model.weights.h5")
    other = type(model).from_config(model.get_config())
    other.compile_from_config(model.get_compile_config())
    assert state(other) != state(model)
    other.load_weights(tmp_path / "model.weights.h5")
    check_equal(other, model)


@pytest.mark.slow
def test_clone_round_trip(model):
    """Clone a model, with new weights and a new optimizer."""
    clone = keras.models.clone_model(model)
    assert clone.problem.get_config() == model.problem.get_config()
    assert clone.network is not model.network and clone.seed == model.seed
    assert clone.optimizer is not model.optimizer
    assert clone.optimizer.get_config() == model.optimizer.get_config()
    assert clone.optimizer.iterations.numpy() == 0
    assert state(clone, optimizer=False) != state(model, optimizer=False)
    clone.set_weights(model.get_weights())
    assert state(clone, optimizer=False) == state(model, optimizer=False)
    points = model.problem.domain.grid(3)
    np.testing.assert_array_equal(clone(points), model(points))
