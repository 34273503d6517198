"""Small trainings that together have all kinds of state."""

import hashlib
import json
import pathlib
import resource

import keras
import numpy as np
import sympy as sp

import keraspinn as kp

# Number of steps of an epoch.
STEPS = 200
x, y = sp.symbols("x y")
u = sp.Function("u")(x, y)


def annealed():
    """Return a training with a gated network, annealing and a decaying rate."""
    schedule = keras.optimizers.schedules.ExponentialDecay(1e-2, 500, 0.9)
    network = kp.networks.ModifiedMLP(8, 2)
    return kp.problems.helmholtz(), network, keras.optimizers.Adam(schedule), {}


def inverse():
    """Return one with a parameter, measurements, weight decay and clipped gradients."""
    c = kp.Parameter("c", initial=0.2)
    points = np.random.default_rng(0).uniform(0, 1, (40, 2))
    problem = kp.Problem(
        domain=kp.geometry.Box({x: (0, 1), y: (0, 1)}),
        equations={"poisson": sp.Eq(c * (u.diff(x, 2) + u.diff(y, 2)), 1)},
        conditions={
            "walls": kp.Condition(sp.Eq(u, 0), on=[{x: 0}, {x: 1}], weight=3.0),
            "sensors": kp.Data(points, {u: np.prod(points * (1 - points), axis=1)}),
        },
    )
    optimizer = keras.optimizers.AdamW(1e-2, weight_decay=1e-3, clipnorm=5.0)
    return problem, kp.networks.MLP(8, 2), optimizer, {"batch_size": {"sensors": 16}}


def averaged():
    """Return one with averaged weights that overwrite them, and constant points."""
    optimizer = keras.optimizers.Adam(
        1e-2, use_ema=True, ema_momentum=0.9, ema_overwrite_frequency=70
    )
    held = np.random.default_rng(1).uniform(-1, 1, (500, 2))
    network = keras.Sequential([keras.layers.Dense(8, "tanh"), keras.layers.Dense(1)])
    return kp.problems.helmholtz(), network, optimizer, {"x": held, "batch_size": 32}


def stepwise():
    """Return one with momentum and a learning rate that a callback lowers."""
    optimizer = keras.optimizers.SGD(3e-5, momentum=0.9, nesterov=True)
    return kp.problems.poisson(2), kp.networks.MLP(8, 2), optimizer, {}


TRAININGS = {f.__name__: f for f in (annealed, inverse, averaged, stepwise)}


def halve_the_rate(epoch, rate):
    """Return the learning rate, halved after every fourth epoch."""
    return rate / 2 if epoch and epoch % 4 == 0 else rate


class FullDisk(keras.callbacks.Callback):
    """Limit on the size of files, one page from an epoch to the end of training."""

    def __init__(self, epoch):
        super().__init__()
        self._epoch = epoch

    def on_epoch_begin(self, epoch, logs=None):
        if epoch >= self._epoch:
            self._let_files_grow_to(4096)

    def on_train_end(self, logs=None):
        self._let_files_grow_to(resource.RLIM_INFINITY)

    @staticmethod
    def _let_files_grow_to(size):
        limits = size, resource.RLIM_INFINITY
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


class Announce(keras.callbacks.Callback):
    """Callback that reports the phase of training to the parent process."""

    def __init__(self, tell):
        super().__init__()
        self._tell = tell

    def on_epoch_begin(self, epoch, logs=None):
        self._tell("training")

    def on_epoch_end(self, epoch, logs=None):
        self._tell("writing")


def train(
    name, folder, epochs, restart="backup", full_from=None, tell=lambda phase: None
):
    """Run one process of a training, which begins or resumes from the folder.

    Args:
        name: Key of `TRAININGS`.
        folder: Directory for the files of the training.
        epochs: Number of epochs in all.
        restart: File to resume from: `"backup"`, `"checkpoint"`, or `"keras"` for
            the BackupAndRestore of Keras.
        full_from: Epoch from which the disk is full, or `None`.
        tell: Function that receives the name of each phase when it begins.
    """
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    checkpoint = folder / "model.keras"
    keras.utils.set_random_seed(0)
    problem, network, optimizer, options = TRAININGS[name]()
    model = kp.PINNModel(problem, network, seed=7)
    model.compile(optimizer, steps_per_execution=50)
    epoch = 0
    if restart == "checkpoint" and checkpoint.exists():
        model = keras.models.load_model(checkpoint)
        epoch = int(model.optimizer.iterations.numpy()) // STEPS
    callbacks = [Announce(tell)]
    if full_from is None:
        callbacks.append(keras.callbacks.ModelCheckpoint(str(checkpoint)))
    else:  # ModelCheckpoint would fail on a full disk
        callbacks.append(FullDisk(full_from))
    if name != "averaged":
        callbacks.insert(0, kp.callbacks.LearningRateAnnealing())
    if name == "stepwise":
        callbacks.insert(0, keras.callbacks.LearningRateScheduler(halve_the_rate))
    if restart == "backup":
        callbacks.append(kp.callbacks.BackupAndRestore(folder / "backup"))
    if restart == "keras":
        callbacks.append(keras.callbacks.BackupAndRestore(str(folder / "keras")))
    tell("starting")
    history = model.fit(
        steps_per_epoch=STEPS,
        epochs=epochs,
        initial_epoch=epoch,
        callbacks=callbacks,
        verbose=0,
        **options,
    )
    tell("ending")
    record = {"state": digests(model), "epochs": history.epoch}
    record["history"] = history.history
    (folder / "end.json").write_text(json.dumps(record))
    tell("ended")


def digests(model):
    """Return a hash of each variable of a model and its optimizer."""
    digests = {}
    for number, variable in enumerate([*model.variables, *model.optimizer.variables]):
        value = variable.numpy()
        # In a loaded model the paths are shorter; the order is the same.
        key = f"{number} {value.dtype}{list(value.shape)}"
        digests[key] = hashlib.sha256(value.tobytes()).hexdigest()
    return digests
