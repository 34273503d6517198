"""Training stopped by a nonfinite loss or gradient, with the state before it."""

import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn as kp
import tensors

X = sp.Symbol("x")
U = sp.Function("u")(X)
RUN = {"batch_size": 4, "steps_per_epoch": 20, "verbose": 0}
POINTS = np.linspace(0, 1, 4, dtype="float32")[:, None]
ANNEALING = kp.callbacks.LearningRateAnnealing(update_freq=1)


def problem(initial=1.0):
    """Return a model whose c falls below zero within a few steps, where √c is NaN."""
    c = kp.Parameter("c", initial=initial)
    return kp.Problem(
        kp.geometry.Box({X: (0, 1)}),
        {"e": sp.Eq(sp.sqrt(c) + U, -100)},
        {"left": kp.Condition(sp.Eq(U, 0), on={X: 0})},
        scales=None,
    )


def compiled(declared=None, optimizer=None, **options):
    keras.utils.set_random_seed(0)
    model = kp.PINNModel(declared or problem(), kp.networks.MLP(4, 1), seed=1)
    optimizer = keras.optimizers.SGD(1e-3) if optimizer is None else optimizer
    options = {"steps_per_execution": 7, "jit_compile": False} | options
    model.compile(optimizer, **options)
    return model


def state(model):
    variables = [*model.weights, *model.optimizer.variables]
    return [variable.numpy() for variable in variables]


def assert_same(first, second, rtol=0.0):
    for left, right in zip(first, second, strict=True):
        np.testing.assert_allclose(left, right, rtol=rtol)


def stream(batches=20):
    return tensors.stream(np.tile(POINTS, (batches, 1)), len(POINTS))


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", [{}, {"jit_compile": True}, {"run_eagerly": True}], ids=str
)
def test_nonfinite_loss_stops_before_the_step_and_names_points(options):
    model = compiled(**options)
    with pytest.raises(FloatingPointError) as error:
        model.fit(**RUN, callbacks=[ANNEALING])
    steps = model.steps_taken
    assert 3 < steps < 20 and steps % 7
    text = str(error.value)
    assert f"at iteration {steps}: the loss of 'residual' is nan" in text
    assert "from 4 of 4 points, the first x = 0." in text
    assert f"c = {model.coefficients['c'].numpy():g}" in text
    assert "lower learning rate" in text and "clipnorm" in text

    exact = compiled(**options)
    exact.fit(**RUN | {"steps_per_epoch": steps}, callbacks=[ANNEALING])
    assert_same(state(model), state(exact))


def test_points_of_a_nonfinite_loss_are_located_pass_by_pass(monkeypatch):
    model = compiled(problem(initial=-1.0), max_points_per_pass=2)
    sizes, residuals = [], type(model._objective).residuals

    def counted(objective, name, batch):
        sizes.append(batch.points.shape[0])
        return residuals(objective, name, batch)

    monkeypatch.setattr(type(model._objective), "residuals", counted)
    with pytest.raises(FloatingPointError, match="from 4 of 4 points"):
        model.fit(**RUN)
    assert set(sizes) <= {1, 2}


def test_undefined_initial_field_is_named():
    x = sp.Symbol("x")
    u = sp.Function("u")(x)
    problem = kp.Problem(
        kp.geometry.Box({x: (0, 1)}),
        {"rate": u.diff(x) + sp.log(u - 50)},
        {"left": kp.Condition(u.diff(x) - 1, on={x: 0})},
    )
    model = kp.PINNModel(problem, kp.networks.MLP(4, 1))
    model.compile("adam")
    with pytest.raises(
        FloatingPointError, match="at iteration 0.*Initial fields are near"
    ):
        model.fit(steps_per_epoch=2, verbose=0)


def test_stream_stops_at_the_same_step():
    model = compiled()
    with pytest.raises(FloatingPointError, match="'residual' is not fin"):
        model.fit(stream(), verbose=0, batch_size=4)
    exact = compiled()
    exact.fit(stream(model.steps_taken), verbose=0, batch_size=4)
    assert 3 < exact.steps_taken == model.steps_taken < 20
    assert_same(state(model), state(exact))


def test_nonfinite_gradient_stops():
    model = compiled(problem(initial=0.0))
    initial = state(model)
    with pytest.raises(FloatingPointError, match="iteration 0: the gradient .*'resid"):
        model.fit(**RUN)
    assert_same(state(model), initial)


