"""Model files of unknown origin give a model, or a sentence."""

import importlib
import pathlib
import sys

import keras
import numpy as np
import pytest

import keraspinn as kp

FOLDER = pathlib.Path(__file__).parents[1] / "examples" / "reliability"


@pytest.fixture(scope="module")
def example():
    """The modules of the command that fuzzes files."""
    sys.path.insert(0, str(FOLDER))
    try:
        names = ("mutations", "attacks", "fuzz")
        yield {name: importlib.import_module(name) for name in names}
    finally:
        sys.path.remove(str(FOLDER))


@pytest.fixture(scope="module")
def files(example, tmp_path_factory):
    return example["mutations"].whole_files(tmp_path_factory.mktemp("files"))


def write(folder, content):
    path = folder / "file.keras"
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("place", range(3))
def test_whole_files_give_what_keras_gives(tmp_path, files, place):
    path = write(tmp_path, files[place])
    model, other = kp.load_model(path), keras.models.load_model(path)
    assert model.problem.get_config() == other.problem.get_config()
    for one, two in zip(model.get_weights(), other.get_weights(), strict=True):
        np.testing.assert_array_equal(one, two)
    assert model.compiled and not kp.load_model(path, compile=False).compiled


def test_a_layer_called_on_numbers_is_refused(tmp_path, example):
    """Keras computes such a call at once, however much that is."""
    inputs = keras.Input((1,))
    first = keras.layers.Dense(3, name="first")(inputs[:, 0:1])
    network = keras.Model(inputs, keras.layers.Dense(1)(first))
    model = kp.PINNModel(kp.problems.poisson(), network, seed=0)
    path = tmp_path / "sliced.keras"
    model.save(path)
    kp.load_model(path)

    def call_on_numbers(config):
        layers = config["config"]["network"]["config"]["layers"]
        own = next(layer for layer in layers if layer["name"] == "first")
        own["inbound_nodes"].append({"args": [0.0, 1.0], "kwargs": {}})

    change = example["mutations"].with_config
    bad = write(tmp_path, change(path.read_bytes(), call_on_numbers))
    with pytest.raises(ValueError, match="no output of another"):
        kp.load_model(bad)


def test_attacks_are_refused(tmp_path, example, files):
    """All of them but these, which do no harm."""
    canary = tmp_path / "canary"
    attacks = example["attacks"].attacks(files[1], str(canary), "no_such_module")
    modules = set(sys.modules)
    loaded = []
    for name, content in attacks.items():
        try:
            kp.load_model(write(tmp_path, content))
            loaded.append(name)
        except ValueError as error:
            assert 20 < len(str(error)) < 1500, name
    assert loaded == ["no such key"]
    assert len(attacks) > 100 and not canary.exists()
    assert {m.split(".")[0] for m in set(sys.modules) - modules} <= {"keras"}


@pytest.mark.parametrize(
    ("attack", "message"),
    [
        ("the future", "in format 99 by keraspinn 99.0. This is keraspinn 0"),
        ("units 1000000000", "describes a network of .* numbers, and holds"),
        ("depth 1000000000", "1e[+]09 layers deep"),
        (
            "a Lambda layer",
            "asks for keras.layers.Lambda.* use keras.models.load_model",
        ),
        ("a bomb", "config.json would take 300"),
        ("weights: link", "refer to elsewhere, at 'link'"),
        ("weights: promised", "do not hold the numbers they speak of, at 'promised'"),
        ("brackets 100000 deep", "nested too deep"),
        ("a model in a model", "a model within a model"),
        ("nothing but null", "describes no model"),
        ("empty", "not a `.keras` file, or a part of one"),
        ("registered keraspinn>Data", "saved Data lacks the entry 'expressions'"),
        ("a condition's name", "Expected a saved Condition or Data. Received: None"),
    ],
)
def test_says_what_is_wrong(tmp_path, example, files, attack, message):
    content = example["attacks"].attacks(files[1], "canary", "no_such_module")[attack]
    with pytest.raises(ValueError, match=f"file.keras cannot be loaded. .*{message}"):
        kp.load_model(write(tmp_path, content))


