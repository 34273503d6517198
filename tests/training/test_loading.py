"""Model files of unknown origin: loaded or rejected, without running code."""

import io
import json
import sys
import zipfile
from pathlib import Path

import keras
import numpy as np
import pytest

import keraspinn as kp
from keraspinn.training.digests import weights_digest

PROBLEM = kp.problems.poisson()


@keras.saving.register_keras_serializable("test_loading")
class Own(keras.layers.Dense):
    """Registered custom layer."""


@keras.saving.register_keras_serializable("test_loading")
class Subclass(keras.Model):
    """Network whose layers take the current dtype policy."""

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.hidden, self.head = keras.layers.Dense(3, "tanh"), keras.layers.Dense(1)

    def call(self, x):
        return self.head(self.hidden(x))


def functional():
    dtype = keras.config.dtype_policy().compute_dtype  # Input takes floatx otherwise
    inputs = keras.Input((1,), dtype=dtype)
    hidden = keras.layers.Dense(
        3,
        activation="gelu",
        kernel_initializer="he_normal",
        kernel_regularizer="l2",
        kernel_constraint="max_norm",
        name="hidden",
    )(inputs[:, 0:1])
    hidden = keras.layers.Concatenate()([hidden, keras.ops.sin(inputs) * 2.0])
    return keras.Model(inputs, keras.layers.Dense(1)(hidden))


NETWORKS = {
    "MLP": lambda: kp.networks.MLP(3, 2, activation="sin"),
    "ModifiedMLP": lambda: kp.networks.ModifiedMLP(3, 2),
    "Sequential": lambda: keras.Sequential([keras.layers.Dense(3, "swish"), Own(1)]),
    "functional": functional,
    "subclass": Subclass,
}


def save(path, network="functional"):
    model = kp.PINNModel(PROBLEM, NETWORKS[network](), seed=0)
    schedule = keras.optimizers.schedules.CosineDecay(1e-3, 10)
    model.compile(keras.optimizers.Adam(schedule))
    model.save(path)
    return model


@pytest.mark.parametrize("network", NETWORKS)
def test_models_of_all_kinds_load(tmp_path, network):
    model = save(tmp_path / "model.keras", network)
    loaded = kp.load_model(tmp_path / "model.keras")
    points = np.linspace(0, 1, 5)[:, None]
    np.testing.assert_array_equal(loaded.predict(points), model.predict(points))
    assert loaded.compiled
    assert not kp.load_model(tmp_path / "model.keras", compile=False).compiled


@pytest.fixture
def under():
    """Function that sets the dtype policy until the test ends."""
    previous = keras.config.dtype_policy()
    yield keras.config.set_dtype_policy
    keras.config.set_dtype_policy(previous)


@pytest.mark.parametrize(
    ("network", "precision"),
    [("MLP", "float32"), *((name, "float64") for name in NETWORKS)],
)
def test_model_keeps_its_precision_under_any_policy(
    tmp_path, under, precision, network
):
    under(precision)
    model = save(tmp_path / "model.keras", network)
    for policy in ("float32", "float64"):
        under(policy)
        loaded = kp.load_model(tmp_path / "model.keras")
        assert keras.config.dtype_policy().name == policy
        assert loaded.network.compute_dtype == loaded.compute_dtype == precision
        assert weights_digest(loaded) == weights_digest(model)


def test_ensemble_keeps_its_precision_under_any_policy(tmp_path, under):
    ensemble = kp.Ensemble(PROBLEM, NETWORKS["Sequential"](), size=2)
    ensemble.astype("float64").save(tmp_path / "ensemble.keras")
    for policy in ("float32", "float64"):
        under(policy)
        loaded = kp.load_model(tmp_path / "ensemble.keras")
        assert {v.dtype for v in loaded.network.weights} == {"float64"}


@pytest.mark.slow
@pytest.mark.parametrize("load", [kp.load_model, keras.models.load_model])
def test_file_of_version_0_1_predicts_the_same(load):
    """Compare an annealed gated network for Helmholtz with numbers of version 0.1."""
    model = load(Path(__file__).parent / "files" / "version-0.1.keras")
    points = np.linspace(-1, 1, 8, dtype="float32").reshape(4, 2)
    expected = [0.20187458, -0.06899985, -0.1861274, -0.11001802]
    predicted = model.predict(points, verbose=0)[:, 0]
    np.testing.assert_allclose(predicted, expected, atol=1e-6)
    assert float(model.loss_weights["boundary"]) == pytest.approx(364.74896)
    assert model.fit(steps_per_epoch=1, batch_size=4, verbose=0).history["loss"][0] > 0


