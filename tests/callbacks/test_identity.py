"""Identity checks: only the training that wrote a backup can resume from it."""

import shutil

import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn as kp
from tensors import FEW_STEPS

x, y = sp.symbols("x y")
u = sp.Function("u")(x, y)


def problem(k=1, side=1, walls=0, **options):
    return kp.Problem(
        domain=kp.geometry.Box({x: (0, side), y: (0, 1)}),
        equations={"helmholtz": u.diff(x, 2) + u.diff(y, 2) + k**2 * u - sp.sin(x)},
        conditions={
            "walls": kp.Condition(sp.Eq(u, walls), on="boundary"),
            "sensors": kp.Data(np.full((200, 2), 0.5), {u: np.ones(200)}),
        },
        **options,
    )


def network(activation="tanh", units=4):
    layers = [keras.layers.Dense(units, activation), keras.layers.Dense(1)]
    return keras.Sequential(layers)


def train(
    folder,
    problem=problem,
    network=network,
    optimizer=lambda: keras.optimizers.Adam(1e-2),
    seed=0,
    epochs=2,
    rule=kp.callbacks.LearningRateAnnealing,
    batch_size=4,
    steps_per_epoch=2,
    x=None,
    prepare=lambda model: None,
):
    model = kp.PINNModel(problem(), network(), seed=seed)
    prepare(model)
    model.compile(optimizer(), **FEW_STEPS)
    backup = kp.callbacks.BackupAndRestore(folder, delete_checkpoint=False)
    model.fit(
        x,
        batch_size=batch_size,
        steps_per_epoch=steps_per_epoch,
        epochs=epochs,
        callbacks=[*([rule()] if rule else []), backup],
        verbose=0,
    )
    return model


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("backup")
    return folder, train(folder)


@pytest.fixture
def folder(trained, tmp_path):
    return shutil.copytree(trained[0], tmp_path / "backup")


def decayed():
    schedule = keras.optimizers.schedules.ExponentialDecay(1e-2, 10, 0.9)
    return keras.optimizers.Adam(schedule)


OTHERS = {
    "a coefficient": (
        {"problem": lambda: problem(k=5)},
        r"problem.equations.helmholtz: .* became .*25\*u\(x, y\)",
    ),
    "the domain": ({"problem": lambda: problem(side=2)}, r"domain.*1\.0 became 2\.0"),
    "a condition": (
        {"problem": lambda: problem(walls=x)},
        r"conditions.walls.*u\(x, y\) became .*-x",
    ),
    "the activation": (
        {"network": lambda: network("softplus")},
        "tanh became softplus",
    ),
    "the width": ({"network": lambda: network(units=5)}, "units: 4 became 5"),
    "the class of the network": (
        {"network": lambda: kp.networks.MLP(4, 1)},
        "network: Sequential became MLP",
    ),
    "the class of the optimizer": (
        {"optimizer": lambda: keras.optimizers.AdamW(1e-2)},
        "optimizer: Adam became AdamW",
    ),
    "the optimizer's settings": (
        {"optimizer": lambda: keras.optimizers.Adam(1e-2, beta_1=0.8)},
        "optimizer.beta_1: 0.9 became 0.8",
    ),
    "a schedule": ({"optimizer": decayed}, "learning_rate: 0.0.* became .*Decay"),
    "the seed": ({"seed": 1}, "seed: 0 became 1"),
    "the steps": ({"steps_per_epoch": 3}, "steps_per_epoch: 2 became 3"),
    "the rule": ({"rule": None}, "weighting: .*GradientRatio.* became null"),
    "the rule's settings": (
        {"rule": lambda: kp.callbacks.LearningRateAnnealing(alpha=0.5)},
        r"weighting.alpha: 0\.\d+ became 0.5",
    ),
    "a frozen layer": (
        {"prepare": lambda m: setattr(m.network.layers[0], "trainable", False)},
        "trainable: True became False",
    ),
    "the points": ({"x": np.full((4, 2), 0.5)}, "points.residual: nothing became"),
}


@pytest.mark.parametrize("other", OTHERS)
def test_rejects_another_training(folder, other):
    options, differs = OTHERS[other]
    before = sorted(path.name for path in folder.rglob("*"))
    with pytest.raises(ValueError, match=f"(?s)epoch-0+2.npz is of another.*{differs}"):
        train(folder, **options)
    assert sorted(path.name for path in folder.rglob("*")) == before


def test_error_advises_how_to_restart(folder):
    with pytest.raises(ValueError, match="delete .*backup, or give .* another direct"):
        train(folder, seed=1)


MILDER = {
    "the learning rate": (
        {"optimizer": lambda: keras.optimizers.Adam(1e-3)},
        "optimizer.learning_rate: 0.0.* became 0.001",
    ),
    "the batch size": ({"batch_size": 8}, "batch_size.residual: 4 became 8"),
    "the epochs": ({"epochs": 3}, "epochs: 2 became 3"),
}


@pytest.mark.parametrize("other", MILDER)
def test_resume_with_other_settings_warns(folder, other):
    options, differs = MILDER[other]
    with pytest.warns(UserWarning, match=f"(?s)resumes after epoch-0+2.npz.*{differs}"):
        model = train(folder, **{"epochs": 3} | options)
    assert model.steps_taken == 6
    rate = 1e-3 if other == "the learning rate" else 1e-2
    assert float(model.optimizer.learning_rate) == pytest.approx(rate)


