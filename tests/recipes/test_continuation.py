"""A parameter is stepped from easy to hard values."""

import keras
import numpy as np
import pytest
import sympy as sp
from scipy.optimize import brentq

import keraspinn as kp

x = sp.Symbol("x")
u = sp.Function("u")(x)
rate = kp.Parameter("rate", 1.0)


def bratu():
    return kp.Problem(
        kp.geometry.Box({x: (0, 1)}),
        {"bratu": u.diff(x, 2) + rate * sp.exp(u)},
        {"ends": kp.Condition(u, on="boundary", hard=True)},
    )


def middle(rate):
    """Return u(1/2) on the lower branch, from the exact solution."""
    theta = brentq(lambda s: s - np.sqrt(2 * rate) * np.cosh(s / 4), 0, 4.7)
    return 2 * np.log(np.cosh(theta / 4))


def network():
    keras.utils.set_random_seed(0)
    return kp.networks.MLP(units=8, depth=2)


@pytest.mark.slow
def test_bratu_near_its_fold_keeps_optimizer_and_program():
    programs = []

    class Programs(keras.callbacks.Callback):
        def on_train_end(self, logs=None):
            programs.append((self.model.optimizer, self.model.trainer._traced))

    second = kp.recipes.Stage(
        kp.optimizers.SSBroyden,
        {"steps_per_epoch": 100, "callbacks": [Programs()]},
        "float64",
    )
    recipe = kp.recipes.Recipe([kp.recipes.stages.adam_stage(200), second])
    values = {rate: [1.0, 2.0, 3.0]}
    model = kp.continuation(bratu(), values, network(), recipe, verbose=0)
    middle_value = model.predict(np.array([[0.5]]), verbose=0)[0, 0]
    assert middle_value == pytest.approx(middle(3.0), rel=1e-3)
    assert [row["rate"] for row in model.continuation_history] == [1.0, 2.0, 3.0]
    assert not model.coefficients["rate"].trainable
    assert programs[0][0] is programs[-1][0]
    assert programs[0][1] == programs[-1][1]


@pytest.mark.slow
def test_each_value_is_trained_and_frozen():
    seen = []

    class Value(keras.callbacks.Callback):
        def on_train_begin(self, logs=None):
            seen.append(float(self.model.coefficients["rate"].numpy()))

    stage = kp.recipes.Stage(
        keras.optimizers.Adam,
        {"steps_per_epoch": 1, "batch_size": 4},
        callbacks=lambda model: [Value()],
    )
    model = kp.continuation(
        bratu(), {rate: [1, 2]}, network(), kp.recipes.Recipe([stage]), verbose=0
    )
    assert seen == [1.0, 2.0]
    assert float(model.coefficients["rate"].numpy()) == 2.0


@pytest.mark.parametrize("values", [{}, {rate: []}, {kp.Parameter("other", 1): [1]}])
def test_continuation_of_other_parameters_is_refused(values):
    with pytest.raises(ValueError, match="rate"):
        kp.continuation(bratu(), values, network())


def test_continuation_values_of_different_number_are_refused():
    other = kp.Parameter("other", 1.0)
    problem = kp.Problem(
        kp.geometry.Box({x: (0, 1)}),
        {"bratu": u.diff(x, 2) + rate * sp.exp(other * u)},
        {"ends": kp.Condition(u, on="boundary")},
    )
    with pytest.raises(ValueError, match="as many"):
        kp.continuation(problem, {rate: [1, 2], other: [1]}, network())
