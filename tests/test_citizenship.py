"""Keras features around `fit`, each on a real fit."""

import csv

import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn as kp

X = sp.Symbol("x")
U = sp.Function("u")(X)
PROBLEM = kp.Problem(
    kp.geometry.Box({X: (0, 1)}),
    {"e": sp.Eq(U.diff(X, 2), -sp.sin(X))},
    {"ends": kp.Condition(sp.Eq(U, sp.sin(X)), on="boundary")},
    reference={U: sp.sin(X)},
)
RUN = {"batch_size": 8, "steps_per_epoch": 6, "verbose": 0}
PATHS = [{"jit_compile": True}, {"jit_compile": False}, {"run_eagerly": True}]
POINTS = np.random.default_rng(0).uniform(size=(24, 1)).astype("float32")


def compiled(optimizer="adam", problem=PROBLEM, network=None, **options):
    keras.utils.set_random_seed(0)
    model = kp.PINNModel(problem, network or kp.networks.MLP(6, 2), seed=0)
    model.compile(optimizer, **({"jit_compile": False} | options))
    return model


def fitted(callbacks=(), epochs=3, optimizer="adam", **arguments):
    model = compiled(optimizer)
    data = {"validation_data": PROBLEM.test_data(9)}
    history = model.fit(**RUN, **data, epochs=epochs, callbacks=callbacks, **arguments)
    return model, history.history


def weights_of(model):
    return np.concatenate([v.numpy().ravel() for v in model.trainable_variables])


# Callbacks


def test_early_stopping_restores_the_best_weights():
    stop = keras.callbacks.EarlyStopping(
        "val_u_relative_l2", mode="max", patience=1, restore_best_weights=True
    )
    model, history = fitted([stop], epochs=9)
    assert len(history["loss"]) < 9
    error = model.evaluate(*PROBLEM.test_data(9), verbose=0, return_dict=True)
    assert error["u_relative_l2"] == pytest.approx(max(history["val_u_relative_l2"]))


@pytest.mark.slow
def test_learning_rates_follow_callbacks():
    plateau = keras.callbacks.ReduceLROnPlateau("loss", 0.5, patience=1, min_delta=1e9)
    _, history = fitted([plateau], epochs=4)
    assert history["learning_rate"] == pytest.approx([1e-3, 1e-3, 5e-4, 2.5e-4])
    schedule = keras.callbacks.LearningRateScheduler(lambda epoch, rate: rate / 2)
    _, history = fitted([schedule], epochs=2)
    assert history["learning_rate"] == pytest.approx([5e-4, 2.5e-4])


def test_a_rate_set_between_epochs_moves_the_compiled_steps():
    stand = keras.callbacks.LearningRateScheduler(lambda epoch: 0.0)
    model = compiled("sgd", jit_compile=True)
    initial = weights_of(model)
    model.fit(**RUN, callbacks=[stand])
    np.testing.assert_array_equal(weights_of(model), initial)


@pytest.mark.slow
def test_model_checkpoints_are_complete_models(tmp_path):
    best = keras.callbacks.ModelCheckpoint(
        tmp_path / "best.keras", monitor="val_loss", save_best_only=True
    )
    often = keras.callbacks.ModelCheckpoint(
        tmp_path / "{epoch}.weights.h5", save_weights_only=True, save_freq=6
    )
    model, history = fitted([best, often])
    copy = keras.models.load_model(tmp_path / "best.keras")
    logs = copy.evaluate(*PROBLEM.test_data(9), verbose=0, return_dict=True)
    assert logs["loss"] == pytest.approx(min(history["val_loss"]), rel=1e-5)
    copy.load_weights(tmp_path / "3.weights.h5")
    np.testing.assert_array_equal(weights_of(copy), weights_of(model))


def test_csv_logger(tmp_path):
    _, history = fitted([keras.callbacks.CSVLogger(tmp_path / "log.csv")])
    rows = list(csv.DictReader((tmp_path / "log.csv").open()))
    assert len(rows) == 3
    for name, column in history.items():
        assert [float(row[name]) for row in rows] == pytest.approx(column)


