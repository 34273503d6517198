"""Count the package's files that one eager training step runs through.

python .ci/trace_step.py
"""

import pathlib
import sys

import keras

import keraspinn

PACKAGE = pathlib.Path(keraspinn.__file__).parent


class TraceStep(keras.callbacks.Callback):
    """Collects the files of the functions called in one step of `fit`.

    Args:
        number: The step to trace: later than the first, which fills caches.
    """

    def __init__(self, number=2):
        super().__init__()
        self.number = number
        self.files = set()

    def on_train_batch_begin(self, batch, logs=None):
        if batch == self.number:
            sys.setprofile(self._record)

    def on_train_batch_end(self, batch, logs=None):
        sys.setprofile(None)

    def _record(self, frame, event, argument):
        path = pathlib.Path(frame.f_code.co_filename)
        if event == "call" and PACKAGE in path.parents:
            self.files.add(str(path.relative_to(PACKAGE)))


def trace(optimizer="adam"):
    """Return the files of one eager step, sorted."""
    model = keraspinn.PINNModel(
        keraspinn.problems.helmholtz(), keraspinn.networks.MLP(8, 2), seed=0
    )
    model.compile(optimizer, run_eagerly=True)
    step = TraceStep()
    rule = keraspinn.callbacks.LearningRateAnnealing(update_freq=1)
    model.fit(epochs=1, steps_per_epoch=4, callbacks=[rule, step], verbose=0)
    return sorted(step.files)


if __name__ == "__main__":
    files = trace(*sys.argv[1:])
    print(*files, f"{len(files)} files", sep="\n")
