"""Program that trains on four virtual CPU devices of JAX and on one, and prints JSON.

Its argument is a directory to write in.
"""

import contextlib
import json
import sys
from pathlib import Path
from unittest import mock

import jax
import keras
import numpy as np
from common import PROBLEM, U, X, annealing, compiled, weights_of

import keraspinn as kp

DIRECTORY = Path(sys.argv[1])
DEVICES = keras.distribution.DataParallel()
POINTS = np.random.default_rng(0).uniform(size=(26, 2)).astype("float32")
RUN = {"steps_per_epoch": 5, "verbose": 0}
TEST_DATA = PROBLEM.test_data(5)


@contextlib.contextmanager
def counted(flops):
    """Append the work of one device in each fused loop, as counted by XLA."""
    jit = jax.jit

    def counting(function, **options):
        program = jit(function, **options)

        def run(*arguments):
            compiled = program.lower(*arguments).compile()
            flops.append(compiled.cost_analysis()["flops"])
            return compiled(*arguments)

        is_loop = function.__name__ in ("run", "traced")  # on one device, on several
        return run if is_loop else program

    with mock.patch.object(jax, "jit", counting):
        yield


def drawn():
    model, flops = compiled(), []
    with counted(flops):
        history = model.fit(**RUN, batch_size=250, epochs=2, callbacks=[annealing()])
    assert model.steps_taken == 10
    return [*weights_of(model), *history.history["loss"]], flops[0]


def held_in_parts():
    model = compiled(max_points_per_pass=3)
    held, sizes = {"residual": POINTS}, {"sides": 45}
    model.fit(held, batch_size=sizes, **RUN, callbacks=[annealing()])
    return weights_of(model)


def streamed():
    def batches():
        for _ in range(2):
            yield from (POINTS[:10], POINTS[10:20], POINTS[20:])

    settings = {"clipnorm": 0.05, "gradient_accumulation_steps": 2}
    model = compiled(keras.optimizers.SGD(1e-2, **settings))
    fit = {"steps_per_epoch": 3, "epochs": 2, "verbose": 0}
    model.fit(batches(), **fit, callbacks=[annealing()])
    return [*weights_of(model), *model.train_on_batch(POINTS[:5])]


def second_order(optimizer, steps):
    def trained():
        model = compiled().astype("float64")
        model.compile(optimizer())
        model.fit(batch_size=30, steps_per_epoch=steps, verbose=0)
        return weights_of(model)

    return trained


def evaluated():
    model = compiled()
    logs = model.evaluate(*TEST_DATA, batch_size=7, verbose=0, return_dict=True)
    values = (
        model.predict(POINTS, verbose=0),
        model.predict_on_batch(POINTS[:5]),
    )
    assert model.test_on_batch(POINTS[:3])
    return [*logs.values(), *np.concatenate([v.ravel() for v in values]).tolist()]


def ensemble():
    keras.utils.set_random_seed(0)
    model = kp.Ensemble(PROBLEM, kp.networks.MLP(6, 2), size=3, seed=3)
    model.compile(keras.optimizers.Adam(1e-2))
    flops = []
    with counted(flops):
        model.fit(**RUN, batch_size=50, epochs=2, callbacks=[annealing()])
    one = model.member(1)
    one.fit(batch_size=10, **RUN)
    spreads = model.evaluate(*TEST_DATA, verbose=0).values()
    numbers = (
        *(v.numpy() for v in model.trainable_variables),
        *(v.numpy() for v in model.loss_weights.values()),
        *(spread.members for spread in spreads),
        model.predict_members(POINTS),
        model.predict_deviation(POINTS),
    )
    numbers = np.concatenate([np.ravel(values) for values in numbers]).tolist()
    return [*numbers, *weights_of(one)], flops[0]


class Judge(keras.callbacks.Callback):
    """Callback that computes a verdict within `fit`, without Keras's distribution."""

    def on_epoch_end(self, epoch, logs=None):
        self.found = verdict_of(self.model)


def verdict_of(model):
    verdict = kp.diagnostics.verdict(model, points=41, points_on_face=7)
    return [*verdict.errors.values(), *verdict.misfits.values(), *verdict.left.values()]


def diagnosed():
    model, batch = compiled(), {"batch_size": 7}
    callbacks = [
        kp.callbacks.GradientHistogram(every=5, **batch),
        kp.callbacks.HessianEigenvalue(every=5, **batch),
        judge := Judge(),
    ]
    history = model.fit(**RUN, batch_size=10, callbacks=callbacks).history
    diagnostics = kp.diagnostics
    return [
        *np.concatenate(list(history.values())).tolist(),
        *judge.found,
        *verdict_of(model),
        *diagnostics.gradient_statistics(model, **batch).numbers().values(),
        *diagnostics.hessian_spectrum(model, **batch, verbose=0)["residual"][-3:],
        *model.predict_expression(U.diff(X, 2), POINTS).tolist(),
    ]


class Dies(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        if epoch == 2:
            raise KeyboardInterrupt


def resumed(*callbacks):
    model = compiled()
    backup = kp.callbacks.BackupAndRestore(DIRECTORY / "backup")
    with contextlib.suppress(KeyboardInterrupt):
        callbacks = [annealing(), backup, *callbacks]
        model.fit(**RUN, batch_size=10, epochs=4, callbacks=callbacks)
    return model


def interrupted():
    undisturbed = weights_of(resumed())
    resumed(Dies())
    model = resumed()
    model.save(DIRECTORY / "model.keras")
    return undisturbed == weights_of(model), model.steps_taken


def refusal(action):
    try:
        action()
    except (ValueError, FloatingPointError) as error:
        return str(error)
    return None


mesh = keras.distribution.DeviceMesh((2, 2), ["batch", "model"])
layouts = keras.distribution.LayoutMap(mesh)
report = {"devices": len(jax.devices()), "alike": {}, "work": {}, "refused": {}}
runs = {
    "drawn": drawn,
    "held, in parts": held_in_parts,
    "streamed": streamed,
    "LBFGS": second_order(kp.optimizers.LBFGS, 8),
    "GaussNewton": second_order(kp.optimizers.GaussNewton, 3),
    "evaluated": evaluated,
    "ensemble": ensemble,
    "diagnosed": diagnosed,
}
for name, run in runs.items():
    alone = run()
    with DEVICES.scope():
        together = run()
    if isinstance(alone, tuple):
        report["work"][name] = [alone[1], together[1]]
        alone, together = alone[0], together[0]
    report["alike"][name] = [alone, together]

with DEVICES.scope():
    report["interrupted"] = interrupted()
    loaded = [kp.load_model(DIRECTORY / "model.keras")]
    model = compiled(keras.optimizers.SGD(1e15))
    report["stopped"] = refusal(lambda: model.fit(**RUN))
# A model trains on the devices set when it was made, not when it is fitted.
loaded.append(kp.load_model(DIRECTORY / "model.keras"))
for model in loaded:
    model.fit(**RUN, batch_size=10)
report["alike"]["loaded"] = [weights_of(model) for model in loaded[::-1]]

refused = report["refused"]
with keras.distribution.ModelParallel(layout_map=layouts).scope():
    refused["ModelParallel"] = refusal(compiled)
model = compiled()
with DEVICES.scope():
    refused["made before"] = refusal(lambda: model.compile("adam"))
    refused["compiled before"] = refusal(lambda: model.fit(**RUN))

print(json.dumps(report))
