"""Program that trains on two logical CPU devices and on one, and prints JSON."""
# ruff: noqa: E402 - devices and workers are set up before Keras is imported

import contextlib
import json

import tensorflow as tf

CPU = tf.config.list_physical_devices("CPU")[0]
tf.config.set_logical_device_configuration(
    CPU, [tf.config.LogicalDeviceConfiguration()] * 2
)

import keras
import numpy as np
import sympy as sp
from common import PROBLEM, RUN, U, X, annealing, compiled, weights_of

import keraspinn as kp

STRATEGY = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
RANDOM = np.random.default_rng(0)
INSIDE = RANDOM.uniform(size=(46, 2)).astype("float32")
SIDES = RANDOM.uniform(size=(46, 2)).round().astype("float32")
SIDES[:, 1] = INSIDE[:, 1]
OPTIMIZERS = {
    "Adam": lambda: keras.optimizers.Adam(1e-2),
    "clipnorm": lambda: keras.optimizers.SGD(1e-2, clipnorm=0.05),
    "global_clipnorm": lambda: keras.optimizers.SGD(1e-2, global_clipnorm=0.05),
    "decay and averages": lambda: keras.optimizers.AdamW(1e-2, use_ema=True),
}


def stream():
    """Return batches of both terms; replicas share the last one as 3 + 3."""
    data = {"residual": INSIDE, "sides": SIDES}
    dataset = tf.data.Dataset.from_tensor_slices(data).batch(20)
    options = tf.data.Options()
    options.autotune.enabled = False
    return dataset.with_options(options)


def trained(scope, optimizer, fit):
    with scope:
        model = compiled(optimizer(), jit_compile=False)
    history = fit(model).history
    return model, weights_of(model), [history["loss"][-1]]


def equal_everywhere(model):
    for variable in [*model.weights, *model.optimizer.variables]:
        copies = STRATEGY.experimental_local_results(variable.value)
        first, *others = [copy.numpy() for copy in copies]
        if not others or not all(np.array_equal(first, other) for other in others):
            return variable.path
    return True


def refusal(action):
    try:
        action()
    except (ValueError, FloatingPointError) as error:
        return str(error)
    return None


def on_given_points(model):
    return model.fit(stream(), epochs=2, verbose=0, callbacks=[annealing()])


report = {"given": {}}
for name, optimizer in OPTIMIZERS.items():
    alone = trained(contextlib.nullcontext(), optimizer, on_given_points)
    model, *both = trained(STRATEGY.scope(), optimizer, on_given_points)
    report["given"][name] = [alone[1:], both, equal_everywhere(model)]

points = PROBLEM.test_data(5)
for candidate in (alone[0], model):
    logs = candidate.evaluate(*points, verbose=0, return_dict=True)
    values = candidate.predict(INSIDE[:13], verbose=0).ravel().tolist()
    report.setdefault("evaluated", []).append([list(logs.values()), values])

runs = {"fused": {}, "eager": {"run_eagerly": True}}
for name, options in runs.items():
    with STRATEGY.scope():
        model = compiled(**options)
    model.fit(**RUN, epochs=4, callbacks=[annealing()])
    report[name] = [weights_of(model), model.steps_taken, equal_everywhere(model)]

with STRATEGY.scope():
    model = compiled(keras.optimizers.SGD(1e15))
before = weights_of(model)
report["stopped"] = refusal(lambda: model.fit(**RUN))
report["stopped at"] = model.steps_taken

C = kp.Parameter("c", initial=-1.0)
EQUATION = {"e": sp.Eq(sp.sqrt(C) * U.diff(X), 1)}
with STRATEGY.scope():
    network = kp.networks.MLP(2, 1)
    model = kp.PINNModel(kp.Problem(PROBLEM.domain, EQUATION), network, seed=0)
    model.compile("sgd", run_eagerly=True)
report["stopped with a coefficient"] = refusal(lambda: model.fit(**RUN))


print(json.dumps(report))
