"""The JAX backend: these tests run on it, and elsewhere in a process of their own."""

import os
import re
import subprocess
import sys
from pathlib import Path

import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn as kp
from keraspinn import backend
from keraspinn.sampling.sources import PointSources

ON_JAX = keras.backend.backend() == "jax"
RUN = {"batch_size": 16, "steps_per_epoch": 6, "verbose": 0}
ROOT = Path(__file__).parents[2]
# What TensorFlow draws: `backend.uniform` for these words, and points of a step.
WORDS = 7, 3, 4000000000, -1
SINGLE = [0.6514537930488586, 0.3836498260498047, 0.7566272616386414]
DOUBLE = [0.38364984669057967, 0.11384272476579693, 0.14228655458805894]
POINTS = [
    [-0.3059220314025879, 0.22387507557868958],
    [-1.2677996158599854, 1.6978096961975098],
    [1.1017920970916748, 1.0803569555282593],
]

on_jax = pytest.mark.skipif(not ON_JAX, reason="run by test_on_jax, on JAX")


def run(name, *arguments, **environment):
    settings = {"KERAS_BACKEND": name, "TF_CPP_MIN_LOG_LEVEL": "3", **environment}
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    result = subprocess.run(
        [sys.executable, *map(str, arguments)],
        env=os.environ | settings | {"PYTHONPATH": path},
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stdout[-6000:] + result.stderr[-3000:]
    return result.stdout


@pytest.mark.skipif(ON_JAX, reason="the other tests are being run")
def test_on_jax():
    out = run("jax", "-m", "pytest", __file__, "-q", "-p", "no:cacheprovider")
    assert re.search(r"\d+ passed", out) and not re.search(r"\d+ failed", out)


@pytest.mark.skipif(ON_JAX, reason="the other tests are being run")
def test_layers_in_double_precision_on_jax():
    options = "-q", "-p", "no:cacheprovider"
    out = run("jax", "-m", "pytest", "tests/layers", *options, JAX_ENABLE_X64="1")
    assert re.search(r"\d+ passed", out) and not re.search(r"\d+ failed", out)


def test_other_backends_are_refused_by_a_sentence():
    with pytest.raises(ImportError, match="Received: 'torch'.*KERAS_BACKEND"):
        backend._load("torch")


@on_jax
def test_tensorflow_is_not_imported():
    program = "import sys, keraspinn; assert 'tensorflow' not in sys.modules"
    run("jax", "-c", program)


def test_points_of_a_seed_are_the_same_on_every_backend(double):
    np.testing.assert_array_equal(backend.uniform((3,), WORDS, "float32"), SINGLE)
    np.testing.assert_array_equal(
        backend.uniform((3,), WORDS, "float64")[:2], DOUBLE[:2]
    )
    sources = PointSources(kp.problems.helmholtz(), "float32", 3)
    batch = sources.draw(11, 5)["residual"]
    np.testing.assert_allclose(batch.points, POINTS, rtol=1e-6)


def test_points_far_from_the_origin_are_told_apart():
    t = sp.Symbol("t")
    u = sp.Function("u")(t)
    start = 1.7e9
    problem = kp.Problem(
        kp.geometry.Box({t: (start, start + 100)}),
        {"decay": u.diff(t) + u / 50},
        {"start": kp.Condition(u - 1, on={t: start})},
        {u: sp.exp((int(start) - t) / 50)},
    )
    model = kp.PINNModel(problem, kp.networks.MLP(8, 1))
    model.compile()
    points, values = problem.test_data(50)
    found = model.predict_expression(u, points)
    assert np.unique(found).size == 50
    np.testing.assert_allclose(model.predict(points, verbose=0)[:, 0], found, 1e-5)
    np.testing.assert_allclose(np.asarray(model(points))[:, 0], found, 1e-5)
    logs = model.evaluate(points, values, verbose=0, return_dict=True)
    error = np.linalg.norm(found - values["u"]) / np.linalg.norm(values["u"])
    np.testing.assert_allclose(logs["u_relative_l2"], error, 1e-4)
    if ON_JAX:  # Keras hands it single precision
        with pytest.raises(ValueError, match="float32, which does not.*jax_enable_x64"):
            model.predict_on_batch(points)


def test_float64_is_kept_by_functions(double):
    x = keras.ops.convert_to_tensor(np.linspace(0.1, 0.9, 5), "float64")
    for name in ("tanh", "sin", "exp", "sqrt", "log"):
        found = getattr(keras.ops, name)(x)
        assert keras.backend.standardize_dtype(found.dtype) == "float64"
        np.testing.assert_allclose(found, getattr(np, name)(x), 1e-14)


@on_jax
def test_float32_stays_where_there_is_no_other():
    assert keras.backend.result_type("float64", float) == "float32"


def test_a_network_in_float64_computes_in_it(double):
    network = kp.networks.MLP(4, 2, dtype="float64")
    points = np.random.default_rng(0).uniform(-1, 1, (3, 2))
    found = keras.ops.convert_to_numpy(network(keras.ops.cast(points, "float64")))
    values, (*hidden, head) = points, [layer.get_weights() for layer in network.layers]
    for kernel, bias in hidden:
        values = np.tanh(values @ kernel + bias)
    np.testing.assert_allclose(found, values @ head[0] + head[1], 1e-13)


def test_scales_are_found_in_double_precision():
    x = sp.Symbol("x")
    u = sp.Function("u")(x)
    problem = kp.Problem(
        kp.geometry.Box({x: (0, 1e-3)}),
        {"e": 1e30 * u.diff(x, 2) + 1e45 * sp.sin(1000 * x)},
        {"ends": kp.Condition(u, on="boundary")},
    )
    assert "u = 2.09e+08 û" in str(problem)


@pytest.fixture
def double():
    if not ON_JAX:
        yield
        return
    import jax

    jax.config.update("jax_enable_x64", True)
    yield
    jax.config.update("jax_enable_x64", False)


def compiled(problem=None, optimizer=None, dtype=None, **options):
    problem = problem or kp.problems.poisson(2)
    model = kp.PINNModel(
        problem, kp.networks.MLP(8, 2, dtype=dtype), seed=0, dtype=dtype
    )
    for place, variable in enumerate(model.network.trainable_variables):
        numbers = np.random.default_rng(place).normal(size=variable.shape)
        variable.assign(0.5 * numbers)
    model.compile(optimizer or keras.optimizers.Adam(1e-2), **options)
    return model


def fit(model, *callbacks, epochs=2, **options):
    annealing = kp.callbacks.LearningRateAnnealing(update_freq=3)
    return model.fit(**RUN | options, epochs=epochs, callbacks=[annealing, *callbacks])


def state(model):
    variables = [*model.variables, *model.optimizer.variables]
    return [variable.numpy().tobytes() for variable in variables]


@on_jax
def test_fused_steps_are_those_one_by_one():
    fused, eager = compiled(), compiled(run_eagerly=True)
    a, b = fit(fused).history, fit(eager).history
    assert a.keys() == b.keys() and fused.steps_taken == eager.steps_taken == 12
    for name in a:
        np.testing.assert_allclose(a[name], b[name], rtol=1e-4, err_msg=name)
    assert fused.loss_weights["boundary"].numpy() != 1.0


@on_jax
def test_history_does_not_depend_on_steps_per_execution():
    histories = [fit(compiled(steps_per_execution=n)).history for n in (1, 4)]
    for name, values in histories[0].items():
        np.testing.assert_allclose(values, histories[1][name], rtol=1e-5)


@on_jax
def test_loss_falls_and_evaluation_sees_it():
    model = compiled()
    points, values = model.problem.test_data(20)
    before = model.evaluate(points, values, verbose=0, return_dict=True)
    history = model.fit(
        batch_size=32,
        steps_per_epoch=200,
        epochs=2,
        verbose=0,
        validation_data=(points, values),
    ).history
    after = model.evaluate(points, values, verbose=0, return_dict=True)
    assert after["u_relative_l2"] < 0.3 * before["u_relative_l2"]
    assert history["val_u_relative_l2"][-1] == pytest.approx(after["u_relative_l2"])
    one = model.test_on_batch(points, values, return_dict=True)
    assert one["u_relative_l2"] == pytest.approx(after["u_relative_l2"], rel=1e-4)
    u, x = model.problem.fields[0], model.problem.coordinates[0]
    predicted = model.predict(points, verbose=0)
    np.testing.assert_allclose(
        predicted[:, 0], model.predict_expression(u, points), 1e-4
    )
    step = np.array([[0.5 - 1e-2], [0.5 + 1e-2]])
    slope = np.diff(model.predict_expression(u, step)) / 2e-2
    found = model.predict_expression(sp.diff(u, x), np.array([[0.5]]))
    np.testing.assert_allclose(found, slope, rtol=1e-2)


@on_jax
def test_prediction_follows_the_training():
    """Weights are a program's arguments, not constants of it."""
    model = compiled()
    points = model.problem.test_data(5)[0]
    u = model.problem.fields[0]
    model.predict_expression(u, points), model.predict(points, verbose=0)
    fit(model)
    expected = np.array(model(points.astype("float32")))
    np.testing.assert_allclose(model.predict(points, verbose=0), expected, atol=1e-6)
    found = model.predict_expression(u, points)
    np.testing.assert_allclose(found, expected[:, 0], atol=1e-6)


@on_jax
def test_streamed_points_and_single_batches():
    model = compiled()
    points = np.linspace(0.1, 0.9, 12)[:, None]

    def batches():
        while True:
            yield points

    history = model.fit(batches(), steps_per_epoch=5, epochs=2, verbose=0).history
    assert len(history["loss"]) == 2 and model.steps_taken == 10
    logs = model.train_on_batch(points, return_dict=True)
    assert np.isfinite(logs["loss"]) and model.steps_taken == 11
    model.train_on_batch()
    assert model.steps_taken == 12
    assert model.predict_on_batch(points).shape == (12, 1)


@on_jax
def test_points_held_fixed():
    model = compiled()
    points = np.linspace(0.1, 0.9, 12)[:, None]
    history = model.fit(points, steps_per_epoch=5, epochs=2, verbose=0).history
    assert history["loss"][1] < history["loss"][0]


@on_jax
@pytest.mark.parametrize("stepwise", [False, True])
def test_a_step_that_is_not_finite_is_not_taken(stepwise):
    x = sp.Symbol("x")
    u, c = sp.Function("u")(x), kp.Parameter("c", initial=1.0)
    problem = kp.Problem(  # descent takes c below zero
        kp.geometry.Box({x: (0, 1)}),
        {"e": sp.Eq(sp.sqrt(c) + u, -100)},
        {"left": kp.Condition(sp.Eq(u, 0), on={x: 0})},
        scales=None,
    )
    options = {"run_eagerly": True} if stepwise else {"steps_per_execution": 4}
    model = compiled(problem, keras.optimizers.SGD(1e-3), **options)
    with pytest.raises(FloatingPointError, match="the loss of 'residual' is nan"):
        fit(model, epochs=4)
    steps = model.steps_taken
    assert 2 < steps < 24
    exact = compiled(problem, keras.optimizers.SGD(1e-3), **options)
    fit(exact, epochs=1, steps_per_epoch=steps)
    for one, other in zip(model.variables, exact.variables, strict=True):
        assert np.isfinite(one.numpy()).all()
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-6)