def test_resume_of_the_same_training_is_silent(folder, trained, recwarn):
    """Accept other layer names from Keras, and other types from NumPy."""
    model = train(
        folder,
        problem=lambda: problem(k=1, side=np.float64(1), reference={u: x}),
        epochs=np.int64(2),
    )
    assert not [w for w in recwarn if w.category is UserWarning]
    for old, new in zip(trained[1].variables, model.variables, strict=True):
        np.testing.assert_array_equal(old.numpy(), new.numpy())


def test_resume_of_a_functional_network(tmp_path):
    def branched(swapped=False):
        points = keras.Input((2,))
        a = keras.layers.Dense(4, "tanh")(points)
        b = keras.layers.Dense(4, "tanh")(a)
        first, second = (b, a) if swapped else (a, b)
        product = keras.layers.Subtract()([first, second])
        return keras.Model(points, keras.layers.Dense(1)(product))

    train(tmp_path, network=branched)
    assert train(tmp_path, network=branched).steps_taken == 4
    with pytest.raises(ValueError, match="of another network"):
        train(tmp_path, network=lambda: branched(swapped=True))


def test_resume_of_a_network_without_config(tmp_path):
    class Own(keras.layers.Layer):
        def __init__(self, dense):
            super().__init__()
            self.dense = dense

        def call(self, points):
            return self.dense(points)

        def get_config(self):
            raise NotImplementedError

    options = {"network": lambda: Own(keras.layers.Dense(1, "tanh")), "rule": None}
    train(tmp_path, **options, epochs=1)
    with pytest.warns(UserWarning, match="epochs: 1 became 2"):
        assert train(tmp_path, **options).steps_taken == 4
    with pytest.raises(ValueError, match="helmholtz"):
        train(tmp_path, **options, problem=lambda: problem(k=2))


def test_resume_takes_the_random_seed_of_the_backup(tmp_path):
    first = train(tmp_path, seed=None)
    second = train(tmp_path, seed=None)
    assert second.seed == first.seed
    with pytest.raises(ValueError, match="seed: .* became 3"):
        train(tmp_path, seed=3)


def scaled(factor):
    """Return a network whose configuration omits its factor."""
    return keras.Sequential([Scaled(factor), keras.layers.Dense(1)])


class Scaled(keras.layers.Dense):
    def __init__(self, factor, **options):
        super().__init__(4, "tanh", **options)
        self.factor = factor

    def call(self, inputs, training=None):
        return super().call(self.factor * inputs)

    def get_config(self):
        return {"factor": 1.0}


@pytest.mark.slow
def test_rejects_a_network_of_other_fields_from_the_same_weights(tmp_path):
    train(tmp_path, network=lambda: scaled(1.0))
    with pytest.raises(ValueError, match="of another network: with its weights"):
        train(tmp_path, network=lambda: scaled(3.0))
    train(tmp_path, network=lambda: scaled(1.0))


def test_rejects_other_frozen_layers(tmp_path):
    def freeze(model):
        model.network.layers[0].trainable = False

    train(tmp_path, network=lambda: kp.networks.MLP(4, 1))
    with pytest.raises(ValueError, match=r"frozen: nothing became \[0, 1\]"):
        train(tmp_path, network=lambda: kp.networks.MLP(4, 1), prepare=freeze)


def test_resume_with_other_loss_weights_warns(tmp_path):
    def weigh(model):
        model.loss_weights["walls"].assign(100.0)

    train(tmp_path, rule=None)
    with pytest.warns(UserWarning, match=r"loss_weights.walls: 1.0 became 100.0"):
        model = train(tmp_path, rule=None, prepare=weigh, epochs=2)
    assert float(model.loss_weights["walls"]) == 100.0
    assert float(model.loss_weights["sensors"]) == 1.0


class Doubling(keras.callbacks.Callback):
    def on_epoch_end(self, epoch, logs=None):
        weight = self.model.loss_weights["walls"]
        weight.assign(2 * weight)


def test_resume_restores_loss_weights_set_by_a_callback(tmp_path, recwarn):
    train(tmp_path, rule=Doubling)
    model = train(tmp_path, rule=Doubling)
    assert float(model.loss_weights["walls"]) == 4.0
    assert not [w for w in recwarn if w.category is UserWarning]


def loaded(seed):
    def load(model):
        generator = np.random.default_rng(seed)
        values = [generator.normal(size=v.shape) for v in model.network.weights]
        model.network.set_weights(values)

    return load


def test_replacing_loaded_weights_warns(folder):
    with pytest.warns(UserWarning, match="before `fit`, loaded or trained, are replac"):
        train(folder, prepare=loaded(1))


def test_same_loaded_weights_are_silent(tmp_path, recwarn):
    train(tmp_path, prepare=loaded(1))
    train(tmp_path, prepare=loaded(1))
    assert not [w for w in recwarn if w.category is UserWarning]
    with pytest.warns(UserWarning, match="replaced by those of epoch-0+2"):
        train(tmp_path, prepare=loaded(2))


def test_second_fit_of_a_model_is_silent(tmp_path, recwarn):
    model = train(tmp_path, rule=None)
    backup = kp.callbacks.BackupAndRestore(tmp_path, delete_checkpoint=False)
    again = {"batch_size": 4, "steps_per_epoch": 2, "epochs": 2, "verbose": 0}
    model.fit(callbacks=[backup], **again)
    assert not [w for w in recwarn if w.category is UserWarning]
    model.fit(**again)
    with pytest.warns(UserWarning, match="loaded or trained, are replaced"):
        model.fit(callbacks=[backup], **again)
