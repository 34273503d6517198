"""When a callback that measures is due, and where its numbers go."""

import pathlib
from typing import TypeAlias

import keras

from keraspinn import backend
from keraspinn.common.checks import check_count

Directory: TypeAlias = keras.callbacks.TensorBoard | str | pathlib.Path


class Schedule:
    """Due once every so many training steps, at the first chance after.

    Args:
        every: Number of training steps from one time to the next.
    """

    def __init__(self, every):
        self.every = check_count("every", every)
        self._periods = 0

    def start(self, iteration):
        """Begin to count at `iteration`."""
        self._periods = iteration // self.every

    def due(self, iteration):
        """Whether a multiple of `every` has passed since the last time it was."""
        passed = iteration // self.every
        due, self._periods = passed > self._periods, passed
        return due


def log_directory(tensorboard):
    """The directory of a TensorBoard callback's files on training, or `None`."""
    if tensorboard is None:
        return None
    if isinstance(tensorboard, keras.callbacks.TensorBoard):
        tensorboard = pathlib.Path(tensorboard.log_dir) / "train"
    if not isinstance(tensorboard, (str, pathlib.Path)):
        raise TypeError(
            "`tensorboard` must be the keras.callbacks.TensorBoard of the same fit, "
            f"or a directory. Received: {tensorboard!r}"
        )
    return tensorboard


class Record:
    """Numbers that go to `History`, and to TensorBoard if there is a directory.

    They are left out of the logs, and so of the progress bar, which they would flood.

    Args:
        directory: Where to write TensorBoard's files, or `None`.
    """

    def __init__(self, directory):
        self._directory = directory
        self._writer = None

    def write(self, model, step, numbers, histograms=()):
        """Add numbers by name, and histograms as `(name, edges, counts)`."""
        history = getattr(model, "history", None)
        if history is not None:
            for name, number in numbers.items():
                history.history.setdefault(name, []).append(number)
        if self._directory is None:
            return
        if self._writer is None:
            self._writer = backend.EventWriter(self._directory)
        for name, number in numbers.items():
            self._writer.scalar(name, number, step)
        for name, edges, counts in histograms:
            self._writer.histogram(name, edges, counts, step)
        self._writer.flush()

    def close(self):
        """Training has ended."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None
