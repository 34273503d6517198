"""Weights by the tangent kernel against traces by finite differences."""

import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn as kp
from examples.weighting_rules.rules import TangentKernel

STEP = 1e-5


def traces_by_differences(model, callback):
    """Return the mean squared norm of each residual's gradient, by term."""
    problem, variables = model.problem, model.network.trainable_variables
    (equation,), (u,) = problem.equations.values(), problem.fields
    expressions = {"residual": equation, "boundary": u}
    traces = dict.fromkeys(expressions, 0.0)
    points = {n: callback._batches[n].coordinates.numpy() for n in expressions}
    for variable in variables:
        values = variable.numpy()
        for index in np.ndindex(values.shape):
            ends = []
            for sign in (1, -1):
                moved = values.copy()
                moved[index] += sign * STEP
                variable.assign(moved)
                ends.append(
                    {
                        name: model.predict_expression(e, points[name])
                        for name, e in expressions.items()
                    }
                )
            variable.assign(values)
            for name in traces:
                column = (ends[0][name] - ends[1][name]) / (2 * STEP)
                traces[name] += np.mean(column**2)
    return traces


@pytest.fixture
def model():
    x = sp.Symbol("x")
    u = sp.Function("u")(x)
    problem = kp.Problem(
        kp.geometry.Box({x: (0, 1)}),
        {"poisson": u.diff(x, 2) + u**2},
        {"boundary": kp.Condition(u, on="boundary")},
        scales=None,
    )
    keras.utils.set_random_seed(0)
    network = kp.networks.MLP(2, 1, dtype="float64")
    model = kp.PINNModel(problem, network, seed=0, dtype="float64")
    model.compile(keras.optimizers.Adam(1e-2))
    return model


def test_weights_are_ratios_of_traces(model):
    callback = TangentKernel(every=2, inside=5, on_face=3)
    model.fit(steps_per_epoch=1, epochs=3, callbacks=[callback], verbose=0)
    # Updates are due before the first step and after the second, not after the third.
    assert callback._updated == 2
    callback._update()
    expected = traces_by_differences(model, callback)
    ratio = expected["residual"] / expected["boundary"]
    assert float(model.loss_weights["boundary"]) == pytest.approx(ratio, rel=1e-5)
    assert callback.traces() == pytest.approx(expected, rel=1e-5)


def test_weights_are_set_before_the_first_step(model):
    callback = TangentKernel(inside=5, on_face=3)
    history = model.fit(steps_per_epoch=1, callbacks=[callback], verbose=0).history
    assert history["boundary_weight"][0] != 1.0
