import contextlib
import pathlib
import warnings

import keras
import numpy as np

from keraspinn.backend.compatibility import begin_at_epoch
from keraspinn.callbacks.backup_files import read_state, write_state
from keraspinn.callbacks.identity import compare, identity, listed
from keraspinn.common import PathLike, checked_flag
from keraspinn.training.digests import sampled_fields, weights_digest

FIELDS = "fields at some points"


class BackupAndRestore(keras.callbacks.Callback):
    """Backups that let an interrupted `fit` resume at its last epoch, bit for bit.

    Run the same program again. The backup restores the weights, the loss weights λ,
    the unknown coefficients, the optimizer with its iterations, the states of weighting
    rules and samplers, and `History`. The points of a step depend only on the
    iteration. On the same machine the numbers equal those of an uninterrupted training.

    Each backup contains a description of its training: the problem, the network, the
    optimizer, the seed, the steps of an epoch, the points passed to `fit` and the
    weighting rule. Another training is rejected with a list of the differences, and so
    is a network that computes other fields from the same weights. Training resumes,
    with a warning, with another learning rate, batch size or number of epochs, and with
    loss weights set by hand. A random seed is taken from the backup. A warning tells if
    the backup replaces weights that were trained or loaded before `fit`.

    Each epoch has its own file, written under another name and renamed when complete.
    The two newest are kept; a damaged file is skipped with a warning.
    `keras.callbacks.BackupAndRestore` writes weights and epoch to two files, so an
    interruption between the two repeats an epoch.

    If a backup cannot be written, as on a full disk, a warning tells so and training
    continues. The older backups remain, and the next epoch tries again.

    An epoch that a callback stops is not kept: a restart repeats it.

    Pass this callback last: the state then includes the changes of other callbacks at
    the end of an epoch, such as another learning rate. The states of callbacks, such as
    the patience of `EarlyStopping`, are not included.

    Args:
        backup_dir: Directory of the backups, created if it does not exist. Use one for
            each training, and for each worker process.
        delete_checkpoint: Whether to delete the backups when training ends. If not,
            running the program again returns the trained model.

    Raises:
        ValueError: If `backup_dir` contains backups of another training.
        OSError: If the directory cannot be written when training begins.

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
        self.directory = pathlib.Path(backup_dir)
        self.delete_checkpoint = checked_flag("delete_checkpoint", delete_checkpoint)
        self._remedy = (
            f"To start again, delete {self.directory}, or give BackupAndRestore "
            "another directory."
        )

    def __repr__(self):
        return f"BackupAndRestore({str(self.directory)!r})"

    def on_train_begin(self, logs=None):
        """Restore the newest complete backup, if there is one."""
        self._epochs_before = []
        self.directory.mkdir(parents=True, exist_ok=True)
        params = self.params or {}
        self._identity = identity(self.model, params.get("steps"), params.get("epochs"))
        self._began_with = weights_digest(self.model)
        for path in self._backups():
            if (state := read_state(path)) is not None:
                self._restore(path, *state)
                return
            text = f"The backup {path} is damaged, and is skipped."
            warnings.warn(text, stacklevel=2)

    def on_epoch_begin(self, epoch, logs=None):
        """Prepend the epochs before to `History`."""
        self._complete_history()
        self._began = self.model.steps_taken

    def on_epoch_end(self, epoch, logs=None):
        """Write a backup, unless training was stopped within the epoch."""
        steps = (self.params or {}).get("steps")
        if steps and self.model.steps_taken - self._began < steps:
            return
        try:
            self._write(epoch, logs)
        except OSError as error:
            kept = [path.name for path in self._backups()]
            warnings.warn(
                f"No backup of epoch {epoch + 1}: {self.directory} cannot be written "
                f"({error}). Training continues; if interrupted it would resume from "
                f"{kept[0] if kept else 'its beginning'}.",
                stacklevel=2,
            )

    def on_train_end(self, logs=None):
        """Delete the backups, if `delete_checkpoint` is set."""
        self._complete_history()
        if self.delete_checkpoint:
            # The newest last: a restart uses it until it is deleted.
            for path in [*self.directory.glob("partial-*"), *self._backups()[::-1]]:
                path.unlink(missing_ok=True)
            with contextlib.suppress(OSError):  # it holds files of the user's
                self.directory.rmdir()

    def _write(self, epoch, logs):
        """Write the backup of one epoch."""
        data = {
            "begin": epoch + 1,
            **self._history_with(epoch, logs or {}),
            "identity": self._identity | {"seed": self.model.seed},
            "weights": [self._began_with, weights_digest(self.model)],
        }
        variables = enumerate(self.model.trainer.state_variables)
        arrays = {f"variable {n}": keras.ops.convert_to_numpy(v) for n, v in variables}
        arrays[FIELDS] = sampled_fields(self.model)
        write_state(self.directory / f"epoch-{epoch + 1:08d}.npz", data, arrays)
        for path in self._backups()[2:]:
            path.unlink(missing_ok=True)

    def _backups(self):
        """Return the files of complete epochs, the newest first."""
        return sorted(self.directory.glob("epoch-*.npz"), reverse=True)

    def _restore(self, path, saved, arrays):
        self._warn_of_replaced(path, saved["weights"])
        self._check_identity(path, saved["identity"])
        for index, variable in enumerate(self.model.trainer.state_variables):
            variable.assign(arrays[f"variable {index}"])
        self._check_fields(path, arrays[FIELDS])
        self._set_changed(saved["identity"])
        begin_at_epoch(self.model, saved["begin"])
        self._epochs_before = saved["epoch"]
        self.model.seed = saved["identity"]["seed"]
        self.model.make_train_function()  # rebuilt for another seed
        self.model.history.history.update(saved["history"])

    def _warn_of_replaced(self, path, known):
        """Warn of weights before `fit` other than those at the beginning of training.

        Args:
            path: The backup.
            known: Digests of the weights when its training began, and of its own.
        """
        if self._began_with not in (self.model.digest_when_made, *known):
            warnings.warn(
                "The weights that the model had before `fit`, loaded or trained, are "
                f"replaced by those of {path.name}, where the training resumes. "
                f"{self._remedy}",
                stacklevel=2,
            )
        self._began_with = known[0]

    def _check_identity(self, path, saved):
        """Reject another training's backup, and warn of other settings."""
        refused, changed = compare(saved, self._identity)
        if refused:
            raise ValueError(
                f"The backup {path} is of another training. Since then:"
                f"{listed(refused)}\n{self._remedy}"
            )
        if changed:
            warnings.warn(
                f"The training resumes after {path.name} with other settings:"
                f"{listed(changed)}\n{self._remedy}",
                stacklevel=2,
            )

    def _set_changed(self, saved):
        """Set a learning rate and loss weights that are others than in the backup."""
        now = self._identity
        rate = now["optimizer"].get("learning_rate")
        # The backup contains the old rate, but no schedule.
        if isinstance(rate, float) and rate != saved["optimizer"].get("learning_rate"):
            self.model.optimizer.learning_rate = rate
        if saved.get("loss_weights") != now.get("loss_weights"):
            for name, weight in now.get("loss_weights", {}).items():
                self.model.loss_weights[name].assign(weight)

    def _check_fields(self, path, fields):
        """Reject a network that computes other fields from the weights than before.

        Equal configurations may hide another function, another code of a layer, or
        numbers in a layer that no configuration contains.
        """
        now = sampled_fields(self.model)
        size = np.abs(fields).max()
        if not np.allclose(now, fields, rtol=0, atol=1e-3 * size, equal_nan=True):
            raise ValueError(
                f"The backup {path} is of another network: with its weights the fields "
                "differ from before. The code of a layer or of an activation has "
                f"changed, or numbers that a layer contains. {self._remedy}"
            )

    def _complete_history(self):
        # `History` resets the epochs when training begins, after this callback.
        self.model.history.epoch[:0] = self._epochs_before
        self._epochs_before = []

    def _history_with(self, epoch, logs):
        """Return `History` after this epoch; it is updated after this callback."""
        history = self.model.history
        columns = {name: list(column) for name, column in history.history.items()}
        for name, number in logs.items():
            columns.setdefault(name, []).append(number)
        return {"epoch": [*history.epoch, epoch], "history": columns}
