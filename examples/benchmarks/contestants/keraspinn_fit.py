"""`keraspinn`, through `model.fit` with the progress bar on.

Options:

- `engine`: "jvp" takes derivatives by nested Jacobian-vector products in the same loop;
- `jit_compile`: argument of `compile`;
- `bare`: runs the program that `fit` has compiled, without `fit` around it;
- `verbose`: argument of `fit`;
- `fit`: further arguments of `fit`;
- `callbacks`: names of callbacks to add;
- `epochs`: number of epochs that divide the steps; their median counts.
"""

import itertools
import statistics
import tempfile
import time

import keras
import sympy as sp
from protocol import serve
from work import order_indices

import keraspinn as kp
from keraspinn.training.execution import executions

PROBLEMS = {
    "poisson": lambda: kp.problems.poisson(c=4),
    "helmholtz": kp.problems.helmholtz,
    "klein-gordon": kp.problems.klein_gordon,
    "cavity-streamfunction": lambda: kp.problems.lid_driven_cavity(corner_width=0),
    "cavity-velocity": lambda: kp.problems.lid_driven_cavity(
        corner_width=0, formulation="velocity-pressure"
    ),
}
CALLBACKS = {
    "histograms": lambda: kp.callbacks.GradientHistogram(),
    "checkpoints": lambda: keras.callbacks.ModelCheckpoint(
        f"{tempfile.mkdtemp()}/latest.keras"
    ),
}


def problem(name):
    """Return the `Problem` of a work by its name."""
    if name in PROBLEMS:
        return PROBLEMS[name]()
    dimension, order = map(int, name.removeprefix("ladder-").split("-"))
    coordinates = sp.symbols("x y z")[:dimension]
    u = sp.Function("u")(*coordinates)
    return kp.Problem(
        domain=kp.geometry.Box(dict.fromkeys(coordinates, (-1, 1))),
        equations={
            f"derivative_{number}": u.diff(*zip(coordinates, index, strict=True))
            for number, index in enumerate(order_indices(dimension, order))
        },
        scales=None,
    )


def device_bytes():
    """Return the peak memory of this process on an accelerator, or `None`."""
    if keras.backend.backend() != "jax":
        return None
    import jax

    return (jax.local_devices()[0].memory_stats() or {}).get("peak_bytes_in_use")


class EpochTimes(keras.callbacks.Callback):
    """Callback that keeps the times at which epochs begin."""

    def on_train_begin(self, logs=None):
        self.began = []

    def on_epoch_begin(self, epoch, logs=None):
        self.began.append(time.perf_counter())

    def on_train_end(self, logs=None):
        self.began.append(time.perf_counter())


class UntaughtMLP(kp.networks.MLP):
    """Subclass without a Taylor rule, so that the other engine is used."""


class UntaughtModifiedMLP(kp.networks.ModifiedMLP):
    """Subclass without a Taylor rule, so that the other engine is used."""


class Fit:
    def __init__(self, task):
        self.task = task
        self.model = self._model(task.options["jit_compile"])
        annealed = task.model in ("M2", "M4")
        annealing = kp.callbacks.LearningRateAnnealing(
            alpha=0.9
        )  # as in the other contestants
        self.callbacks = [annealing] if annealed else []
        self.callbacks += [CALLBACKS[name]() for name in task.options["callbacks"]]
        self.notes = {"engine": self.model.derivative_engine, "anneals": annealed}

    def _model(self, jit_compile):
        task = self.task
        untaught = task.options["engine"] == "jvp"
        plain, gated = (
            (UntaughtMLP, UntaughtModifiedMLP)
            if untaught
            else (kp.networks.MLP, kp.networks.ModifiedMLP)
        )
        network = gated if task.gated else plain
        model = kp.PINNModel(
            problem(task.problem),
            network(task.units, task.depth, outputs=task.work.outputs),
            seed=0,
        )
        layers = model.network.layers
        if task.gated:
            modified = model.network
            layers = [modified.encoder_u, modified.encoder_v, modified.first]
            layers += [*modified.gates, modified.head]
        for layer, values in zip(layers, task.parameters, strict=True):
            layer.set_weights(values)
        model.compile(keras.optimizers.Adam(1e-3), jit_compile=jit_compile)
        return model

    def losses(self):
        """Return the losses of the first step of a fit on these points."""
        model = self._model(jit_compile=False)
        logs = model.fit(self.task.points, steps_per_epoch=1, verbose=0).history
        return {name: logs[f"{name}_loss"][0] for name in self.task.work.terms}

    def run(self, steps):
        options = self.task.options
        if options["bare"] and self.model.train_function:
            return self._run_bare(steps)
        times = EpochTimes()
        self.model.fit(
            batch_size=self.task.batch,
            steps_per_epoch=max(1, steps // options["epochs"]),
            epochs=options["epochs"],
            callbacks=[*self.callbacks, times],
            verbose=options["verbose"],
            **options["fit"],
        )
        if options["epochs"] == 1:
            return None
        epochs = [b - a for a, b in itertools.pairwise(times.began)]
        return options["epochs"] * statistics.median(epochs)

    def device_bytes(self):
        return device_bytes()

    def _run_bare(self, steps):
        """Run an epoch with one execution of the program that `fit` has compiled."""
        self.model.trainer.progress = executions(steps, steps)
        keras.ops.convert_to_numpy(self.model.train_function(None)["loss"])
        self.model.trainer.progress = None


if __name__ == "__main__":
    serve(Fit, [keras.backend.backend(), "keras", "numpy"])