@on_jax
def test_resumes_to_the_bit(tmp_path):
    whole, first, second = compiled(), compiled(), compiled()
    fit(whole, epochs=4)
    with pytest.raises(KeyboardInterrupt):
        fit(first, kp.callbacks.BackupAndRestore(tmp_path / "b"), Dies(), epochs=4)
    fit(second, kp.callbacks.BackupAndRestore(tmp_path / "b"), epochs=4)
    assert state(second) == state(whole)


class Dies(keras.callbacks.Callback):
    def on_epoch_begin(self, epoch, logs=None):
        if epoch == 2:
            raise KeyboardInterrupt


@on_jax
def test_an_interrupted_model_is_whole():
    class Interrupts(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            raise KeyboardInterrupt

    model = compiled(steps_per_execution=2)
    kept = model.get_weights()
    with pytest.raises(KeyboardInterrupt):
        fit(model, Interrupts())
    assert model.steps_taken == 2 and not np.array_equal(
        kept[0], model.get_weights()[0]
    )
    fit(model)


@on_jax
@pytest.mark.parametrize("name", ["SSBroyden", "BFGS", "LBFGS", "GaussNewton"])
def test_second_order(name, double):
    model = compiled(optimizer=getattr(kp.optimizers, name)(), dtype="float64")
    history = fit(model, epochs=4, steps_per_epoch=25).history
    assert history["loss"][-1] < 1e-3 * history["loss"][0]
    assert model.predict(model.problem.test_data(5)[0], verbose=0).dtype == "float64"


@on_jax
def test_float64_without_x64_is_refused():
    with pytest.raises(ValueError, match="JAX_ENABLE_X64"):
        compiled(dtype="float64")


@on_jax
def test_diagnostics():
    model = compiled(kp.problems.helmholtz())
    before = kp.diagnostics.gradient_statistics(model).norms
    hessian = kp.diagnostics.LossHessian(model, "loss", batch_size=8)
    matrix = hessian.matrix()
    np.testing.assert_allclose(np.trace(matrix), hessian_trace(hessian), rtol=1e-4)
    fit(model)
    assert kp.diagnostics.gradient_statistics(model).norms != before
    assert not np.allclose(hessian.matrix(), matrix)


def hessian_trace(hessian):
    return sum(
        hessian.products(np.eye(hessian.size))[n, n] for n in range(hessian.size)
    )


@on_jax
def test_events_without_tensorflow(tmp_path):
    pytest.importorskip("tensorboard")
    from tensorboard.backend.event_processing import event_accumulator

    writer = backend.EventWriter(tmp_path)
    writer.scalar("norm", 2.5, step=7)
    writer.histogram("layer", np.array([0.0, 1.0, 3.0]), [5, 6], step=8)
    writer.close()
    read = event_accumulator.EventAccumulator(str(tmp_path)).Reload()
    (event,) = read.Tensors("norm")
    assert event.step == 7 and event.tensor_proto.float_val[0] == 2.5
    assert read.Tags()["tensors"] == ["norm", "layer"]


@on_jax
def test_a_network_without_taylor_rule():
    @keras.saving.register_keras_serializable("test")
    class Wave(keras.layers.Layer):
        def call(self, x):
            return keras.ops.sin(x)

    layers = [keras.layers.Dense(8), Wave(), keras.layers.Dense(1)]
    network = keras.Sequential([keras.Input((1,)), *layers])
    model = kp.PINNModel(kp.problems.poisson(2), network, seed=0)
    model.compile(keras.optimizers.Adam(1e-2))
    assert model.derivative_engine == "jvp"
    history = fit(model, epochs=3, steps_per_epoch=50).history
    assert history["loss"][-1] < history["loss"][0]


SAVE = """
import sys, keras, numpy as np, keraspinn as kp
model = kp.PINNModel(kp.problems.helmholtz(), kp.networks.ModifiedMLP(8, 2), seed=0)
model.compile(keras.optimizers.Adam(1e-3))
model.fit(batch_size=8, steps_per_epoch=3, epochs=1, verbose=0)
model.save(sys.argv[1])
np.save(sys.argv[2], model.predict(model.problem.test_data(7)[0], verbose=0))
"""
LOAD = """
import sys, numpy as np, keraspinn as kp
model = kp.training.load_model(sys.argv[1])
found = model.predict(model.problem.test_data(7)[0], verbose=0)
np.testing.assert_allclose(found, np.load(sys.argv[2]), atol=1e-5, rtol=1e-5)
model.fit(batch_size=8, steps_per_epoch=3, epochs=1, verbose=0)
assert model.steps_taken == 6
"""


@on_jax
@pytest.mark.parametrize("pair", [("jax", "tensorflow"), ("tensorflow", "jax")])
def test_files_cross(pair, tmp_path):
    pytest.importorskip("tensorflow")
    paths = tmp_path / "model.keras", tmp_path / "predicted.npy"
    run(pair[0], "-c", SAVE, *paths)
    run(pair[1], "-c", LOAD, *paths)
