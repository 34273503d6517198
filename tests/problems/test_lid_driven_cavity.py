import numpy as np
import pytest
import sympy as sp

import keraspinn as kp

X, Y = sp.symbols("x y")
P, PSI, U, V = (sp.Function(name)(X, Y) for name in ("p", "psi", "u", "v"))


def cavity(formulation):
    return kp.problems.lid_driven_cavity(100, formulation, corner_width=0)


def test_both_formulations_are_equivalent():
    """Compare ψ = sin(2x + 3y) + x³y in one with u = ψ_y, v = −ψ_x in the other."""
    psi, p = sp.sin(2 * X + 3 * Y) + X**3 * Y, X * Y
    velocity = {U: psi.diff(Y), V: -psi.diff(X), P: p}
    by_velocity, by_psi = cavity("velocity-pressure"), cavity("streamfunction-pressure")
    for name in ("momentum_x", "momentum_y"):
        first = by_velocity.equations[name].subs(velocity).doit()
        second = by_psi.equations[name].subs({PSI: psi, P: p}).doit()
        assert sp.simplify(first - second) == 0
    assert sp.simplify(by_velocity.equations["continuity"].subs(velocity).doit()) == 0


def test_navier_stokes_by_a_known_flow():
    """Test that Kovasznay's flow solves the momentum equations and continuity."""
    rate = sp.Rational(100, 2) - sp.sqrt(sp.Integer(100) ** 2 / 4 + 4 * sp.pi**2)
    flow = {
        U: 1 - sp.exp(rate * X) * sp.cos(2 * sp.pi * Y),
        V: rate / (2 * sp.pi) * sp.exp(rate * X) * sp.sin(2 * sp.pi * Y),
        P: -sp.exp(2 * rate * X) / 2,
    }
    for equation in cavity("velocity-pressure").equations.values():
        residual = equation.subs(flow).doit()
        for point in ({X: 0.3, Y: 0.2}, {X: 0.7, Y: 0.9}):
            assert abs(residual.evalf(subs=point)) < 1e-12


@pytest.mark.parametrize(
    "formulation", ["streamfunction-pressure", "velocity-pressure"]
)
def test_reference_and_boundary(formulation):
    problem = cavity(formulation)
    points, values = problem.test_data()
    assert points.shape == (10_000, 2)
    assert list(values) == ["speed", "u", "v", "p"]
    np.testing.assert_allclose(values["speed"], np.hypot(values["u"], values["v"]))
    lid = points[:, 1] == 1
    assert values["u"][lid].min() > 0.9 and values["u"][~lid].max() < 1.01
    assert problem.determined_up_to_constant("p")
    assert not problem.determined_up_to_constant("u")


def test_saved_models_keep_the_reference(tmp_path):
    problem = cavity("velocity-pressure")
    model = kp.PINNModel(problem, kp.networks.MLP(4, 1, outputs=3), seed=0)
    model.save(tmp_path / "cavity.keras")
    loaded = kp.load_model(tmp_path / "cavity.keras").problem
    assert loaded.get_config() == problem.get_config()
    assert len(str(problem.get_config()["reference"])) < 2000
    np.testing.assert_array_equal(
        loaded.test_data()[1]["u"], problem.test_data()[1]["u"]
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("reynolds", "u_min"), [(100, -0.21404), (400, -0.32873), (1000, -0.38857)]
)
def test_stored_flows_match_published_extrema(reynolds, u_min):
    """Compare u on x = ½ with Botella and Peyret, and Marchi."""
    points, values = kp.problems.lid_driven_cavity(reynolds).test_data()
    near = points[:, 0] == points[np.abs(points[:, 0] - 0.5).argmin(), 0]
    assert values["u"][near].min() == pytest.approx(u_min, rel=1e-2)


@pytest.mark.slow
def test_other_reynolds_numbers_have_no_reference():
    assert not kp.problems.lid_driven_cavity(123.0).reference_expressions


def test_pressures_are_not_compared_at_the_corners():
    points, values = cavity("velocity-pressure").test_data()
    corners = points[np.isnan(values["p"])]
    assert len(corners) == 8 and corners[:, 1].min() > 0.98
    assert all(np.isfinite(values[name]).all() for name in ("speed", "u", "v"))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"reynolds": -1}, "`reynolds`"),
        ({"reference_reynolds": 123}, "one of .100, 400, 1000.*cavity_solver"),
    ],
)
def test_rejects_invalid_reynolds_numbers(wrong, message):
    with pytest.raises(ValueError, match=message):
        kp.problems.lid_driven_cavity(**wrong)


def test_lid_moves_and_walls_stand():
    model = kp.PINNModel(
        cavity("velocity-pressure"), kp.networks.MLP(4, 1, outputs=3), seed=0
    )
    points = np.array([[0.5, 1.0], [0.0, 0.5], [1.0, 0.9], [0.5, 0.0]])
    first, second = model.problem.conditions["boundary"].expressions
    u = model.predict_expression(U, points)
    np.testing.assert_allclose(
        u - model.predict_expression(first, points), [1, 0, 0, 0], atol=1e-6
    )
    assert second == V


def test_rejects_another_formulation():
    with pytest.raises(ValueError, match="Received: 'vorticity'"):
        kp.problems.lid_driven_cavity(formulation="vorticity")


@pytest.mark.parametrize("width", [-0.1, float("nan"), float("inf")])
def test_rejects_invalid_corner_widths(width):
    with pytest.raises(ValueError, match="`corner_width` must be a finite"):
        kp.problems.lid_driven_cavity(corner_width=width)


@pytest.mark.slow
def test_equations_are_weighted_down_at_the_lid_corners():
    plain = cavity("velocity-pressure")
    faded = kp.problems.lid_driven_cavity(100, "velocity-pressure", corner_width=0.2)
    for name, equation in plain.equations.items():
        factor = sp.lambdify((X, Y), sp.simplify(faded.equations[name] / equation))
        assert factor(0.3, 0.2) == pytest.approx(1, abs=1e-2)
        fade = np.tanh(0.5) ** 2 * np.tanh(4.5) ** 2
        if name == "continuity":
            fade = np.tanh(2.5) * np.tanh(22.5)
        for corner in (0.1, 0.9):  # 0.1 from one of them and 0.9 from the other
            assert factor(corner, 1.0) == pytest.approx(fade)
        assert factor(0.0, 1.0) == 0
