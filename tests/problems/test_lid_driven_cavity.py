import numpy as np
import pytest
import sympy as sp

import keraspinn as kp

X, Y = sp.symbols("x y")
P, PSI, U, V = (sp.Function(name)(X, Y) for name in ("p", "psi", "u", "v"))


def cavity(formulation):
    return kp.problems.lid_driven_cavity(
        100, formulation, corner_width=0, reference_n=32
    )


def test_both_formulations_are_one_statement():
    """ψ = sin(2x + 3y) + x³y in one is u = ψ_y, v = −ψ_x in the other."""
    psi, p = sp.sin(2 * X + 3 * Y) + X**3 * Y, X * Y
    velocity = {U: psi.diff(Y), V: -psi.diff(X), P: p}
    by_velocity, by_psi = cavity("velocity-pressure"), cavity("streamfunction-pressure")
    for name in ("momentum_x", "momentum_y"):
        first = by_velocity.equations[name].subs(velocity).doit()
        second = by_psi.equations[name].subs({PSI: psi, P: p}).doit()
        assert sp.simplify(first - second) == 0
    assert sp.simplify(by_velocity.equations["continuity"].subs(velocity).doit()) == 0


def test_navier_stokes_by_a_known_flow():
    """Kovasznay's flow solves the momentum equations and continuity."""
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
    np.testing.assert_allclose(
        values["speed"], np.hypot(values["u"], values["v"]), atol=2e-2
    )
    lid = points[:, 1] == 1
    assert values["u"][lid].min() > 0.9 and values["u"][~lid].max() < 1.01
    assert problem.determined_up_to_constant("p")
    assert not problem.determined_up_to_constant("u")


def test_declaring_and_loading_solve_nothing(tmp_path, monkeypatch):
    def solve(reynolds, n):
        raise AssertionError("It is solved.")

    monkeypatch.setattr("keraspinn.problems.cavity_reference._solved", solve)
    problem = kp.problems.lid_driven_cavity(123.0, reference_n=16)
    model = kp.PINNModel(problem, kp.networks.MLP(4, 1, outputs=2), seed=0)
    model.save(tmp_path / "cavity.keras")
    loaded = kp.load_model(tmp_path / "cavity.keras").problem
    assert loaded.get_config() == problem.get_config()
    with pytest.raises(AssertionError, match="It is solved"):
        loaded.test_data()
    monkeypatch.undo()
    assert loaded.test_data()[1]["u"].shape == (10_000,)


def test_pressures_are_compared_where_they_mean_something():
    points, values = cavity("velocity-pressure").test_data()
    astray = points[np.isnan(values["p"])]
    assert len(astray) == 8 and astray[:, 1].min() > 0.98
    assert all(np.isfinite(values[name]).all() for name in ("speed", "u", "v"))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [({"reynolds": -1}, "`reynolds`"), ({"reference_n": 4}, "`n` must be an integer")],
)
def test_refuses_what_cannot_be_solved(wrong, message):
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


def test_refuses_another_formulation():
    with pytest.raises(ValueError, match="Received: 'vorticity'"):
        kp.problems.lid_driven_cavity(formulation="vorticity")


@pytest.mark.parametrize("width", [-0.1, float("nan"), float("inf")])
def test_refuses_what_is_no_width(width):
    with pytest.raises(ValueError, match="`corner_width` must be a finite"):
        kp.problems.lid_driven_cavity(corner_width=width)


def test_equations_fade_in_around_the_lids_corners():
    plain = cavity("velocity-pressure")
    faded = kp.problems.lid_driven_cavity(
        100, "velocity-pressure", corner_width=0.2, reference_n=32
    )
    for name, equation in plain.equations.items():
        factor = sp.lambdify((X, Y), sp.simplify(faded.equations[name] / equation))
        assert factor(0.3, 0.2) == pytest.approx(1, abs=1e-2)
        fade = np.tanh(0.5) ** 2 * np.tanh(4.5) ** 2
        if name == "continuity":
            fade = np.tanh(2.5) * np.tanh(22.5)
        for corner in (0.1, 0.9):  # 0.1 from one of them and 0.9 from the other
            assert factor(corner, 1.0) == pytest.approx(fade)
        assert factor(0.0, 1.0) == 0
