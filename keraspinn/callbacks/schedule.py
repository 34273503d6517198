"""Measurements in the course of a training, and their output."""

import pathlib
from typing import TypeAlias

import keras

from keraspinn.callbacks.events import open_events, write_histogram, write_scalar
from keraspinn.common.checks import check_count

Directory: TypeAlias = keras.callbacks.TensorBoard | str | pathlib.Path


def is_due(every, before, now):
    """Return whether a multiple of `every` steps lies after `before`, up to `now`."""
    return now // every > before // every


class Measurement(keras.callbacks.Callback):
    """Base class of measurements at ends of epochs.

    The numbers go to `History`, and to TensorBoard if there is a directory. They are
    left out of the logs and so of the progress bar, which they would flood.

    A subclass has a method `measure(iteration)` that returns numbers by name, and
    histograms as `(name, edges, counts)`.

    Args:
        every: Number of training steps between measurements.
        tensorboard: A TensorBoard callback, its directory, or `None`.
    """

    def __init__(self, every, tensorboard=None):
        super().__init__()
        self.every = check_count("every", every)
        self._seen = 0  # steps at the last end of an epoch
        if isinstance(tensorboard, keras.callbacks.TensorBoard):
            tensorboard = pathlib.Path(tensorboard.log_dir) / "train"
        self._directory, self._writer = tensorboard, None

    def __repr__(self):
        return f"{type(self).__name__}(every={self.every})"

    def on_train_begin(self, logs=None):
        """Start to count steps."""
        self._seen = self.model.steps_taken

    def on_epoch_end(self, epoch, logs=None):
        """Measure, if it is due."""
        before, self._seen = self._seen, self.model.steps_taken
        if not is_due(self.every, before, self._seen):
            return
        numbers, histograms = self.measure(self._seen)
        for name, number in numbers.items():
            self.model.history.history.setdefault(name, []).append(number)
        if self._directory is None:
            return
        if self._writer is None:
            self._writer = open_events(self._directory)
        for name, number in numbers.items():
            write_scalar(self._writer, name, number, self._seen)
        for name, edges, counts in histograms:
            write_histogram(self._writer, name, edges, counts, self._seen)
        self._writer.flush()

    def on_train_end(self, logs=None):
        """Close TensorBoard's file."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None