def test_tensorboard(tmp_path):
    pytest.importorskip("tensorboard", reason="TensorBoard's callback needs it")
    board = keras.callbacks.TensorBoard(
        tmp_path, histogram_freq=1, update_freq=1, profile_batch=0
    )
    fitted([board, kp.callbacks.LearningRateAnnealing()])
    files = list(tmp_path.rglob("*tfevents*"))
    assert {path.parent.name for path in files} == {"train", "validation"}
    text = b"".join(path.read_bytes() for path in files)
    for name in (b"epoch_loss", b"batch_ends_weight", b"epoch_u_relative_l2"):
        assert name in text


@pytest.mark.slow
def test_backup_and_restore(tmp_path):
    class Interrupt(keras.callbacks.Callback):
        def on_epoch_begin(self, epoch, logs=None):
            if epoch == 2:
                raise KeyboardInterrupt

    def callbacks(*more):
        annealing = kp.callbacks.LearningRateAnnealing(update_freq=4)
        return [annealing, keras.callbacks.BackupAndRestore(tmp_path / "b"), *more]

    with pytest.raises(KeyboardInterrupt):
        compiled().fit(**RUN, epochs=4, callbacks=callbacks(Interrupt()))
    resumed, uninterrupted = compiled(), compiled()
    resumed.fit(**RUN, epochs=4, callbacks=callbacks())
    uninterrupted.fit(**RUN, epochs=4, callbacks=callbacks())
    assert resumed.steps_taken == uninterrupted.steps_taken == 24
    np.testing.assert_allclose(
        weights_of(resumed), weights_of(uninterrupted), rtol=1e-6
    )


@pytest.mark.slow
def test_averaged_weights_are_swapped_in_for_validation():
    optimizer = keras.optimizers.Adam(1e-2, use_ema=True)
    swap = keras.callbacks.SwapEMAWeights(swap_on_epoch=True)
    model, history = fitted([swap], optimizer=optimizer)
    assert np.isfinite(history["val_loss"]).all() and model.steps_taken == 18


@pytest.mark.slow
def test_a_search_over_width_and_depth(tmp_path):
    tuner_module = pytest.importorskip("keras_tuner", reason="pip install keras-tuner")

    def build(choices):
        units, depth = choices.Int("units", 2, 4), choices.Int("depth", 1, 2)
        return compiled(network=kp.networks.MLP(units, depth))

    tuner = tuner_module.GridSearch(
        build,
        objective=tuner_module.Objective("val_u_relative_l2", "min"),
        max_trials=2,
        directory=tmp_path,
    )
    data = {"validation_data": PROBLEM.test_data(9)}
    callbacks = [kp.callbacks.LearningRateAnnealing()]
    tuner.search(**RUN, **data, epochs=2, callbacks=callbacks)
    best = tuner.get_best_models(1)[0]
    logs = best.evaluate(*PROBLEM.test_data(9), verbose=0, return_dict=True)
    trials = tuner.oracle.get_best_trials(2)
    assert logs["u_relative_l2"] == pytest.approx(trials[0].score, rel=1e-5)
    assert trials[0].score <= trials[1].score


# Optimizers

