import dataclasses

import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn as kp
from keraspinn import backend
from keraspinn.diagnostics import GradientProbe, gradient_statistics
from keraspinn.diagnostics.gradients import LEVELS, kernel_names

X, Y = sp.symbols("x y")
U = sp.Function("u")(X, Y)
INSIDE = np.random.default_rng(0).uniform(size=(30, 2))
WALL = np.array([[0.0, 0.2], [0.0, 0.9]])


def linear():
    """u = 2x − 3y + ½, u_x + y u = 0 inside and u = y on x = 0, weight 4."""
    problem = kp.Problem(
        kp.geometry.Box({X: (0, 1), Y: (0, 1)}),
        {"pde": U.diff(X) + Y * U},
        {"wall": kp.Condition(sp.Eq(U, Y), on={X: 0}, weight=4.0)},
        scales=None,
    )
    network = keras.Sequential([keras.layers.Dense(1)])
    model = kp.PINNModel(problem, network, seed=0)
    network.layers[0].set_weights([np.array([[2.0], [-3.0]]), np.array([0.5])])
    return model


def by_hand():
    """Return ∇L by (w_x, w_y, b), computed by hand."""
    x, y = INSIDE.T
    residual = 2 + y * (2 * x - 3 * y + 0.5)
    inside = 2 * np.mean(residual * np.array([1 + x * y, y * y, y]), axis=1)
    x, y = WALL.T
    misfit = 2 * x - 3 * y + 0.5 - y
    wall = 2 * np.mean(misfit * np.array([x, y, np.ones(2)]), axis=1)
    return {"residual": inside, "wall": wall}


def test_gradient_statistics_agree_with_gradients_by_hand():
    statistics = gradient_statistics(linear(), {"residual": INSIDE, "wall": WALL})
    expected = by_hand()
    assert statistics.terms == ("residual", "wall")
    (layer,) = statistics.layers
    assert layer == "dense" or layer.startswith("dense_")
    assert statistics.sizes == {layer: 2}  # the kernel, without the bias
    for term, gradient in expected.items():
        np.testing.assert_allclose(
            statistics.distribution(term, layer, weighted=False),
            np.quantile(gradient[:2], LEVELS),
            rtol=1e-5,
            atol=1e-6,
        )
        weight = {"residual": 1, "wall": 4}[term]
        np.testing.assert_allclose(
            statistics.distribution(term, layer),
            np.quantile(weight * gradient[:2], LEVELS),
            rtol=1e-5,
            atol=1e-6,
        )
    r, w = expected["residual"], expected["wall"]
    norm = np.linalg.norm
    numbers = {
        "residual_gradient_norm": norm(r),
        "residual_gradient_max": np.abs(r).max(),
        "residual_gradient_mean": np.abs(r).mean(),
        "wall_gradient_norm": norm(w),
        "wall_gradient_max": np.abs(w).max(),
        "wall_gradient_mean": np.abs(w).mean(),
        "wall_gradient_norm_ratio": norm(r) / norm(4 * w),
        "wall_gradient_max_ratio": np.abs(r).max() / np.abs(4 * w).max(),
        "wall_gradient_mean_ratio": np.abs(r).mean() / np.abs(4 * w).mean(),
        "wall_gradient_imbalance": np.abs(r).max() / np.abs(4 * w).mean(),
        "residual_wall_gradient_cosine": r @ w / norm(r) / norm(w),
    }
    assert statistics.numbers() == pytest.approx(numbers, rel=1e-4)


def test_gradient_imbalance_equals_the_annealed_weight():
    model = kp.PINNModel(kp.problems.helmholtz(), kp.networks.MLP(6, 2), seed=0)
    model.compile("adam", jit_compile=False)
    statistics = gradient_statistics(model, batch_size=8)
    annealing = kp.callbacks.LearningRateAnnealing(alpha=1, update_freq=1)
    run = {"steps_per_epoch": 1, "batch_size": 8, "verbose": 0}
    model.fit(**run, callbacks=[annealing])
    assert model.loss_weights["boundary"].numpy() == pytest.approx(
        statistics.numbers()["boundary_gradient_imbalance"], rel=1e-4
    )


def test_gradient_counts_are_a_histogram():
    model = kp.PINNModel(kp.problems.helmholtz(), kp.networks.MLP(40, 2), seed=0)
    statistics = gradient_statistics(model, batch_size=8)
    assert statistics.layers == ("hidden_1", "hidden_2", "head")
    quantiles = statistics.distribution("residual", "hidden_2")
    edges = np.linspace(2 * quantiles[0], 2 * quantiles[-1], 30)
    counts = statistics.counts("residual", "hidden_2", edges)
    assert counts.min() >= 0 and counts.sum() == pytest.approx(1600)
    half = statistics.counts("residual", "hidden_2", quantiles[[0, 50, 100]])
    np.testing.assert_allclose(half, [800, 800])


def test_spread_ratios_see_a_concentrated_term():
    statistics = gradient_statistics(linear(), {"residual": INSIDE, "wall": WALL})
    (layer,) = statistics.layers
    narrow = {layer: 1e-3 * statistics.quantiles["residual"][layer]}
    statistics = dataclasses.replace(
        statistics, quantiles={**statistics.quantiles, "wall": narrow}
    )
    assert statistics.spread_ratios("wall", weighted=False)[layer] == pytest.approx(
        1e-3
    )
    assert statistics.spread_ratios("wall")[layer] == pytest.approx(4e-3)


def test_gradient_probe_compiles_once_and_follows_the_model(monkeypatch):
    traces, compiled = [], backend.compiled

    def counted(function, **named):
        return compiled(lambda *a: traces.append(a) or function(*a), **named)

    monkeypatch.setattr(backend, "compiled", counted)
    model = kp.PINNModel(kp.problems.poisson(), kp.networks.MLP(4, 1), seed=0)
    probe = GradientProbe(model, batch_size=4)
    first, again, later = probe(0), probe(0), probe(1)
    assert first.norms == again.norms and first.norms != later.norms
    model.network.head.kernel.assign(2 * model.network.head.kernel.numpy())
    assert probe(0).norms != first.norms
    assert len(traces) == 1


def test_names_of_layers_are_short():
    def names(network):
        network.build((None, 2))
        return list(kernel_names(network.trainable_variables))

    gated = kp.networks.ModifiedMLP(3, 2)
    assert names(gated) == [layer.name for layer in gated.layers]
    assert {"encoder_u", "encoder_v", "head"} < set(names(gated))
    layers = [keras.layers.Dense(2, name=name) for name in ("a", "b")]
    inner = keras.Sequential(layers, name="inner")
    assert names(keras.Sequential([inner, keras.layers.Dense(1, name="c")])) == [
        "inner/a",
        "inner/b",
        "c",
    ]
    assert names(keras.layers.Dense(1, name="only")) == ["only"]


def test_gradient_statistics_reject_invalid_arguments():
    with pytest.raises(TypeError, match="must be a keraspinn.PINNModel.*Sequential"):
        gradient_statistics(keras.Sequential())
    model = linear()
    with pytest.raises(ValueError, match="no term 'top'"):
        gradient_statistics(model, {"top": INSIDE})
