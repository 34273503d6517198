"""Measurements in the course of a training."""

import keras

from keraspinn.common.checks import check_count


def is_due(every, before, now):
    """Return whether a multiple of `every` steps lies after `before`, up to `now`."""
    return now // every > before // every


class Measurement(keras.callbacks.Callback):
    """Base class of measurements at ends of epochs.

    The numbers go to `History`. They are left out of the logs and so of the progress
    bar, which they would flood. A subclass has a method `measure(iteration)` that
    returns numbers by name.

    Args:
        every: Number of training steps between measurements.
    """

    def __init__(self, every):
        super().__init__()
        self.every = check_count("every", every)

    def __repr__(self):
        return f"{type(self).__name__}(every={self.every})"

    def on_train_begin(self, logs=None):
        """Start to count steps."""
        self._seen = self.model.steps_taken

    def on_epoch_end(self, epoch, logs=None):
        """Measure, if it is due."""
        before, self._seen = self._seen, self.model.steps_taken
        if is_due(self.every, before, self._seen):
            for name, number in self.measure(self._seen).items():
                self.model.history.history.setdefault(name, []).append(number)
