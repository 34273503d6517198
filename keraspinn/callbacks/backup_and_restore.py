import hashlib
import json
import os
import pathlib
import shutil
import warnings

import keras

from keraspinn.arguments import checked_flag
from keraspinn.saving import sync

DIGESTS = "digests.json"
HISTORY = "history.json"


class BackupAndRestore(keras.callbacks.Callback):
    """Lets a `fit` that died go on where its last whole epoch ended, bit for bit.

    Run the same program again: the weights, the loss weights λ, the unknown
    coefficients, the optimizer with its iterations, and `History` come back, and the
    points of a step follow from the iteration. On the same machine the numbers are
    those of a training that nothing interrupted.

    Each epoch's state is a directory of its own, written under another name and
    renamed when the disk has all of it, so that half of one is never taken for a
    whole. The two newest are kept; one whose files have changed since is passed over
    with a warning. `keras.callbacks.BackupAndRestore` keeps weights and epoch in two
    files, so that death between the two trains an epoch twice.

    An epoch within which a callback stops the training is not kept: a restart begins it
    anew.

    Give it last in the list of callbacks: what others do at the end of an epoch, such
    as changing the learning rate, is then part of the state. What callbacks remember
    themselves, such as the patience of `EarlyStopping`, is not.

    Args:
        backup_dir: Directory to keep the state in, made if it does not exist. Use
            one for each training, and for each of several worker processes.
        delete_checkpoint: Whether to delete the state when training ends. Without,
            running the program again gives the trained model.

    Raises:
        ValueError: If `backup_dir` is empty, or the state is that of another model
            or optimizer.

    Example:

    ```python
    backup = keraspinn.callbacks.BackupAndRestore("backup")
    annealing = keraspinn.callbacks.LearningRateAnnealing()
    model.fit(epochs=40, callbacks=[annealing, backup])
    model.save("model.keras")
    ```
    """

    def __init__(self, backup_dir, delete_checkpoint=True):
        super().__init__()
        if not isinstance(backup_dir, (str, os.PathLike)) or not str(backup_dir):
            raise ValueError(
                "`backup_dir` must be the path of a directory. Received: "
                f"{backup_dir!r}"
            )
        self.directory = pathlib.Path(backup_dir)
        self.delete_checkpoint = checked_flag("delete_checkpoint", delete_checkpoint)
        self._epochs_before = []
        self._began = 0

    def on_train_begin(self, logs=None):
        """Go back to the newest whole state, if there is one."""
        self._epochs_before = []
        self._clear()
        for path in self._backups():
            if _is_whole(path):
                self._restore(path)
                return
            warnings.warn(
                f"The backup {path} is damaged, and is passed over.", stacklevel=2
            )

    def on_epoch_begin(self, epoch, logs=None):
        """Give `History` the numbers of the epochs before."""
        self._complete_history()
        self._began = self.model.steps_taken

    def on_epoch_end(self, epoch, logs=None):
        """Write the state, unless training was stopped within the epoch."""
        steps = (self.params or {}).get("steps")
        if steps and self.model.steps_taken - self._began < steps:
            return
        backups = self._backups()
        number = epoch + 1
        partial = self.directory / f"partial-{number:08d}"
        shutil.rmtree(partial, ignore_errors=True)
        partial.mkdir(parents=True)
        self._keras(partial).on_epoch_end(epoch, logs)
        history = self._history_with(epoch, logs or {})
        _write_json(partial / HISTORY, {**history, "seed": self.model.seed})
        _write_json(partial / DIGESTS, {p.name: _digest(p) for p in partial.iterdir()})
        for path in (*partial.iterdir(), partial):
            sync(path)
        final = self.directory / f"epoch-{number:08d}"
        _discard(final)
        partial.rename(final)
        sync(self.directory)
        for path in backups[1:]:
            _discard(path)

    def on_train_end(self, logs=None):
        """Delete the state, if that is wanted."""
        self._complete_history()
        if self.delete_checkpoint:
            # The newest last: until it is gone, it is what a restart finds.
            for path in reversed(self._backups()):
                _discard(path)
            if self.directory.is_dir() and not any(self.directory.iterdir()):
                self.directory.rmdir()

    def _backups(self):
        """Directories of whole epochs, the newest first."""
        return sorted(self.directory.glob("epoch-*"), reverse=True)

    def _clear(self):
        """Remove what a death left half-written or half-deleted."""
        for path in self.directory.glob("partial-*"):
            shutil.rmtree(path, ignore_errors=True)

    def _keras(self, directory):
        """Keras's callback, which knows how to write and read one state."""
        callback = keras.callbacks.BackupAndRestore(directory, delete_checkpoint=False)
        callback.set_model(self.model)
        return callback

    def _restore(self, path):
        with warnings.catch_warnings():
            # Keras goes on without the state of an optimizer that it does not fit.
            warnings.filterwarnings("error", message="Skipping variable loading")
            try:
                self._keras(path).on_train_begin()
            except (ValueError, UserWarning) as error:
                raise ValueError(
                    f"The backup {path} is of another model or optimizer: {error} "
                    f"Delete {self.directory} to begin anew."
                ) from error
        saved = json.loads((path / HISTORY).read_text("utf-8"))
        self._epochs_before = saved["epoch"]
        self.model.seed = saved.get("seed", self.model.seed)
        self.model.make_train_function()  # anew, if that is another seed
        if self.model.history is not None:
            self.model.history.history.update(saved["history"])

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
    try:
        return float(logged)
    except (TypeError, ValueError):
        return str(logged)


def _write_json(path, data):
    path.write_text(json.dumps(data), encoding="utf-8")


def _digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _is_whole(path):
    """Whether the files of a backup are those that were written."""
    try:
        digests = json.loads((path / DIGESTS).read_text("utf-8"))
        return {p.name: _digest(p) for p in path.iterdir() if p.name != DIGESTS} == (
            digests
        )
    except (OSError, ValueError):
        return False


def _discard(path):
    """Delete a backup so that no half of it is left under its name."""
    if path.is_dir():
        condemned = path.with_name(f"partial-{path.name}")
        shutil.rmtree(condemned, ignore_errors=True)
        shutil.rmtree(path.rename(condemned))