def test_overflowing_update_is_named():
    model = compiled(optimizer=keras.optimizers.SGD(1e38))
    with pytest.raises(FloatingPointError, match="iteration 1: the variable '.* holds"):
        model.fit(**RUN)


def test_overflow_in_the_last_step_is_detected():
    model = compiled(optimizer=keras.optimizers.SGD(3e38))
    with pytest.raises(FloatingPointError, match="holds .* Go back to a checkpoint"):
        model.fit(**(RUN | {"steps_per_epoch": 1}))


def test_overflow_in_an_eager_step_is_detected():
    model = compiled(optimizer=keras.optimizers.SGD(3e38), run_eagerly=True)
    with pytest.raises(FloatingPointError, match="holds .* Go back to a checkpoint"):
        model.fit(**(RUN | {"steps_per_epoch": 1}))


def test_nan_loss_weight_is_named():
    model = compiled()
    model.loss_weights["left"].assign(np.nan)
    with pytest.raises(FloatingPointError, match="the loss weight of 'left' is nan"):
        model.fit(**RUN)


def test_nan_from_a_weighting_rule_is_undone():
    def rule(gradients, weights, iteration):
        return {"left": keras.ops.where(iteration < 3, weights["left"], np.nan)}

    class Bad(keras.callbacks.Callback):
        def set_model(self, model):
            super().set_model(model)
            model.set_weighting(rule)

    model = compiled()
    with pytest.raises(FloatingPointError, match="iteration 3: .* weighted losses"):
        model.fit(**RUN, callbacks=[Bad()])
    assert model.loss_weights["left"].numpy() == 1.0


@pytest.mark.parametrize("options", [{}, {"run_eagerly": True}], ids=str)
def test_terminate_on_nan_stops_without_an_error(options):
    model = compiled(**options)
    stop = keras.callbacks.TerminateOnNaN()
    history = model.fit(**RUN, epochs=3, callbacks=[stop]).history
    assert np.isnan(history["loss"]).tolist() == [True]
    assert 3 < model.steps_taken < 20
    assert all(np.isfinite(part).all() for part in state(model))


def test_keras_error_has_precedence():
    with pytest.raises(RuntimeError, match="NaN or Inf loss encountered"):
        compiled().fit(**RUN, callbacks=keras.callbacks.TerminateOnNaN(True))


@pytest.mark.slow
@pytest.mark.parametrize("optimizer", [None, keras.optimizers.Adam], ids=str)
def test_restores_the_last_good_weights(optimizer):
    """Restore a consistent state: training continues as if it had not failed."""
    optimizer = optimizer(0.2) if optimizer else None
    model = compiled(optimizer=optimizer, steps_per_execution=3)
    restore = kp.callbacks.RestoreOnNonFinite(every=2)
    with pytest.warns(RuntimeWarning, match=r"Back to iteration \d+\. .* iteration"):
        history = model.fit(**RUN, epochs=9, callbacks=[ANNEALING, restore]).history
    steps = model.steps_taken
    assert steps and steps % 3 == 0 and np.isnan(history["loss"][-1])

    optimizer = keras.optimizers.Adam(0.2) if optimizer else None
    exact = compiled(optimizer=optimizer, steps_per_execution=3)
    exact.fit(**RUN | {"steps_per_epoch": steps}, callbacks=[ANNEALING])
    assert_same(state(model), state(exact))


def test_restores_initial_weights_before_the_first_snapshot():
    model = compiled()
    initial = state(model)
    with pytest.warns(RuntimeWarning, match="Back to iteration 0"):
        model.fit(**RUN, callbacks=[kp.callbacks.RestoreOnNonFinite()])
    assert_same(state(model), initial)


def test_restoring_rejects_other_models_and_counts():
    with pytest.raises(ValueError, match="`every` must be a positive integer"):
        kp.callbacks.RestoreOnNonFinite(every=0)
    with pytest.raises(TypeError, match=r"must be a keraspinn\.PINNModel"):
        kp.callbacks.RestoreOnNonFinite().set_model(keras.Sequential())
    config = kp.callbacks.RestoreOnNonFinite(every=7).get_config()
    again = kp.callbacks.RestoreOnNonFinite.from_config(config)
    assert again.get_config() == {"every": 7}
