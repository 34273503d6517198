"""Trainings of problems with a field for each material."""

import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn as kp

x = sp.Symbol("x")
u1, u2 = (sp.Function(name)(x) for name in ("u1", "u2"))
LEFT, RIGHT = (kp.geometry.Box({x: ends}) for ends in ((0, 0.9), (0.9, 1)))
T = kp.by_region({LEFT: u1, RIGHT: u2})
EXACT = {LEFT: 1 - x / 10, RIGHT: sp.Rational(91, 10) * (1 - x)}


@pytest.fixture(scope="module")
def model():
    """Train a wall of k = 91 and k = 1, whose last tenth has 91 % of the drop."""
    flux = [-91 * u1.diff(x)], [-u2.diff(x)]
    problem = kp.Problem(
        kp.geometry.Box({x: (0, 1)}),
        {
            "left": kp.Equation(91 * u1.diff(x, 2), on=LEFT),
            "right": kp.Equation(u2.diff(x, 2), on=RIGHT),
        },
        {
            "hot": kp.Condition(u1 - 1, on={x: 0}),
            "cold": kp.Condition(u2, on={x: 1}),
            "meet": kp.interface_condition(LEFT, RIGHT, (u1, u2), flux),
        },
        reference={T: kp.by_region(EXACT), u1: EXACT[LEFT]},
    )
    keras.utils.set_random_seed(0)
    networks = {u1: kp.networks.MLP(6, 1), u2: kp.networks.MLP(6, 1)}
    model = kp.PINNModel(problem, networks, seed=0).astype("float64")
    model.compile(kp.optimizers.SSBroyden())
    model.fit(steps_per_epoch=60, epochs=1, batch_size=64, verbose=0)
    return model


@pytest.mark.slow
def test_two_materials_are_solved(model):
    logs = model.evaluate(*model.problem.test_data(101), return_dict=True, verbose=0)
    assert logs["u1_or_u2_relative_l2"] < 1e-3
    assert logs["u1_relative_l2"] < 1e-3
    assert logs["left_loss"] == logs["residual_loss"]


@pytest.mark.slow
def test_integrals_and_files_of_fields_of_two_materials(model, tmp_path):
    exact = 0.9 - 0.9**2 / 20 + 9.1 * 0.1**2 / 2
    assert model.integrate(T) == pytest.approx(exact, rel=1e-3)
    model.save(tmp_path / "wall.keras")
    again = kp.load_model(tmp_path / "wall.keras")
    points = np.linspace(0, 1, 11)[:, None]
    np.testing.assert_array_equal(
        again.predict_expression(T, points), model.predict_expression(T, points)
    )


def test_an_integral_beyond_the_part_of_a_field_is_refused(model):
    with pytest.raises(ValueError, match="u1 do not all live.*by_region"):
        model.integrate(u1)
    whole = model.integrate(u1, over=LEFT) + model.integrate(u2, over=RIGHT)
    assert model.integrate(T) == pytest.approx(whole, rel=1e-3)
    at_zero = model.predict([[0.0]], verbose=0)[0, 0]
    assert model.integrate(u1, over={x: 0}) == pytest.approx(at_zero)


def test_network_of_a_thin_layer_is_scaled_to_the_layer(model):
    _, thin = model.network.networks
    assert thin.scales.half[0] == pytest.approx(0.05, rel=1e-2)
    assert thin.scales.centre[0] == pytest.approx(0.95, rel=1e-2)


@pytest.mark.slow
def test_verdict_estimates_each_field_in_its_material(model):
    verdict = kp.diagnostics.verdict(model, points=200)
    assert verdict.trusted and max(verdict.errors.values()) < 1e-2
    assert set(verdict.misfits) == {"left", "right", "hot", "cold", "meet"}