@pytest.fixture(scope="module")
def file_bytes(tmp_path_factory):
    path = tmp_path_factory.mktemp("whole") / "model.keras"
    save(path)
    return path.read_bytes()


def changed(content, change):
    """Return the bytes of a file with a changed configuration."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    config = json.loads(parts["config.json"])
    change(config)
    parts["config.json"] = json.dumps(config).encode()
    changed = io.BytesIO()
    with zipfile.ZipFile(changed, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    return changed.getvalue()


def hidden(config):
    layers = config["config"]["network"]["config"]["layers"]
    return next(layer for layer in layers if layer["name"] == "hidden")


def layer(**entry):
    """Replace a layer by another one of the same configuration."""
    return lambda config: hidden(config).update(entry)


def activation(function):
    return lambda config: hidden(config)["config"].update(activation=function)


def function(module, name, registered="function"):
    keys = ("module", "class_name", "config", "registered_name")
    return dict(zip(keys, (module, "function", name, registered), strict=True))


LAMBDA = {"class_name": "__lambda__", "config": {"value": "x"}}
GADGETS = {
    "Lambda": layer(class_name="Lambda", config={"function": LAMBDA}),
    "a saved TensorFlow program": layer(class_name="TFSMLayer"),
    "a reader of files": layer(
        class_name="StringLookup", config={"vocabulary": __file__}
    ),
    "a function of layers": layer(class_name="deserialize"),
    "a class of Python's": layer(module="subprocess", class_name="Popen"),
    "a module to import": layer(module="no_such_module", class_name="Dense"),
    "a helper of Keras's": layer(module="keras.utils", class_name="get_file"),
    "a class under a registered name": layer(registered_name="keraspinn>MLP"),
    "a lambda": activation(LAMBDA),
    "a type": activation({"class_name": "__typespec__", "config": [], "module": "os"}),
    "a function": activation(function("os", "system", "system")),
    "a builtin": activation(function("builtins", "eval", "eval")),
}


@pytest.mark.parametrize("name", GADGETS)
def test_rejects_pickle_gadgets(tmp_path, file_bytes, name):
    path = tmp_path / "bad.keras"
    path.write_bytes(changed(file_bytes, GADGETS[name]))
    modules = set(sys.modules)
    with pytest.raises(ValueError, match="bad.keras cannot be loaded. "):
        kp.load_model(path)
    assert not {m.split(".")[0] for m in set(sys.modules) - modules} - {"keras"}


def from_the_future(config):
    config["config"]["problem"]["config"].update(format=99, version="99.0")


def with_another_condition(config):
    conditions = config["config"]["problem"]["config"]["conditions"]
    next(iter(conditions.values()))["registered_name"] = None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (from_the_future, "in format 99 by keraspinn 99.0. This is keraspinn"),
        (with_another_condition, "Expected a saved .*Condition"),
        (lambda config: hidden(config)["config"].pop("units"), "missing"),
    ],
)
def test_error_names_the_fault_of_a_file(tmp_path, file_bytes, change, message):
    path = tmp_path / "bad.keras"
    path.write_bytes(changed(file_bytes, change))
    with pytest.raises(ValueError, match=f"bad.keras cannot be loaded. .*{message}"):
        kp.load_model(path)


@pytest.mark.parametrize("length", [0, 100, 5000])
def test_rejects_truncated_files(tmp_path, file_bytes, length):
    path = tmp_path / "half.keras"
    path.write_bytes(file_bytes[:length])
    with pytest.raises(ValueError, match="not a `.keras` file, or a part of one"):
        kp.load_model(path)


def test_rejects_missing_files(tmp_path):
    with pytest.raises(FileNotFoundError, match="no file .*nowhere"):
        kp.load_model(tmp_path / "nowhere.keras")


def test_custom_classes_must_be_registered(tmp_path):
    class Mine(keras.layers.Dense):
        pass

    model = kp.PINNModel(PROBLEM, keras.Sequential([Mine(1, "tanh")]), seed=0)
    path = tmp_path / "model.keras"
    model.save(path)
    with pytest.raises(ValueError, match="class 'Mine'.*register_keras_ser"):
        kp.load_model(path)
    with keras.saving.custom_object_scope({"Mine": Mine}):
        assert type(kp.load_model(path).network.layers[0]) is Mine
