import os
import pathlib
import shutil
import warnings
from typing import Any

import keras
import numpy as np
from keras import ops

from keraspinn.callbacks.backup_files import (
    discard,
    is_whole,
    read_arrays,
    read_json,
    seal,
    write_arrays,
    write_json,
)
from keraspinn.callbacks.identity import compare, identity, listed
from keraspinn.common.checks import checked_flag
from keraspinn.common.differences import differences
from keraspinn.common.lock import Lock
from keraspinn.common.typing import PathLike

HISTORY = "history.json"
EPOCH = "training_metadata.json"  # Keras's name
IDENTITY = "training.json"
LOCK = "training.lock"
STATE = "state.npz"
VARIABLES = "variables.npz"
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

    Each epoch's state is a directory of its own, written under another name and
    renamed when the disk has all of it, so that half of one is never taken for a
    whole. The two newest are kept; one whose files have changed since is passed over
    with a warning. `keras.callbacks.BackupAndRestore` keeps weights and epoch in two
    files, so that death between the two trains an epoch twice.

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
        partial = self.directory / f"partial-{epoch + 1:08d}"
        try:
            self._lock.check()
            self._write(partial, epoch, logs)
        except OSError as error:
            shutil.rmtree(partial, ignore_errors=True)
            kept = [path.name for path in self._backups()]
            warnings.warn(
                f"No backup of epoch {epoch + 1}: {partial.parent} cannot be written "
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
                discard(path)
        self._lock.release()
        if self.delete_checkpoint:
            if self.directory.is_dir() and not any(self.directory.iterdir()):
                self.directory.rmdir()

    def _resume(self):
        params = self.params or {}
        self._identity = identity(self.model, params.get("steps"), params.get("epochs"))
        self._began_with = self.model.weights_digest()
        self._clear()
        for path in self._backups():
            if is_whole(path):
                self._restore(path)
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

    def _write(self, partial, epoch, logs):
        """One epoch's state; it has a name when the disk has all of it."""
        backups = self._backups()
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        # HDF5 cannot close a file on a full disk, and says so until the process ends.
        write_arrays(partial / VARIABLES, self._values())
        fields = {FIELDS: self.model.sampled_fields()}
        write_arrays(partial / STATE, self._extra_state() | fields)
        write_json(partial / EPOCH, {"epoch": epoch + 1, "batch": 0})
        history = self._history_with(epoch, logs or {})
        history["seed"] = self.model.seed
        history["weights"] = [self._began_with, self.model.weights_digest()]
        write_json(partial / HISTORY, history)
        write_json(partial / IDENTITY, self._identity | {"seed": self.model.seed})
        seal(partial, self.directory / f"epoch-{epoch + 1:08d}")
        for path in backups[1:]:
            discard(path)

    def _backups(self):
        """Directories of whole epochs, the newest first."""
        return sorted(self.directory.glob("epoch-*"), reverse=True)

    def _clear(self):
        """Remove what a death left half-written or half-deleted."""
        for path in self.directory.glob("partial-*"):
            shutil.rmtree(path, ignore_errors=True)

    @property
    def _variables(self):
        return self.model.state_variables

    def _values(self):
        """The variables' values, by their place: names change with each model made."""
        values = map(ops.convert_to_numpy, self._variables)
        return {f"variable {place}": value for place, value in enumerate(values)}

    def _extra_state(self):
        """Arrays by name: what weighting rules and samplers remember."""
        return getattr(self.model, "extra_training_state", dict)()

    def _restore(self, path):
        saved = read_json(path / HISTORY)
        self._warn_of_replaced(path, saved.get("weights", ()))
        if (path / IDENTITY).exists():
            declared_rate, weights = self._check_identity(path)
            values, extra = read_arrays(path / VARIABLES), read_arrays(path / STATE)
            fields = extra.pop(FIELDS, None)
            self._check_alike(
                path, values | extra, self._values() | self._extra_state()
            )
        else:  # of keraspinn 0.1, in Keras's own files
            declared_rate, weights, values, extra, fields = None, {}, {}, {}, None
        with warnings.catch_warnings():
            # Keras goes on without the state of an optimizer that it does not fit.
            warnings.filterwarnings("error", message="Skipping variable loading")
            try:
                self._begin_where(path)
            except (ValueError, UserWarning) as error:
                raise ValueError(
                    f"The backup {path} is of another model or optimizer: {error} "
                    f"{self._remedy}"
                ) from error
        for variable, value in zip(self._variables, values.values(), strict=False):
            variable.assign(value)
        self._check_fields(path, fields)
        for name, weight in weights.items():
            self.model.loss_weights[name].assign(weight)
        if extra:
            self.model.restore_extra_training_state(extra)
        if declared_rate is not None:
            self.model.optimizer.learning_rate = declared_rate
        self._epochs_before = saved["epoch"]
        self.model.seed = saved.get("seed", self.model.seed)
        self.model.make_train_function()  # anew, if that is another seed
        if self.model.history is not None:
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
        self._began_with = next(iter(known), self._began_with)

    def _begin_where(self, path):
        """Tell `fit` the epoch; Keras's callback knows how, and how to read weights."""
        callback = keras.callbacks.BackupAndRestore(path, delete_checkpoint=False)
        callback.set_model(self.model)
        callback.on_train_begin()

    def _check_identity(self, path):
        """Refuse another training's state; returns what replaces some of it.

        A new learning rate, or `None`, and a dict of loss weights set anew by hand.
        """
        saved = read_json(path / IDENTITY)
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
        if fields is None:
            return
        now = self.model.sampled_fields()
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
        if self._epochs_before and self.model.history is not None:
            self.model.history.epoch[:0] = self._epochs_before
        self._epochs_before = []

    def _history_with(self, epoch, logs):
        """`History` as it will be after this epoch; its turn comes after ours."""
        history = self.model.history
        if history is None:
            return {"epoch": [], "history": {}}
        names = [*history.history, *(n for n in logs if n not in history.history)]
        columns = {
            name: [
                *history.history.get(name, ()),
                *([logs[name]] if name in logs else ()),  # some come not every epoch
            ]
            for name in names
        }
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
