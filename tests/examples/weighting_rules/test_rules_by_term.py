"""Rules by term against their sources' formulas, in NumPy."""

import itertools

import keras
import numpy as np
import pytest
from keras import ops

from examples.weighting_rules.rules import (
    GradientNorm,
    ReLoBRaLo,
    SoftAdapt,
)
from keraspinn.weighting import TrainingSetup

TERMS = "residual", "ends", "initial"
LOSSES = np.array([[4.0, 1.0, 0.5], [3.0, 1.2, 0.4], [2.0, 1.1, 0.6]])
RANDOM = np.random.default_rng(0)
GRADIENTS = RANDOM.normal(size=(3, 3, 7)) * [[1.0], [10.0], [0.1]]


def history(rule, uniform=0.0, weights=(1.0, 1.0)):
    """Return the conditions' weights after each of three updates, `(3, 2)`."""
    present = {
        n: ops.convert_to_tensor(w, "float64")
        for n, w in zip(TERMS[1:], weights, strict=True)
    }
    setup = TrainingSetup(TERMS, present, "float64", keras.random.uniform)
    memory, rows = rule.begin(setup), []
    for iteration in range(3):
        gradients = {
            name: {
                "kernel": ops.convert_to_tensor(g[:4].reshape(2, 2)),
                "bias": ops.convert_to_tensor(g[4:]),
            }
            for name, g in zip(TERMS, GRADIENTS[iteration], strict=True)
        }
        losses = {
            n: ops.convert_to_tensor(x)
            for n, x in zip(TERMS, LOSSES[iteration], strict=True)
        }
        state = memory | {
            "weights": present,
            "iteration": ops.convert_to_tensor(iteration),
            "uniform": lambda shape: ops.full(shape, uniform, "float64"),
        }
        present, new = rule.update(gradients, losses, state)
        assert set(new) == set(memory)
        memory = new
        rows.append([float(present[name]) for name in TERMS[1:]])
    return np.array(rows)


def relative(weights):
    """Return weights of all terms `(3,)` relative to the residual's, `(2,)`."""
    return weights[1:] / weights[0]


def test_gradient_norm():
    averages, expected = np.array([1.0, 2.0, 3.0]), []
    for gradients in GRADIENTS:
        norms = np.linalg.norm(gradients, axis=1)
        averages = 0.8 * averages + 0.2 * norms.sum() / norms
        expected.append(relative(averages))
    rows = history(GradientNorm(alpha=0.2, update_freq=1), weights=(2.0, 3.0))
    np.testing.assert_allclose(rows, expected, rtol=1e-12)


def test_gradient_norm_is_updated_every_few_steps():
    rows = history(GradientNorm(alpha=0.2, update_freq=2))
    np.testing.assert_array_equal(rows[0], rows[1])
    assert (rows[2] != rows[1]).all()


def softmax(x, factors=1.0):
    exponentials = factors * np.exp(x)
    return exponentials / exponentials.sum()


@pytest.mark.parametrize("rho", [0, 1])
def test_relobralo(rho):
    alpha, temperature = 0.7, 0.5
    weights, expected = np.ones(3), [np.ones(2)]
    for before, now in itertools.pairwise(LOSSES):
        back = 3 * softmax(now / (temperature * LOSSES[0]))
        recent = 3 * softmax(now / (temperature * before))
        past = rho * weights + (1 - rho) * back
        weights = alpha * past + (1 - alpha) * recent
        expected.append(relative(weights))
    # ρ is one where the uniform number is below its expected value.
    rows = history(ReLoBRaLo(alpha, 0.6, temperature), uniform=0.7 - 0.2 * rho)
    np.testing.assert_allclose(rows, expected, rtol=1e-12)


@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize("loss_weighted", [False, True])
def test_soft_adapt(normalized, loss_weighted):
    beta, expected = 0.3, []
    losses = np.array([LOSSES[0], LOSSES[0], *LOSSES])  # the first, repeated
    for step in range(2, 5):
        slopes = losses[step] - losses[step - 1]
        if normalized and step > 2:
            slopes = slopes / np.abs(slopes).sum()
        means = losses[step - 1 : step + 1].mean(0)
        weights = softmax(beta * slopes, means if loss_weighted else 1.0)
        expected.append(relative(weights))
    rows = history(SoftAdapt(beta, normalized, loss_weighted, window=2))
    np.testing.assert_allclose(rows, expected, rtol=1e-12)
