"""Killed trainings, which resume from the last complete epoch bit-exact."""

import json

import keras
import numpy as np
import pytest

import keraspinn as kp
from keraspinn.training.trainer import Trainer
from tensors import FEW_STEPS

STEPS = 5


class Died(BaseException):
    """Substitute for SIGKILL; examples/reliability/kills.py sends real ones."""


class Dies(keras.callbacks.Callback):
    """Callback that raises at the end of an epoch, in its turn of the list."""

    def __init__(self, epoch):
        super().__init__()
        self._epoch = epoch

    def on_epoch_end(self, epoch, logs=None):
        if epoch == self._epoch:
            raise Died


def compiled(**options):
    model = kp.PINNModel(kp.problems.poisson(2), kp.networks.MLP(4, 1), seed=0)
    for seed, variable in enumerate(model.trainable_variables):
        shape = variable.shape
        variable.assign(np.random.default_rng(seed).normal(size=shape))
    schedule = keras.optimizers.schedules.ExponentialDecay(1e-2, 7, 0.9)
    model.compile(keras.optimizers.Adam(schedule), **(options or FEW_STEPS))
    return model


def fit(model, *callbacks, epochs=4, **options):
    annealing = kp.callbacks.LearningRateAnnealing(update_freq=3)
    return model.fit(
        batch_size=8,
        steps_per_epoch=STEPS,
        epochs=epochs,
        verbose=0,
        callbacks=[annealing, *callbacks],
        **options,
    )


def state(model):
    variables = [*model.variables, *model.optimizer.variables]
    return [variable.numpy().tobytes() for variable in variables]


@pytest.fixture(scope="module")
def undisturbed():
    model = compiled()
    history = fit(model)
    return state(model), history.history


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "backup"


def backup(folder, **options):
    return kp.callbacks.BackupAndRestore(folder, **options)


def die_after(folder, epoch, first=False):
    pair = [Dies(epoch), backup(folder)]
    with pytest.raises(Died):
        fit(compiled(), *(pair if first else reversed(pair)))


@pytest.mark.parametrize("before_it_is_written", [False, True])
def test_resume_after_kill_is_bit_exact(folder, undisturbed, before_it_is_written):
    die_after(folder, 2, first=before_it_is_written)
    newest = max(folder.glob("epoch-*"))
    assert newest.stem.endswith("2" if before_it_is_written else "3")
    model = compiled()
    history = fit(model, backup(folder))
    assert state(model) == undisturbed[0]
    assert history.epoch == [0, 1, 2, 3] and history.history == undisturbed[1]
    assert not folder.exists()


@pytest.mark.slow
def test_later_fit_begins_at_initial_epoch(folder):
    """Run two stages in one program, and resume the first."""
    die_after(folder, 1)
    model = compiled()
    fit(model, backup(folder))
    assert fit(model, epochs=2).epoch == [0, 1]
    assert fit(model, epochs=6, initial_epoch=4).epoch == [4, 5]


class StopsWithin(keras.callbacks.Callback):
    """Callback that stops training within an epoch, and logs a text."""

    def on_train_batch_end(self, batch, logs=None):
        self.model.stop_training = self.model.steps_taken >= 2 * STEPS + 3

    def on_epoch_end(self, epoch, logs=None):
        if epoch == 0:
            logs["note"] = "a text"


@pytest.mark.slow
def test_resume_repeats_an_epoch_stopped_within(folder):
    model = compiled(run_eagerly=True)
    fit(model, StopsWithin(), backup(folder, delete_checkpoint=False))
    assert max(folder.glob("epoch-*")).stem.endswith("2")
    model = compiled()
    history = fit(model, backup(folder))
    assert model.steps_taken == 4 * STEPS and history.epoch == [0, 1, 2, 3]
    assert history.history["note"] == ["a text"]


class Spoils(keras.callbacks.Callback):
    """Callback that sets a weight to NaN in an epoch."""

    def on_epoch_begin(self, epoch, logs=None):
        if epoch == 3:
            weight = self.model.trainable_variables[0]
            weight.assign(np.full(weight.shape, np.nan))


