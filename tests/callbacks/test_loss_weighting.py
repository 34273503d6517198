"""Tests of weighting rules as callbacks, and their states."""

import dataclasses

import keras
import numpy as np
import pytest

import keraspinn as kp

RUN = {"steps_per_epoch": 3, "batch_size": 8, "verbose": 0}


@keras.saving.register_keras_serializable("weighting_tests")
@dataclasses.dataclass(frozen=True)
class Counting(kp.weighting.WeightingRule):
    """Rule whose weights are a factor times the number of steps."""

    times: float = 1.0

    def init(self, weights):
        return {"count": keras.ops.zeros((), "int32")}

    def update(self, gradients, losses, state):
        count = state["count"] + 1
        weight = keras.ops.cast(count, losses["residual"].dtype) * self.times
        return dict.fromkeys(state["weights"], weight), {"count": count}


class Unregistered(Counting):
    """Unregistered rule."""


def compiled(optimizer="adam"):
    model = kp.PINNModel(kp.problems.poisson(), kp.networks.MLP(4, 1), seed=0)
    model.compile(optimizer, jit_compile=False)
    return model


def fit(model, rule, **kwargs):
    return model.fit(**RUN, **kwargs, callbacks=[kp.callbacks.LossWeighting(rule)])


def weight_of(model):
    return float(model.loss_weights["boundary"].numpy())


def test_weights_of_a_rule_are_applied_and_logged():
    model = compiled()
    history = fit(model, Counting(2.0), epochs=2).history
    assert history["boundary_weight"] == [6, 12]
    assert weight_of(model) == 12 and model.weighting == Counting(2.0)


@pytest.mark.slow
def test_state_of_a_rule_outlives_fit_and_compile():
    model = compiled()
    fit(model, Counting())
    model.fit(**RUN)  # no rule: weights stay
    assert weight_of(model) == 3 and model.weighting == Counting()
    model.compile("sgd", jit_compile=False)
    fit(model, Counting())
    assert weight_of(model) == 6
    fit(model, Counting(10.0))
    assert weight_of(model) == 30  # from its initial state
    fit(model, Counting())
    assert weight_of(model) == 3


@pytest.mark.slow
def test_saved_model_keeps_its_rule(tmp_path):
    model = compiled()
    fit(model, Counting(2.0))
    model.save(tmp_path / "model.keras")
    loaded = kp.load_model(tmp_path / "model.keras")
    assert loaded.weighting == Counting(2.0)
    fit(loaded, loaded.weighting)
    assert weight_of(loaded) == 12
    loaded.load_weights(tmp_path / "model.keras")  # restores the saved state
    fit(loaded, Counting(2.0))
    assert weight_of(loaded) == 12
    again = compiled()
    again.load_weights(tmp_path / "model.keras")


def test_saved_model_keeps_annealing(tmp_path):
    model = compiled()
    model.fit(**RUN, callbacks=[kp.callbacks.LearningRateAnnealing(alpha=0.3)])
    model.save(tmp_path / "model.keras")
    loaded = kp.load_model(tmp_path / "model.keras")
    assert loaded.weighting == kp.weighting.GradientRatio(alpha=0.3)


def test_unregistered_rule_is_not_loaded(tmp_path):
    model = compiled()
    fit(model, Unregistered())
    model.save(tmp_path / "model.keras")
    loaded = kp.load_model(tmp_path / "model.keras")
    assert loaded.weighting is None and weight_of(loaded) == 3


@pytest.mark.slow
def test_rule_continues_after_astype():
    model = compiled()
    fit(model, Counting())
    double = model.astype("float64")
    double.compile(kp.optimizers.SSBroyden(), jit_compile=False)
    fit(double, Counting())
    assert weight_of(double) == 6 and weight_of(model) == 3


def test_plain_function_is_accepted_as_a_rule():
    def tenfold(gradients, weights, iteration):
        return {name: 10.0 * weight for name, weight in weights.items()}

    model = compiled()
    fit(model, tenfold)
    assert weight_of(model) == 1000


def test_rejects_a_second_rule():
    model = compiled()
    points = np.linspace(0, 1, 4)[:, None]
    annealing = kp.callbacks.LearningRateAnnealing()
    with pytest.raises(ValueError, match="Two callbacks adapt the loss weights"):
        fit_both = [annealing, kp.callbacks.LossWeighting(Counting())]
        model.fit(**RUN, callbacks=fit_both)
    validation = {"validation_data": (points, None)}
    model.fit(**RUN, callbacks=[kp.callbacks.LossWeighting(Counting())], **validation)


def test_rule_config_round_trip():
    callback = kp.callbacks.LossWeighting(Counting(3.0))
    again = kp.callbacks.LossWeighting.from_config(callback.get_config())
    assert again.rule == Counting(3.0)


def test_weighting_rule_in_evaluate_does_not_change_later_steps():
    model = compiled()
    callbacks = [kp.callbacks.LossWeighting(Counting(2.0))]
    model.evaluate(*model.problem.test_data(9), verbose=0, callbacks=callbacks)
    model.train_on_batch()
    assert weight_of(model) == 1 and model.weighting is None