def test_changed_files_are_refused_or_whole(tmp_path, example, files):
    outcomes = set()
    for seed in range(40):
        kind, content = example["mutations"].mutated(files, seed)
        found = example["fuzz"].examined(write(tmp_path, content))
        assert found["outcome"] in ("refused", "loaded"), (kind, seed, found)
        assert found["bytes"] < example["fuzz"].MEMORY
        outcomes.add(found["outcome"])
    assert outcomes == {"refused", "loaded"}


def test_a_class_of_ones_own_must_be_registered(tmp_path):
    @keras.saving.register_keras_serializable("test_loading")
    class Mine(keras.layers.Dense):
        pass

    model = kp.PINNModel(kp.problems.poisson(2), keras.Sequential([Mine(1)]), seed=0)
    path = tmp_path / "model.keras"
    model.save(path)
    assert type(kp.load_model(path).network.layers[0]) is Mine
    keras.saving.get_custom_objects().pop("test_loading>Mine")
    with pytest.raises(
        ValueError, match="Mine, which is not built.*register it before"
    ):
        kp.load_model(path)


def test_there_must_be_a_file(tmp_path):
    with pytest.raises(FileNotFoundError, match="no file .*nowhere"):
        kp.load_model(tmp_path / "nowhere.keras")


def test_leaves_nothing_for_keras_to_make(tmp_path, example, files):
    """What a refused file describes is not made later, by another model's scope."""
    content = example["attacks"].attacks(files[1], "canary", "no_such_module")
    kp.load_model(write(tmp_path, files[0]))
    with pytest.raises(ValueError, match="describes a network"):
        kp.load_model(write(tmp_path, content["units 100000"]))
    with keras.StatelessScope():
        layer = keras.layers.Dense(2)
        layer.build((3,))
    assert layer.kernel.numpy().shape == (3, 2)


def test_long_names_are_refused(tmp_path, example, files):
    """Keras copies a name into that of every variable, and again."""

    def rename(config):
        config["config"]["network"]["config"]["name"] = "n" * 10**6

    change = example["mutations"].with_config
    bad = write(tmp_path, change(files[0], rename))
    with pytest.raises(ValueError, match="holds a text of 1000000 characters: 'nnn"):
        kp.load_model(bad)


@keras.saving.register_keras_serializable("tests")
class Shared(keras.layers.Dense):
    """One matrix applied many times over, in double precision."""

    def __init__(self, units, depth=40, **kwargs):
        super().__init__(units, **kwargs)
        assert keras.config.dtype_policy().name == "float64"
        self.depth = depth

    def get_config(self):
        return super().get_config() | {"depth": self.depth}


def test_the_depth_of_others_is_theirs_and_the_policy_the_thread_s(tmp_path):
    before = keras.config.dtype_policy()
    keras.config.set_dtype_policy("float64")
    try:
        network = keras.Sequential([Shared(2), keras.layers.Dense(1)])
        path = tmp_path / "shared.keras"
        kp.PINNModel(kp.problems.poisson(), network, seed=0).save(path)
        assert kp.load_model(path).network.layers[0].depth == 40
    finally:
        keras.config.set_dtype_policy(before)


def test_finds_classes_of_a_scope(tmp_path):
    class Own(keras.Model):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.dense = keras.layers.Dense(1)

        def call(self, x):
            return self.dense(x)

    path = tmp_path / "own.keras"
    kp.PINNModel(kp.problems.poisson(), Own(), seed=0).save(path)
    with pytest.raises(ValueError, match="register it before"):
        kp.load_model(path)
    with keras.saving.custom_object_scope({"Own": Own}):
        assert isinstance(kp.load_model(path).network, Own)
