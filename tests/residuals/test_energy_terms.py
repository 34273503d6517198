"""Energies of networks: their value, and rows of their second variation."""

import keras
import numpy as np
import pytest
import sympy as sp
from keras import ops

import keraspinn as kp
from keraspinn.training.flat import FlatObjective, joined

X, Y = sp.symbols("x y")
U, V = (sp.Function(name)(X, Y) for name in "uv")
SQUARE = kp.geometry.Box({X: (0, 2), Y: (0, 1)})
GRADIENT = U.diff(X) ** 2 + U.diff(Y) ** 2
PUSH = kp.integral(3 * U, over={X: 2})


def model_of(energy, fields=1, **options):
    problem = kp.Problem(SQUARE, energy=energy, **options)
    network = kp.networks.MLP(units=5, depth=1, outputs=fields)
    keras.utils.set_random_seed(1)
    return kp.PINNModel(problem, network, seed=0).astype("float64")


def objective_of(model, count=512):
    """Return a model's objective and parameters, after one negligible step."""
    model.compile(kp.optimizers.GaussNewton(halvings=1), jit_compile=False)
    model.fit(batch_size=count, steps_per_epoch=1, verbose=0)
    step, state = model.trainer.step, model.trainer.state.read()
    iteration = ops.convert_to_tensor(3, "int32")
    batches, _ = step.points(state, iteration)
    flat = FlatObjective(step, batches, state["weights"], state, iteration)
    return flat, joined(state["variables"])


def test_the_energy_of_a_known_field():
    """u = x + y: ∫ (u_x² + u_y²) / 2 = 2, 3 ∫ u over x = 2 is 7.5."""
    problem = kp.Problem(
        SQUARE,
        energy=kp.integral(GRADIENT / 2) + PUSH,
        scales=kp.Scales.raw(SQUARE),
        conditions={"held": kp.Condition(U, on={X: 0})},
    )
    network = keras.Sequential(
        [keras.Input((2,)), keras.layers.Dense(1, kernel_initializer="ones")]
    )
    network.add(keras.layers.Activation("linear"))
    model = kp.PINNModel(problem, network, seed=3)
    batch = model.trainer.sources.draw(3, 0)["residual"]
    assert float(model._objective.loss("residual", batch)) == pytest.approx(9.5)


LINEAR = kp.integral(GRADIENT / 2 + U**2 - U) + PUSH
PIECEWISE = kp.integral(sp.Piecewise((5, X < 1), (1, True)) * GRADIENT / 2) + PUSH
MIXED = kp.integral(
    GRADIENT + V.diff(X) ** 2 + V.diff(Y) ** 2 + 2 * U**2 + V**2 + U * V + U.diff(X) * V
)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("energy", "fields"), [(LINEAR, 1), (PIECEWISE, 1), (MIXED, 2)]
)
def test_rows_square_to_half_the_hessian_of_a_quadratic_energy(energy, fields):
    """With frozen tanh layers fields are linear in θ, and so the Hessian is exact."""
    held = {"held": kp.Condition(U, on={X: 0}, hard=True)}
    model = model_of(energy, fields, conditions=held)
    for layer in model.network._flatten_layers(include_self=False):
        layer.trainable = layer.name == model.network.layers[-1].name
    flat, at = objective_of(model)
    jacobian = ops.convert_to_numpy(flat.jacobian(at))
    gradient = ops.convert_to_numpy(flat.value_and_gradient(at)[1])
    change = np.random.default_rng(0).normal(size=len(gradient))
    moved = ops.convert_to_numpy(flat.value_and_gradient(at + change)[1])
    expected = (moved - gradient) / 2
    np.testing.assert_allclose(jacobian.T @ jacobian @ change, expected, rtol=1e-7)


def test_energy_gradients_agree_with_differences():
    held = {"held": kp.Condition(U - 1, on={X: 0}, weight=10)}
    model = model_of(LINEAR, conditions=held)
    flat, at = objective_of(model)
    _, gradient = flat.value_and_gradient(at)
    direction = np.random.default_rng(0).normal(size=at.shape[0])
    ahead, behind = (float(flat.loss(at + s * direction)) for s in (1e-6, -1e-6))
    slope = float(ops.sum(gradient * direction))
    assert (ahead - behind) / 2e-6 == pytest.approx(slope, rel=1e-6)


@pytest.mark.slow
def test_negative_curvature_of_an_energy_is_left_out():
    energy = kp.integral(GRADIENT / 2 - 50 * U**2 + U**4)
    flat, at = objective_of(model_of(energy, conditions={}))
    assert np.isfinite(ops.convert_to_numpy(flat.jacobian(at))).all()


@pytest.mark.slow
def test_subset_of_points_approximates_the_hessian():
    flat, at = objective_of(model_of(LINEAR, conditions={}), 4096)
    thinned = ops.convert_to_numpy(flat.jacobian(at))
    assert len(thinned) < 4096
    flat, _ = objective_of(model_of(LINEAR, conditions={}), 1024)
    jacobian = ops.convert_to_numpy(flat.jacobian(at))
    expected = jacobian.T @ jacobian
    np.testing.assert_allclose(
        thinned.T @ thinned, expected, atol=2e-2 * abs(expected).max()
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    "density, is_convex",
    [
        (GRADIENT / 2 - U, True),
        ((GRADIENT + 1e-2) ** 2, True),
        (GRADIENT + sp.Max(U - 1, 0) ** 2, True),
        (GRADIENT + (U**2 - 1) ** 2, False),
        (GRADIENT + sp.cos(3 * U), False),
    ],
)
def test_energies_are_convex_or_may_have_several_minima(density, is_convex):
    model = model_of(kp.integral(density), conditions={"x": kp.Condition(U, on={X: 0})})
    assert model._objective.terms["residual"].is_convex is is_convex
