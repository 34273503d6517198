import os
import pathlib
import warnings
from typing import Any

import keras
import numpy as np
from keras import ops

from keraspinn.backend.compatibility import begin_at_epoch
from keraspinn.callbacks.backup_files import read_state, write_state
from keraspinn.callbacks.identity import compare, identity, listed
from keraspinn.common.checks import checked_flag
from keraspinn.common.differences import differences
from keraspinn.common.lock import Lock
from keraspinn.common.typing import PathLike
from keraspinn.training.digests import sampled_fields, weights_digest

LOCK = "training.lock"
FIELDS = "fields at some points"


class BackupAndRestore(keras.callbacks.Callback):
    """Lets a `fit` that died go on where its last whole epoch ended, bit for bit.

    Run the same program again: the weights, the loss weights λ, the unknown
    coefficients, the optimizer with its iterations, what weighting rules and samplers
    remember, and `History` come back, and the points of a step follow from the
    iteration. On the same machine the numbers are those of a training that nothing
    interrupted.

    With each state goes what it is the state of: the problem, the network, the
    optimizer, the seed, the steps of an epoch, the points given to `fit` and the rule
    for the loss weights. Another training is refused, with what differs, and so is a
    network that makes other fields of the same weights. A training goes on, with a
    warning, with another learning rate, batch size or number of epochs, and with loss
    weights that were set by hand. A seed that was drawn is taken from the backup. Where
    the model was trained or given weights before `fit`, others than when the training
    began, a warning says that the backup's replace them.

    Each epoch's state is a file of its own, written under another name and renamed
    when the disk has all of it, so that half of one is never taken for a whole. The
    two newest are kept; one that is damaged since is passed over with a warning.
    `keras.callbacks.BackupAndRestore` keeps weights and epoch in two files, so that
    death between the two trains an epoch twice.

    Where an epoch's state cannot be written, as on a full disk, a warning says so and
    training goes on: the older states are still there, and the next epoch tries again.

    An epoch within which a callback stops the training is not kept: a restart begins it
    anew.

    Give it last in the list of callbacks: what others do at the end of an epoch, such
    as changing the learning rate, is then part of the state. What callbacks remember
    themselves, such as the patience of `EarlyStopping`, is not.

    Args:
        backup_dir: Directory to keep the state in, made if it does not exist. Use
            one for each training, and for each of several worker processes: while
            one trains, others are refused.
        delete_checkpoint: Whether to delete the state when training ends. Without,
            running the program again gives the trained model.

    Raises:
        ValueError: If `backup_dir` is empty, or the state in it is that of another
            training.
        RuntimeError: If another process trains with this directory.
        OSError: If nothing can be written there when training begins.

    Example:

    ```python
    backup = keraspinn.callbacks.BackupAndRestore("backup")
    annealing = keraspinn.callbacks.LearningRateAnnealing()
    model.fit(epochs=40, callbacks=[annealing, backup])
    model.save("model.keras")
    ```
    """

    def __init__(self, backup_dir: PathLike, delete_checkpoint: bool = True) -> None:
        super().__init__()
        if not isinstance(backup_dir, (str, os.PathLike)) or not str(backup_dir):
            raise ValueError(
                "`backup_dir` must be the path of a directory. Received: "
                f"{backup_dir!r}"
            )
        self.directory = pathlib.Path(backup_dir)
        self.delete_checkpoint = checked_flag("delete_checkpoint", delete_checkpoint)
        self._lock = Lock(self.directory / LOCK)
        self._identity: dict[str, Any] = {}
        self._epochs_before: list[Any] = []
        self._began = 0
        self._began_with = None

    def __repr__(self):
        return f"BackupAndRestore({str(self.directory)!r})"

    def on_train_begin(self, logs=None):
        """Go back to the newest whole state, if there is one."""
        self._epochs_before = []
        self._take_directory()
        try:
            self._resume()
        except BaseException:
            self._lock.release()
            raise

    def on_epoch_begin(self, epoch, logs=None):
        """Give `History` the numbers of the epochs before."""
        self._complete_history()
        self._began = self.model.steps_taken

    def on_epoch_end(self, epoch, logs=None):
        """Write the state, unless training was stopped within the epoch."""
        steps = (self.params or {}).get("steps")
        if steps and self.model.steps_taken - self._began < steps:
            return
        try:
            self._write(epoch, logs)
        except OSError as error:
            kept = [path.name for path in self._backups()]
            warnings.warn(
                f"No backup of epoch {epoch + 1}: {self.directory} cannot be written "
                f"({error}). Training goes on; were it to die, it would go on from "
                f"{kept[0] if kept else 'its beginning'}.",
                stacklevel=2,
            )

    def on_train_end(self, logs=None):
        """Delete the state, if that is wanted."""
        self._complete_history()
        if self.delete_checkpoint:
            # The newest last: until it is gone, it is what a restart finds.
            for path in reversed(self._backups()):
                path.unlink()
        self._lock.release()
        if self.delete_checkpoint:
            if self.directory.is_dir() and not any(self.directory.iterdir()):
                self.directory.rmdir()

    def _resume(self):
        params = self.params or {}
        self._identity = identity(self.model, params.get("steps"), params.get("epochs"))
        self._began_with = weights_digest(self.model)
        for path in self._backups():
            if (state := read_state(path)) is not None:
                self._restore(path, *state)
                return
            warnings.warn(
                f"The backup {path} is damaged, and is passed over.", stacklevel=3
            )

    def _take_directory(self):
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            self._lock.acquire()
        except OSError as error:
            raise OSError(
                error.errno,
                f"The backup's directory cannot be written ({error.strerror}). Name "
                "one that can",
                str(self.directory),
            ) from error

    def _write(self, epoch, logs):
        """One epoch's state."""
        data = {
            "begin": epoch + 1,
            **self._history_with(epoch, logs or {}),
            "identity": self._identity | {"seed": self.model.seed},
            "weights": [self._began_with, weights_digest(self.model)],
        }
        arrays = self._arrays() | {FIELDS: sampled_fields(self.model)}
        write_state(self.directory / f"epoch-{epoch + 1:08d}.npz", data, arrays)
        for path in self._backups()[2:]:
            path.unlink()

    def _backups(self):
        """Files of whole epochs, the newest first."""
        return sorted(self.directory.glob("epoch-*.npz"), reverse=True)

    def _arrays(self):
        """All that is kept, by names that are the same for each model made."""
        values = map(ops.convert_to_numpy, self.model.trainer.state_variables)
        own = {f"variable {place}": value for place, value in enumerate(values)}
        return own | self.model.trainer.extra()

    def _restore(self, path, saved, arrays):
        self._warn_of_replaced(path, saved["weights"])
        declared_rate, weights = self._check_identity(path, saved["identity"])
        fields = arrays.pop(FIELDS)
        self._check_alike(path, arrays, self._arrays())
        for place, variable in enumerate(self.model.trainer.state_variables):
            variable.assign(arrays.pop(f"variable {place}"))
        self._check_fields(path, fields)
        for name, weight in weights.items():
            self.model.loss_weights[name].assign(weight)
        self.model.trainer.restore_extra(arrays)
        if declared_rate is not None:
            self.model.optimizer.learning_rate = declared_rate
        begin_at_epoch(self.model, saved["begin"])
        self._epochs_before = saved["epoch"]
        self.model.seed = saved["identity"]["seed"]
        self.model.make_train_function()  # anew, if that is another seed
        self.model.history.history.update(saved["history"])

    def _warn_of_replaced(self, path, known):
        """Warn of weights before `fit` that are not those the training began with.

        Args:
            path: The backup.
            known: Digests of the weights with which its training began, and of its own.
        """
        if self._began_with not in (self.model.digest_when_made, *known):
            warnings.warn(
                "The weights that the model had before `fit`, loaded or trained, are "
                f"replaced by those of {path.name}, where the training goes on. "
                f"{self._remedy}",
                stacklevel=2,
            )
        self._began_with = known[0]

    def _check_identity(self, path, saved):
        """Refuse another training's state; returns what replaces some of it.

        A new learning rate, or `None`, and a dict of loss weights set anew by hand.
        """
        refused, changed = compare(saved, self._identity)
        if refused:
            raise ValueError(
                f"The backup {path} is of another training. Since then:"
                f"{listed(refused)}\n{self._remedy}"
            )
        if changed:
            warnings.warn(
                f"The training goes on after {path.name} with other settings:"
                f"{listed(changed)}\n{self._remedy}",
                stacklevel=2,
            )
        was, now = (
            i["optimizer"].get("learning_rate") for i in (saved, self._identity)
        )
        # The state holds the old one; a schedule is no state.
        rate = now if was != now and isinstance(now, float) else None
        was, now = (i.get("loss_weights") for i in (saved, self._identity))
        return rate, now if was and now and was != now else {}

    def _check_fields(self, path, fields):
        """Refuse a network that makes other fields of the weights than it did.

        What its configuration says of it may be the same: a function, a layer's code,
        or what a layer holds that is in no configuration.
        """
        now = sampled_fields(self.model)
        size = np.abs(fields).max()
        if not np.allclose(now, fields, rtol=0, atol=1e-3 * size, equal_nan=True):
            raise ValueError(
                f"The backup {path} is of another network: with the weights in it the "
                "fields are others than they were. The code of a layer or of an "
                "activation has changed, or numbers that a layer holds. "
                f"{self._remedy}"
            )

    @property
    def _remedy(self):
        return (
            f"To begin anew, delete {self.directory}, or give BackupAndRestore "
            "another directory."
        )

    def _check_alike(self, path, found, expected):
        """Refuse arrays of other names, types or shapes."""
        kinds = [
            {
                name: f"{array.dtype}{list(array.shape)}"
                for name, array in arrays.items()
            }
            for arrays in (found, expected)
        ]
        differing = [
            f"{name}: has {was}, needs {now}" for name, was, now in differences(*kinds)
        ]
        if differing:
            raise ValueError(
                f"The backup {path} is of another model or optimizer:"
                f"{listed(differing)}\n{self._remedy}"
            )

    def _complete_history(self):
        # `History` forgets the epochs' numbers when training begins, after our turn.
        self.model.history.epoch[:0] = self._epochs_before
        self._epochs_before = []

    def _history_with(self, epoch, logs):
        """`History` as it will be after this epoch; its turn comes after ours."""
        history = self.model.history
        columns = {name: list(column) for name, column in history.history.items()}
        for name, number in logs.items():
            columns.setdefault(name, []).append(number)
        return {
            "epoch": [*history.epoch, epoch],
            "history": {n: list(map(_number, c)) for n, c in columns.items()},
        }


def _number(logged):
    """A float, of what can be one; what a callback of one's own logs may be text."""
    if isinstance(logged, list):  # a number for each member
        return list(map(_number, logged))
    try:
        return float(logged)
    except (TypeError, ValueError):
        return str(logged)
