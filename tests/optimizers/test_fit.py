"""Second-order optimizers in `fit`."""

import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn as kp
from keraspinn.training.fitting import checked_optimizer

X, T = sp.symbols("x t")
U = sp.Function("u")(X, T)
OPTIMIZERS = {
    "SSBroyden": lambda: kp.optimizers.SSBroyden(resample_every=20),
    "LBFGS": lambda: kp.optimizers.LBFGS(8, resample_every=20),
    "GaussNewton": lambda: kp.optimizers.GaussNewton(),
}


def heat(unknown=False):
    """Declare u_t = c u_xx with u = sin(πx) e^(−t): c = 1/π², known or unknown."""
    c = kp.Parameter("c", initial=0.2) if unknown else 1 / sp.pi**2
    exact = sp.sin(sp.pi * X) * sp.exp(-T)
    table = np.random.default_rng(0).uniform(size=(30, 2))
    values = np.sin(np.pi * table[:, 0]) * np.exp(-table[:, 1])
    conditions = {
        "initial": kp.Condition(sp.Eq(U, exact), on={T: 0}, weight=2.0),
        "ends": kp.Condition(U, on=[{X: 0}, {X: 1}]),
    }
    if unknown:
        conditions["data"] = kp.Data(table, {U: values})
    domain = kp.geometry.Box({X: (0, 1), T: (0, 1)})
    equations = {"heat": sp.Eq(U.diff(T), c * U.diff(X, 2))}
    return kp.Problem(domain, equations, conditions, reference={U: exact})


def compiled(optimizer, problem=None, **options):
    keras.utils.set_random_seed(0)
    network = kp.networks.MLP(8, 2, dtype="float64")
    model = kp.PINNModel(problem or heat(), network, seed=0, dtype="float64")
    if isinstance(optimizer, str):
        optimizer = OPTIMIZERS[optimizer]()
    model.compile(optimizer, **({"jit_compile": False} | options))
    return model


RUN = {"batch_size": 64, "steps_per_epoch": 20, "verbose": 0}


def values_of(model):
    """Return the state that a training resumes from."""
    return list(map(keras.ops.convert_to_numpy, model.trainer.state_variables))


def assert_same(one, other):
    assert len(one) == len(other)
    for actual, expected in zip(one, other, strict=True):
        np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize(
    "name",
    [
        "SSBroyden",
        *(pytest.param(n, marks=pytest.mark.slow) for n in list(OPTIMIZERS)[1:]),
    ],
)
def test_the_loss_falls_by_orders_with_logs(name):
    model = compiled(name)
    history = model.fit(**RUN, epochs=4).history
    falls = {"LBFGS": 0.01}.get(name, 1e-3)
    assert history["loss"][-1] < falls * history["loss"][0]
    expected = {"loss", "residual_loss", "heat_loss", "initial_loss", "ends_weight"}
    assert expected | set(model.optimizer.log_names) <= set(history)
    assert "step_size" in history and np.isfinite(list(history.values())).all()
    assert model.evaluate(*model.problem.test_data(10), verbose=0)[-1] < 0.2
    assert model.steps_taken == 80


@pytest.mark.slow
def test_a_compiled_program_makes_the_same_steps():
    histories = [
        compiled("SSBroyden", jit_compile=jit, steps_per_execution=steps)
        .fit(**RUN)
        .history["loss"]
        for jit, steps in ((False, 7), (True, "auto"))
    ]
    np.testing.assert_allclose(*histories, rtol=1e-3)


@pytest.mark.slow
def test_callbacks_of_keras_run():
    model = compiled("SSBroyden")
    stop = keras.callbacks.EarlyStopping("loss", patience=0, min_delta=1e9)
    seen = []
    count = keras.callbacks.LambdaCallback(on_epoch_end=lambda e, logs: seen.append(e))
    model.fit(**RUN, epochs=9, callbacks=[stop, count])
    assert seen == [0, 1]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["SSBroyden", "GaussNewton"])
def test_weights_may_be_annealed(name):
    model = compiled(name)
    annealing = kp.callbacks.LearningRateAnnealing(alpha=0.1, update_freq=20)
    history = model.fit(**RUN, epochs=4, callbacks=[annealing]).history
    assert history["initial_weight"][0] != 2 and history["loss"][-1] < 1e-2


class Watched(kp.optimizers.BFGS):
    """BFGS that logs whether its points changed."""

    log_names = (*kp.optimizers.BFGS.log_names, "renewed")

    def step(self, objective, parameters, state):
        parameters, state, logs = super().step(objective, parameters, state)
        return parameters, state, {**logs, "renewed": objective.renewed}


@pytest.mark.slow
def test_steps_are_told_when_the_loss_changes():
    model = compiled(Watched(resample_every=20), steps_per_execution=1)
    run = {"batch_size": 64, "steps_per_epoch": 1, "verbose": 0}
    history = model.fit(**run, epochs=22).history
    assert history["renewed"] == [1, *[0] * 19, 1, 0]
    # The terms are evaluated for the logs in every tenth step.
    columns = (history[f"{name}_loss"] for name in ("residual", "initial", "ends"))
    terms = np.dot([1, 2, 1], list(columns))
    logged = [0, 10, 20]
    np.testing.assert_allclose(terms[logged], np.array(history["loss"])[logged])
    np.testing.assert_array_equal(terms[1:10], terms[0])
    assert model.fit(**run, epochs=2).history["renewed"] == [0, 0]
    model.loss_weights["initial"].assign(5.0)
    assert model.fit(**run, epochs=2).history["renewed"] == [1, 0]