@pytest.mark.slow
def test_resume_discards_weights_after_the_backup(folder):
    die_after(folder, 2)
    model = compiled()
    restore = kp.callbacks.RestoreOnNonFinite(every=100)
    with pytest.warns(RuntimeWarning, match=f"Back to iteration {3 * STEPS}"):
        fit(model, restore, Spoils(), backup(folder, delete_checkpoint=False))
    assert max(folder.glob("epoch-*")).stem.endswith("3")


@pytest.mark.slow
def test_resume_after_two_kills_is_bit_exact(folder, undisturbed):
    die_after(folder, 0)
    die_after(folder, 2)
    model = compiled()
    history = fit(model, backup(folder))
    assert state(model) == undisturbed[0] and history.history == undisturbed[1]


@pytest.mark.slow
def test_partial_backup_is_ignored(folder, undisturbed):
    die_after(folder, 1)
    (folder / "partial-1-epoch-00000003.npz").write_bytes(b"PK")
    model = compiled()
    fit(model, backup(folder))
    assert state(model) == undisturbed[0] and not folder.exists()


def flip(data):
    middle = len(data) // 2
    return data[:middle] + bytes([data[middle] ^ 1]) + data[middle + 1 :]


@pytest.mark.slow
@pytest.mark.parametrize("damage", [flip, lambda data: data[:-100]])
def test_damaged_backup_is_skipped(folder, undisturbed, damage):
    die_after(folder, 2)
    path = max(folder.glob("epoch-*"))
    path.write_bytes(damage(path.read_bytes()))
    model = compiled()
    with pytest.warns(UserWarning, match="epoch-00000003.npz is damaged"):
        fit(model, backup(folder))
    assert state(model) == undisturbed[0]


@pytest.mark.slow
def test_kept_backup_returns_the_trained_model(folder, undisturbed):
    fit(compiled(), backup(folder, delete_checkpoint=False))
    assert len(list(folder.glob("epoch-*"))) == 2
    model = compiled()
    history = fit(model, backup(folder, delete_checkpoint=False))
    assert state(model) == undisturbed[0]
    assert history.epoch == [0, 1, 2, 3] and history.history == undisturbed[1]


def test_backup_deletes_only_its_files(folder):
    folder.mkdir()
    (folder / "mine.txt").write_text("mine")
    fit(compiled(), backup(folder), epochs=1)
    assert [path.name for path in folder.iterdir()] == ["mine.txt"]


@pytest.mark.slow
@pytest.mark.parametrize(("units", "optimizer"), [(5, "adam"), (4, "sgd")])
def test_rejects_the_backup_of_another_model(folder, units, optimizer):
    die_after(folder, 0)
    other = kp.PINNModel(kp.problems.poisson(2), kp.networks.MLP(units, 1), seed=0)
    other.compile(optimizer, **FEW_STEPS)
    with pytest.raises(
        ValueError, match="(?s)epoch-0+1.npz is of another training.*delete"
    ):
        fit(other, backup(folder))


@pytest.mark.slow
def test_resume_samples_points_of_the_seed_of_the_backup(folder):
    """Take the seed from the backup; the next process would draw another."""

    def unseeded():
        model = kp.PINNModel(kp.problems.poisson(), kp.networks.MLP(4, 1))
        model.compile("adam", jit_compile=False)
        return model

    first, second = unseeded(), unseeded()
    assert first.seed != second.seed
    with pytest.raises(Died):
        fit(first, backup(folder), Dies(1))
    fit(second, backup(folder))
    assert second.seed == first.seed


@pytest.mark.slow
def test_resume_with_other_steps_per_execution(folder):
    uninterrupted, interrupted, resumed = (
        compiled(steps_per_execution=steps, jit_compile=False) for steps in (5, 2, 3)
    )
    fit(uninterrupted)
    with pytest.raises(Died):
        fit(interrupted, Dies(1), backup(folder))
    fit(resumed, backup(folder))
    assert resumed.steps_taken == 4 * STEPS and state(resumed) == state(uninterrupted)


class Further(np.ndarray):
    """Array with the `assign` of a variable."""

    def assign(self, value):
        self[:] = value


class FurtherState(Trainer):
    """Trainer with state that the test sets."""

    memory = ()

    @property
    def state_variables(self):
        return [*super().state_variables, *self.memory]