OPTIMIZERS = {
    "clipnorm": lambda: keras.optimizers.Adam(1e-2, clipnorm=0.1),
    "weight_decay": lambda: keras.optimizers.AdamW(1e-2, weight_decay=0.1),
    "overwriting": lambda: keras.optimizers.Adam(
        1e-2, use_ema=True, ema_momentum=0.5, ema_overwrite_frequency=2
    ),
    "accumulation": lambda: keras.optimizers.Adam(1e-2, gradient_accumulation_steps=3),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_compiled_and_eager_steps_of_each_optimizer_agree(name):
    weights = []
    for options in ({"jit_compile": True}, {"run_eagerly": True}):
        model = compiled(OPTIMIZERS[name](), **options)
        model.fit(**RUN, callbacks=[kp.callbacks.LearningRateAnnealing(update_freq=2)])
        assert model.steps_taken == 6
        weights.append(weights_of(model))
    np.testing.assert_allclose(*weights, rtol=1e-3, atol=1e-5)
    plain = compiled(keras.optimizers.Adam(1e-2))
    plain.fit(**RUN)
    assert np.abs(weights_of(plain) - weights[1]).max() > 1e-4


def test_clipped_gradients_are_short():
    model = compiled(keras.optimizers.SGD(1.0, global_clipnorm=1e-3))
    before = weights_of(model)
    model.fit(**RUN | {"steps_per_epoch": 1})
    assert np.linalg.norm(weights_of(model) - before) == pytest.approx(1e-3, rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("options", PATHS, ids=str)
def test_accumulated_gradients_are_those_of_the_joint_batch(options):
    optimizer = keras.optimizers.SGD(1e-2, gradient_accumulation_steps=3)
    several, joint = compiled(optimizer, **options), compiled("sgd")
    ends = np.array([[0.0], [1.0]])
    held = {"ends": ends}
    for model, size, steps in ((several, 8, 3), (joint, 24, 1)):
        batches = [{"residual": x, **held} for x in np.split(POINTS, 24 // size)]
        model.fit((b for b in batches), steps_per_epoch=steps, verbose=0)
        assert model.steps_taken == steps and model.optimizer.iterations == 1
    np.testing.assert_allclose(weights_of(several), weights_of(joint), atol=1e-6)
    # Each of the steps that accumulate samples its own points.
    losses = several.fit(held, batch_size=8, steps_per_epoch=1, epochs=3, verbose=0)
    assert len(set(losses.history["residual_loss"])) == 3


@pytest.mark.slow
def test_coefficients_can_be_excluded_from_weight_decay():
    c = kp.Parameter("c", initial=5.0)
    # Its gradient vanishes: only decay would move it.
    problem = kp.Problem(PROBLEM.domain, {"e": U.diff(X) * sp.exp(-2 * c)}, scales=None)
    values = []
    for excluded in (False, True):
        keras.utils.set_random_seed(0)
        model = kp.PINNModel(problem, kp.networks.MLP(4, 1), seed=0)
        optimizer = keras.optimizers.SGD(0.1, weight_decay=0.5)
        if excluded:
            optimizer.exclude_from_weight_decay([model.coefficients["c"]])
        model.compile(optimizer, jit_compile=False)
        model.fit(**RUN)
        values.append(float(model.coefficients["c"].numpy()))
    assert values == [pytest.approx(5.0 * 0.95**6, rel=1e-4), pytest.approx(5.0)]


@pytest.mark.slow
def test_layers_freeze_and_thaw_between_fits():
    model = compiled()
    kernel = model.network.hidden[0].kernel
    values = [kernel.numpy()]
    for trainable in (False, True):
        model.network.hidden[0].trainable = trainable
        model.compile("adam", jit_compile=True)
        model.fit(**RUN)
        values.append(kernel.numpy())
    np.testing.assert_array_equal(values[0], values[1])
    assert np.abs(values[2] - values[1]).max() > 0


def test_run_eagerly_makes_the_requested_steps():
    model = compiled(run_eagerly=True, steps_per_execution=4)
    model.fit(**RUN, epochs=2)
    assert model.steps_taken == 12


@pytest.mark.parametrize(
    "optimizer",
    [
        lambda: keras.optimizers.LossScaleOptimizer(keras.optimizers.Adam()),
        lambda: keras.optimizers.Adam(loss_scale_factor=8.0),
    ],
)
def test_optimizers_that_scale_losses_are_refused(optimizer):
    with pytest.raises(ValueError, match="Losses are not scaled"):
        compiled(optimizer())


@pytest.mark.slow
@pytest.mark.parametrize("options", PATHS, ids=str)
def test_same_seed_same_numbers_on_every_path(options):
    models = [compiled(**options) for _ in range(2)]
    for model in models:
        model.fit(**RUN, callbacks=[kp.callbacks.LearningRateAnnealing()])
    np.testing.assert_array_equal(*map(weights_of, models))
