"""Schedules of measurements, and their output."""

import pathlib
from typing import TypeAlias

import keras

from keraspinn.callbacks.events import EventWriter
from keraspinn.common.checks import check_count

Directory: TypeAlias = keras.callbacks.TensorBoard | str | pathlib.Path


class Schedule:
    """Schedule with a period in training steps.

    Args:
        every: Number of training steps between events.
    """

    def __init__(self, every):
        self.every = check_count("every", every)
        self._periods = 0

    def start(self, iteration):
        """Start to count at `iteration`."""
        self._periods = iteration // self.every

    def due(self, iteration):
        """Test whether a multiple of `every` has passed since the last call."""
        passed = iteration // self.every
        due, self._periods = passed > self._periods, passed
        return due


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
        self._schedule = Schedule(every)
        if isinstance(tensorboard, keras.callbacks.TensorBoard):
            tensorboard = pathlib.Path(tensorboard.log_dir) / "train"
        self._directory, self._writer = tensorboard, None

    def __repr__(self):
        return f"{type(self).__name__}(every={self._schedule.every})"

    def on_train_begin(self, logs=None):
        """Start to count steps."""
        self._schedule.start(self.model.steps_taken)

    def on_epoch_end(self, epoch, logs=None):
        """Measure, if it is due."""
        iteration = self.model.steps_taken
        if not self._schedule.due(iteration):
            return
        numbers, histograms = self.measure(iteration)
        for name, number in numbers.items():
            self.model.history.history.setdefault(name, []).append(number)
        if self._directory is None:
            return
        if self._writer is None:
            self._writer = EventWriter(self._directory)
        for name, number in numbers.items():
            self._writer.scalar(name, number, iteration)
        for name, edges, counts in histograms:
            self._writer.histogram(name, edges, counts, iteration)
        self._writer.flush()

    def on_train_end(self, logs=None):
        """Close TensorBoard's file."""
        if self._writer is not None:
            self._writer.close()
            self._writer = None
