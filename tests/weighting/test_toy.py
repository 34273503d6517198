"""Custom weighting rule with a state: running means of the losses."""

import keras
import pytest

import keraspinn as kp


@keras.saving.register_keras_serializable("toy")
class Balance(kp.weighting.WeightingRule):
    def init(self, weights):
        return {name: keras.ops.ones(()) for name in ("residual", *weights)}

    def update(self, gradients, losses, state):
        old = {name: state[name] for name in self.init(state["weights"])}
        means = {name: 0.9 * mean + 0.1 * losses[name] for name, mean in old.items()}
        return {n: means["residual"] / means[n] for n in state["weights"]}, means


@pytest.mark.slow
def test_custom_rule_resume_is_bit_exact(assert_resume_is_bit_exact):
    def make():
        return kp.PINNModel(kp.problems.poisson(), kp.networks.MLP(4, 1), seed=0)

    assert_resume_is_bit_exact(
        make, callbacks=lambda: [kp.callbacks.LossWeighting(Balance())]
    )


@keras.saving.register_keras_serializable("toy")
class Jitter(kp.weighting.WeightingRule):
    """Rule of random weights around the initial ones, one draw for each term."""

    def begin(self, setup):
        assert setup.terms[0] == "residual" and set(setup.weights) < set(setup.terms)
        return {"start": setup.uniform((len(setup.terms),))}

    def update(self, gradients, losses, state):
        numbers = state["start"] + state["uniform"]((len(losses),))
        numbers = dict(
            zip(losses, keras.ops.unstack(numbers, len(losses)), strict=True)
        )
        return {name: 1 + numbers[name] for name in state["weights"]}, {
            "start": state["start"]
        }


def jittered(**options):
    model = kp.PINNModel(kp.problems.poisson(), kp.networks.MLP(4, 1), seed=0)
    model.compile("sgd", **options)
    rule = kp.callbacks.LossWeighting(Jitter())
    history = model.fit(epochs=2, steps_per_epoch=2, callbacks=[rule], verbose=0)
    (name,) = model.loss_weights
    state = model.trainer.state.structure["weighting"]["start"]
    assert state.dtype == model.variable_dtype and state.shape == (2,)
    return history.history[f"{name}_weight"]


@pytest.mark.slow
def test_custom_rule_receives_terms_type_and_random_numbers():
    weights = jittered()
    assert weights[0] != weights[1] and all(1 <= weight < 3 for weight in weights)
    assert weights == jittered(run_eagerly=True)
