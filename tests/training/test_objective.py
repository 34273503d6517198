import os
import pathlib
import subprocess
import sys

import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn as kp

X = sp.Symbol("x")
U = sp.Function("u")(X)
C = kp.Parameter("c", initial=2.0)
PROBLEM = kp.Problem(
    kp.geometry.Box({X: (0, 1)}),
    {"e": sp.Eq(U.diff(X), C)},
    {"left": kp.Condition(sp.Eq(U, 1), on={X: 0}, weight=3.0)},
    scales=None,
)


@pytest.fixture
def parts():
    """Return a linear network u = w x + b, w = 5, b = 4, its objective and points."""
    network = keras.Sequential([keras.layers.Dense(1)])
    model = kp.PINNModel(PROBLEM, network, seed=0)
    network.layers[0].set_weights([np.array([[5.0]]), np.array([4.0])])
    return model, model._objective, model.trainer.sources.draw(0, 0)


def test_losses_match_closed_form(parts):
    _, objective, batches = parts
    losses = objective.losses(batches, {"left": 3.0})
    assert {name: float(v) for name, v in losses.items()} == {
        "loss": pytest.approx(36.0),
        "residual_loss": pytest.approx(9.0),
        "e_loss": pytest.approx(9.0),
        "left_loss": pytest.approx(9.0),
    }


@pytest.mark.slow
@pytest.mark.parametrize("largest", [1, 3, 50])
def test_chunked_points_give_the_same_losses(largest):
    network = kp.networks.MLP(4, 1)
    declared = kp.problems.poisson(2)
    model = kp.PINNModel(declared, network, seed=0)
    batches = model.trainer.sources.draw(0, 0)
    at_once = model._objective.losses(batches, {})
    in_chunks = model._objective.losses(batches, {}, largest=largest)
    for name, loss in at_once.items():
        assert float(in_chunks[name]) == pytest.approx(float(loss), rel=1e-5)


def test_gradients_match_closed_form(parts):
    model, objective, batches = parts
    variables = [*model.network.trainable_variables, model.coefficients["c"]]
    losses, gradients = objective.gradients(batches, variables)
    assert {name: float(v) for name, v in losses.items()} == {
        "residual": pytest.approx(9.0),
        "e": pytest.approx(9.0),
        "left": pytest.approx(9.0),
    }
    flat = {n: [float(np.sum(g)) for g in gs] for n, gs in gradients.items()}
    assert flat["residual"] == pytest.approx([6.0, 0.0, -6.0])
    assert flat["left"] == pytest.approx([0.0, 6.0, 0.0])


def trained_once(model, rule=None):
    """Return losses of a step of gradient descent of rate 1, and the change of θ."""
    model.compile("sgd", jit_compile=False)
    model.optimizer.learning_rate = 1.0
    model.set_weighting(rule)
    model.trainer.prepare()
    before = [v.numpy() for v in model.trainable_variables]
    losses = model.trainer.run()
    moved = [
        b - v.numpy() for b, v in zip(before, model.trainable_variables, strict=True)
    ]
    paths = [v.path for v in model.trainable_variables]
    return losses, dict(zip(paths, (float(m.sum()) for m in moved), strict=True))


def test_step_applies_loss_weights(parts):
    _, moved = trained_once(parts[0])
    bias = next(path for path in moved if path.endswith("bias"))
    assert moved[bias] == pytest.approx(18.0)


def test_unknown_coefficients_are_not_network_parameters(parts):
    seen = {}

    def rule(gradients, weights, iteration):
        seen.update(gradients)
        return {"left": weights["left"] * 0 + 7.0}

    losses, moved = trained_once(parts[0], rule)
    assert all(
        len(gradients) == 2 and "c" not in gradients for gradients in seen.values()
    )
    assert float(parts[0].loss_weights["left"].numpy()) == 7.0
    assert float(losses["loss"]) == pytest.approx(9.0 + 7.0 * 9.0)
    bias = next(path for path in moved if path.endswith("bias"))
    assert moved[bias] == pytest.approx(42.0)


@pytest.mark.slow
@pytest.mark.parametrize("largest", [5, 64, 1000])
def test_chunked_points_give_the_same_gradients(largest):
    keras.utils.set_random_seed(0)
    model = kp.PINNModel(kp.problems.klein_gordon(), kp.networks.ModifiedMLP(5, 1))
    objective, variables = model._objective, model.trainable_variables
    batches = model.trainer.sources.draw(0, 0)
    expected = objective.gradients(batches, variables)
    actual = objective.gradients(batches, variables, largest=largest)
    for actual_gradient, expected_gradient in zip(
        keras.tree.flatten(actual), keras.tree.flatten(expected), strict=True
    ):
        scale = np.abs(expected_gradient).max()
        np.testing.assert_allclose(
            actual_gradient, expected_gradient, rtol=1e-4, atol=1e-5 * scale
        )


@pytest.mark.slow
def test_compile_sets_points_per_pass():
    def trained(largest):
        keras.utils.set_random_seed(0)
        model = kp.PINNModel(kp.problems.poisson(2), kp.networks.MLP(5, 1), seed=1)
        model.compile("sgd", max_points_per_pass=largest)
        model.fit(batch_size=50, steps_per_epoch=3, verbose=0)
        assert model.get_compile_config()["max_points_per_pass"] == largest
        return model.network.get_weights()

    for actual, expected in zip(trained(7), trained("auto"), strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-4, atol=1e-6)


LARGE_BATCH = """
import pathlib, re, sys
import keraspinn as kp

largest = int(sys.argv[1])
model = kp.PINNModel(kp.problems.poisson(2), kp.networks.MLP(16, 2), seed=0)
model.compile("sgd", max_points_per_pass=largest)

def step(points):
    model.fit(batch_size=points, steps_per_epoch=1, verbose=0)
    status = pathlib.Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\\s*(\\d+) kB", status)[1]) / 1e3

print(step(64), step(400_000))
"""


@pytest.mark.slow
@pytest.mark.skipif(
    not pathlib.Path("/proc/self/status").exists(), reason="no account of memory"
)
def test_points_per_pass_bound_memory():
    def megabytes(largest):
        command = [sys.executable, "-c", LARGE_BATCH, str(largest)]
        # A cached small program would be loaded, and the memory of JAX's compiler
        # counted with the large one.
        settings = os.environ | {"JAX_ENABLE_COMPILATION_CACHE": "0"}
        output = subprocess.run(
            command,
            capture_output=True,
            text=True,
            timeout=600,
            check=True,
            env=settings,
        ).stdout
        small, large = map(float, output.split())
        return large - small

    # A tensor of 400,000 × 16 numbers has 26 MB; a step holds about a dozen.
    assert megabytes(400_000) > 200
    assert megabytes(1_000) < 125
