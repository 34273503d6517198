"""The progress bar of `fit` and `evaluate`: Keras's, without most logs."""

import time

import keras

from keraspinn.sampling import Renewed


class ProgressBar(keras.callbacks.ProgbarLogger):
    """Keras's bar with the loss, the unknown coefficients and the errors.

    `fit` and `evaluate` add it unless one of their callbacks is a `ProgbarLogger`. Pass
    Keras's to see all logs. `History` and the result of `evaluate` have all of them.
    """

    async_safe = True  # it only prints
    _compiling_since = None

    def on_train_begin(self, logs=None):
        super().on_train_begin(logs)
        if self.verbose != 1 or self.model.announced is self.model.train_function:
            return
        self.model.announced = self.model.train_function
        samplers = self.model.trainer.sources.samplers.values()
        periods = sorted({s.every for s in samplers if isinstance(s, Renewed)} - {1})
        self._compiling_since = time.monotonic()
        print("Compiling …", flush=True)
        if periods:
            steps = ", ".join(map(str, periods))
            text = f"New points every {steps} steps, where the loss may rise"
            print(text, flush=True)

    def on_train_batch_end(self, batch, logs=None):
        if self._compiling_since is not None:
            seconds = time.monotonic() - self._compiling_since
            print(f"Compiled in {seconds:.1f} s, in the first epoch's time per step")
            self._compiling_since = None
        super().on_train_batch_end(batch, self._shown(logs))

    def on_test_batch_end(self, batch, logs=None):
        super().on_test_batch_end(batch, self._shown(logs))

    def on_epoch_end(self, epoch, logs=None):
        super().on_epoch_end(epoch, self._shown(logs))

    def on_test_end(self, logs=None):
        super().on_test_end(self._shown(logs))

    def _shown(self, logs):
        names = {"loss", *self.model.coefficients}
        return {
            name: value
            for name, value in (logs or {}).items()
            if self.verbose == 2 or name in names or name.endswith("relative_l2")
        }


def with_progress_bar(callbacks, verbose):
    """Return a list of callbacks with this bar at its end, unless there is one."""
    given = any(isinstance(c, keras.callbacks.ProgbarLogger) for c in callbacks)
    return callbacks if given or verbose == 0 else [*callbacks, ProgressBar()]
