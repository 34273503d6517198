"""The progress bar of `fit` and `evaluate`: one line of 80 columns."""

import sys
import time

import keras

from keraspinn.sampling import Renewed

COLUMNS = 80  # width of a line
_LONGEST_BAR = 20  # columns
_EVERY = 0.1  # seconds between two updates of a line


class ProgressBar(keras.callbacks.ProgbarLogger):
    """The loss, the unknown coefficients and the errors, in 80 columns.

    `fit` and `evaluate` add it unless one of their callbacks is a `ProgbarLogger`. Pass
    Keras's to see all logs. `History` and the result of `evaluate` have all of them.
    """

    async_safe = True  # it only prints

    def __init__(self):
        super().__init__()
        self._trains, self._announces = False, False

    def on_train_begin(self, logs=None):
        super().on_train_begin(logs)
        self._trains = True  # `fit` validates without a bar
        function = self.model.train_function
        self._announces = self.verbose == 1 and self.model.announced is not function
        self.model.announced = function

    def on_epoch_begin(self, epoch, logs=None):
        super().on_epoch_begin(epoch, logs)
        self._begin()

    def on_test_begin(self, logs=None):
        super().on_test_begin(logs)
        if not self._trains:
            self._begin()

    def on_train_batch_begin(self, batch, logs=None):
        if self._announces:
            # On a terminal the bar's first line will replace it.
            print("Compiling …", end="\r" if self._writes_over else "\n", flush=True)
            self._announces = False
            self._announce_renewal()

    def _announce_renewal(self):
        """Print the number of steps from one set of kept points to the next."""
        samplers = self.model.trainer.sources.samplers.values()
        if periods := {s.every for s in samplers if isinstance(s, Renewed)}:
            print(
                f"New points every {', '.join(map(str, sorted(periods)))} steps, "
                "where the loss may rise",
                flush=True,
            )

    def on_train_batch_end(self, batch, logs=None):
        self._show(batch, logs)

    def on_test_batch_end(self, batch, logs=None):
        if not self._trains:
            self._show(batch, logs)

    def on_epoch_end(self, epoch, logs=None):
        if self.verbose == 1:
            self._finish(logs)
        elif self.verbose:
            super().on_epoch_end(epoch, logs)

    def on_test_end(self, logs=None):
        if self.verbose == 1 and not self._trains:
            self._finish(logs)
        elif self.verbose:
            super().on_test_end(logs)

    def _begin(self):
        self._writes_over = sys.stdout.isatty() or "ipykernel" in sys.modules
        self._step, self._began, self._drawn = 0, time.perf_counter(), 0.0

    def _show(self, batch, logs):
        # They may come out of order, as they are not waited for.
        self.seen = self._step = max(self._step, batch + 1)
        now = time.perf_counter()
        if self.verbose == 1 and self._writes_over and now - self._drawn >= _EVERY:
            self._drawn = now
            print(self._line(logs, ending=False), end="\r", flush=True)

    def _finish(self, logs):
        self.target = self.target or self._step
        print(self._line(logs, ending=True), flush=True)

    def _line(self, logs, ending):
        """Return the line."""
        logs = logs or {}
        step = self.target if ending else self._step
        spent = time.perf_counter() - self._began
        pace = spent / max(step, 1)
        known = self.target is not None
        left = spent if ending or not known else pace * (self.target - step)
        count = f"{step}/{self.target if known else 'unknown'} "
        text = f"{_clock(left)} {_duration(pace)}/step"
        errors = [name for name in logs if name.endswith("relative_l2")]
        for name in ["loss", *self.model.coefficients, *errors]:
            shown = f"  {name}: {logs[name]:.4g}" if name in logs else ""
            if len(count) + len(text) + len(shown) <= COLUMNS:
                text += shown
        room = min(_LONGEST_BAR, COLUMNS - len(count) - len(text) - 1)
        if room > 0 and known:
            done = room * step // self.target
            count += f"{'━' * done}{'╌' * (room - done)} "
        return (count + text).ljust(COLUMNS if self._writes_over else 0)


def with_progress_bar(callbacks, verbose):
    """Return a list of callbacks with this bar at its end, unless there is one."""
    given = any(isinstance(c, keras.callbacks.ProgbarLogger) for c in callbacks)
    return callbacks if given or verbose == 0 else [*callbacks, ProgressBar()]


def _clock(seconds):
    """Return seconds as a text: 12s, 1:23, 1:02:03."""
    minutes, seconds = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours}:{minutes:02}:{seconds:02}"
    return f"{minutes}:{seconds:02}" if minutes else f"{seconds}s"


def _duration(seconds):
    """Return the time of a step, in a unit of its size."""
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= size:
            return f"{seconds / size:.3g}{unit}"
    return f"{seconds / 1e-6:.0f}us"