def with_further_state(*memory):
    model = kp.PINNModel(kp.problems.poisson(2), kp.networks.MLP(4, 1), seed=0)
    model.trainer = FurtherState(model)
    model.trainer.memory = [np.array(array).view(Further) for array in memory]
    model.compile(**FEW_STEPS)
    return model


@pytest.mark.slow
def test_restores_further_state_bit_exact(folder):
    memory = [np.array([np.nan, -0.0, 5e-324]), np.array([2**62 + 1, -1])]
    with pytest.raises(Died):
        fit(with_further_state(*memory), Dies(1), backup(folder))
    resumed = with_further_state(np.zeros(3), np.zeros(2, "int64"))
    fit(resumed, backup(folder))
    for restored, expected in zip(resumed.trainer.memory, memory, strict=True):
        assert restored.dtype == expected.dtype
        assert restored.tobytes() == expected.tobytes()


class FullDisk(keras.callbacks.Callback):
    """Callback that limits the bytes of files for two epochs."""

    def __init__(self, limit):
        super().__init__()
        self._limit = limit

    def on_epoch_begin(self, epoch, logs=None):
        resource = pytest.importorskip("resource")
        most = self._limit if epoch in (1, 2) else resource.RLIM_INFINITY
        limits = most, resource.RLIM_INFINITY
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.slow
def test_training_continues_while_the_disk_is_full(folder, undisturbed):
    model = compiled()
    with pytest.warns(
        UserWarning, match="No backup of epoch [23].*continues"
    ) as warned:
        fit(model, FullDisk(3000), backup(folder, delete_checkpoint=False))
    texts = [str(w.message) for w in warned if "No backup" in str(w.message)]
    assert len(texts) == 2 and all("from epoch-00000001" in text for text in texts)
    names = {path.name for path in folder.iterdir()}
    assert names == {"epoch-00000001.npz", "epoch-00000004.npz"}
    assert state(model) == undisturbed[0]


@pytest.mark.slow
def test_resume_after_kill_on_a_full_disk(folder, undisturbed):
    with pytest.raises(Died), pytest.warns(UserWarning, match="No backup"):
        fit(compiled(), FullDisk(3000), backup(folder), Dies(2))
    FullDisk(0).on_epoch_begin(0)
    model = compiled()
    fit(model, backup(folder))
    assert state(model) == undisturbed[0]


def test_rejects_an_unwritable_directory_at_once(tmp_path):
    (tmp_path / "file").write_text("")
    model = compiled()
    with pytest.raises(OSError, match="backup"):
        fit(model, backup(tmp_path / "file" / "backup"))
    assert model.steps_taken == 0


@pytest.mark.slow
def test_resume_by_keras_backup_is_bit_exact(tmp_path, undisturbed):
    folder = str(tmp_path / "keras")
    with pytest.raises(Died):
        fit(compiled(), keras.callbacks.BackupAndRestore(folder), Dies(1))
    model = compiled()
    fit(model, keras.callbacks.BackupAndRestore(folder))
    assert state(model) == undisturbed[0]


@pytest.mark.slow
def test_keras_backup_killed_between_its_files_repeats_an_epoch(tmp_path, undisturbed):
    """Interrupt Keras's callback between the weights and the epoch's number."""
    folder = tmp_path / "keras"
    with pytest.raises(Died):
        fit(compiled(), keras.callbacks.BackupAndRestore(str(folder)), Dies(1))
    (folder / "training_metadata.json").write_text(json.dumps({"epoch": 1}))
    model = compiled()
    fit(model, keras.callbacks.BackupAndRestore(str(folder)))
    assert model.optimizer.iterations.numpy() == 5 * STEPS
    assert state(model) != undisturbed[0]


@pytest.mark.slow
def test_resume_from_model_checkpoint_is_bit_exact(tmp_path, undisturbed):
    path = str(tmp_path / "model.keras")
    with pytest.raises(Died):
        fit(compiled(), keras.callbacks.ModelCheckpoint(path), Dies(1))
    model = keras.models.load_model(path)
    epoch = int(model.optimizer.iterations.numpy()) // STEPS
    fit(model, initial_epoch=epoch)
    assert epoch == 2 and state(model) == undisturbed[0]