@pytest.mark.slow
def test_unknown_parameters_and_tables():
    model = compiled("SSBroyden", heat(unknown=True))
    history = model.fit(**RUN, epochs=8).history
    assert history["c"][-1] == pytest.approx(1 / np.pi**2, rel=0.02)
    assert 0 < history["data_loss"][-1] < 1e-4


@pytest.mark.slow
def test_held_points_and_samplers():
    model = compiled("SSBroyden")
    points = np.random.default_rng(0).uniform(size=(80, 2))
    sources = {"residual": points, "initial": kp.sampling.Renewed(every=30)}
    history = model.fit(sources, steps_per_epoch=20, epochs=3, verbose=0).history
    assert history["loss"][-1] < 1e-2 * history["loss"][0]


@pytest.mark.slow
def test_a_saved_training_resumes(tmp_path):
    model = compiled("GaussNewton")
    model.fit(**RUN, epochs=2)
    model.save(tmp_path / "model.keras")
    loaded = kp.load_model(tmp_path / "model.keras")
    for actual, expected in zip(
        model.optimizer.variables, loaded.optimizer.variables, strict=True
    ):
        np.testing.assert_array_equal(actual, expected)
    before = model.fit(**RUN).history["loss"][0]
    after = loaded.fit(**RUN).history["loss"][0]
    assert after == pytest.approx(before, rel=1)


class Death(keras.callbacks.Callback):
    """Callback that raises at the beginning of the third epoch."""

    def on_epoch_begin(self, epoch, logs=None):
        if epoch == 2:
            raise KeyboardInterrupt


@pytest.mark.slow
@pytest.mark.parametrize("name", ["SSBroyden", "LBFGS"])
def test_an_interrupted_training_resumes_exactly(name, tmp_path):
    def model():
        small = {"memory_size": 3} if name == "LBFGS" else {}  # compiles in less time
        return compiled(getattr(kp.optimizers, name)(resample_every=15, **small))

    def fit(model, *callbacks):
        model.fit(**RUN, epochs=4, callbacks=[*callbacks])

    undisturbed = model()
    fit(undisturbed)
    backup = tmp_path / "backup"
    with pytest.raises(KeyboardInterrupt):
        fit(model(), kp.callbacks.BackupAndRestore(backup), Death())
    again = model()
    fit(again, kp.callbacks.BackupAndRestore(backup))
    assert_same(values_of(again), values_of(undisturbed))


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, {"jit_compile": True}, {"run_eagerly": True}])
def test_a_step_that_is_not_finite_is_not_taken(options):
    x = sp.Symbol("x")
    u, c = sp.Function("u")(x), kp.Parameter("c", initial=1.0)
    # The root is NaN at a point that is sampled at some step.
    problem = kp.Problem(
        kp.geometry.Box({x: (0, 1)}),
        {"e": u.diff(x, 2) + sp.sqrt(0.999 - x) * c},
        {"ends": kp.Condition(u, on="boundary")},
    )
    model = compiled(kp.optimizers.BFGS(resample_every=2), problem, **options)
    with pytest.raises(FloatingPointError, match="'e'.*not taken|'residual'.*nan"):
        uniform = kp.sampling.Renewed(every=2)
        model.fit(uniform, batch_size=200, steps_per_epoch=40, verbose=0)
    assert np.isfinite(np.concatenate([w.ravel() for w in model.get_weights()])).all()
    assert np.isfinite(model.optimizer.state["inverse_hessian"]).all()
    assert model.steps_taken % 2 == 0  # before the points that were renewed


@pytest.mark.slow
def test_single_batches_and_streams():
    model = compiled("SSBroyden")
    points = np.random.default_rng(0).uniform(size=(64, 2))
    losses = [model.train_on_batch(points)[0] for _ in range(20)]
    assert losses[-1] < 0.5 * losses[0] and model.steps_taken == 20
    stream = (points for _ in range(20))
    history = model.fit(stream, verbose=0).history
    assert history["loss"][0] < losses[-1] and model.steps_taken == 40


def test_rejects_options_that_do_not_apply():
    with pytest.raises(TypeError, match="gradient_accumulation"):
        kp.optimizers.SSBroyden(gradient_accumulation_steps=4)
    with pytest.raises(ValueError, match="trains on one device"):
        checked_optimizer(kp.optimizers.SSBroyden(), 2)


def test_rejects_constraints_of_weights():
    dense = keras.layers.Dense(3, "tanh", kernel_constraint="non_neg")
    network = keras.Sequential([dense, keras.layers.Dense(1)])
    model = kp.PINNModel(heat(), network, seed=0).astype("float64")
    model.compile(kp.optimizers.SSBroyden())
    with pytest.raises(ValueError, match="no constraints.*dense.*kernel"):
        model.fit(steps_per_epoch=2, verbose=0)
