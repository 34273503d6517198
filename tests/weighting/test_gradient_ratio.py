import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from keras import ops

from keraspinn.weighting.gradient_ratio import GradientRatio

GRADIENTS = {
    "residual": {"a/kernel": np.array([[1.0, -8.0]]), "a/bias": np.array([2.0])},
    "boundary": {"a/kernel": np.array([[0.5, -0.5]]), "a/bias": np.array([0.5])},
}


def filled(kernel, bias):
    return {"a/kernel": np.full((1, 2), kernel), "a/bias": np.full(1, bias)}


def updated(rule, gradients, weight, iteration=0):
    tensors = {
        name: {path: ops.convert_to_tensor(g, "float64") for path, g in layers.items()}
        for name, layers in gradients.items()
    }
    state = {
        "weights": {"boundary": ops.convert_to_tensor(weight, "float64")},
        "iteration": ops.convert_to_tensor(iteration),
    }
    weights, memory = rule.update(tensors, {}, state)
    assert memory == rule.init(state["weights"]) == {}
    return float(weights["boundary"])


def test_weighted_rule():
    # max|∇L_r| = 8, mean|λ ∇L_b| = 4 · 0.5
    assert updated(GradientRatio(0.9, 1), GRADIENTS, 4.0) == pytest.approx(
        0.1 * 4.0 + 0.9 * 8.0 / 2.0
    )


def test_literal_rule():
    rule = GradientRatio(0.9, 1, "literal")
    assert updated(rule, GRADIENTS, 4.0) == pytest.approx(0.1 * 4.0 + 0.9 * 16.0)


def test_updates_every_update_freq_steps():
    rule = GradientRatio(1.0, update_freq=10)
    changed = [n for n in range(25) if updated(rule, GRADIENTS, 1.0, n) != 1.0]
    assert changed == [0, 10, 20]


@pytest.mark.parametrize("bad", [0.0, np.inf, -np.inf, np.nan])
@pytest.mark.parametrize("name", ["residual", "boundary"])
@pytest.mark.parametrize("rule", ["weighted", "literal"])
def test_degenerate_gradients_keep_the_weight(bad, name, rule):
    gradients = GRADIENTS | {name: filled(bad, bad)}
    assert updated(GradientRatio(0.9, 1, rule), gradients, 3.0) == 3.0


def test_nan_gradient_keeps_the_weight():
    gradients = GRADIENTS | {"boundary": filled(0.5, np.nan)}
    assert updated(GradientRatio(0.9, 1), gradients, 3.0) == 3.0


def test_zero_weight_stays_zero_under_the_weighted_rule():
    assert updated(GradientRatio(0.9, 1), GRADIENTS, 0.0) == 0.0


@pytest.mark.slow
@given(scale=st.floats(1e-6, 1e6), weight=st.floats(1e-3, 1e3))
def test_depends_on_the_ratio_of_gradients_alone(scale, weight):
    scaled = {
        name: {path: scale * g for path, g in layers.items()}
        for name, layers in GRADIENTS.items()
    }
    for rule in ("weighted", "literal"):
        assert updated(GradientRatio(0.5, 1, rule), scaled, weight) == pytest.approx(
            updated(GradientRatio(0.5, 1, rule), GRADIENTS, weight)
        )


def test_gradient_statistics_over_layers():
    gradients = GRADIENTS | {"boundary": filled(0.5, 0.1)}

    def estimate(**settings):
        rule = GradientRatio(1.0, 1, "literal", **settings)
        return updated(rule, gradients, 1.0)

    assert estimate() == pytest.approx(8 / (1.1 / 3))
    assert estimate(layers="averaged") == pytest.approx(8 / 0.3)
    assert estimate(layers="largest") == pytest.approx(max(8 / 0.5, 2 / 0.1))
    for layers in ("pooled", "averaged", "largest"):
        assert estimate(exclude=("bias",), layers=layers) == pytest.approx(16.0)
