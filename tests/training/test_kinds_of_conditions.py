"""Fits of problems with each kind of condition."""

import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn as kp

X, Y, T = sp.symbols("x y t")
U = sp.Function("u")(X, Y)


def fitted(problem, steps=60, units=10, **options):
    keras.utils.set_random_seed(0)
    network = kp.networks.MLP(units, 2, outputs=len(problem.fields))
    model = kp.PINNModel(problem, network, seed=0)
    model.compile(kp.optimizers.SSBroyden())
    options = {"batch_size": 100} | options
    model.fit(steps_per_epoch=steps, verbose=0, **options)
    return model


def error(model):
    data = model.problem.test_data()
    logs = model.evaluate(*data, return_dict=True, verbose=0)
    return logs["u_relative_l2"]


@pytest.mark.slow
def test_inner_face_of_an_ordinary_differential_equation():
    """Solve u'' = −u with values at one end and in the middle."""
    u = sp.Function("u")(X)
    problem = kp.Problem(
        kp.geometry.Box({X: (0, 2)}),
        {"spring": u.diff(X, 2) + u},
        {"ends": kp.Condition(u - sp.sin(X), on=[{X: 0}, {X: 1}])},
        reference={u: sp.sin(X)},
        scales="auto",
    )
    assert error(fitted(problem)) < 5e-3


@pytest.mark.slow
def test_initial_value_problem():
    """Solve a driven decay over ten units of time with a hard initial condition."""
    u = sp.Function("u")(T)
    exact = (sp.cos(T) + sp.sin(T)) / 2 + sp.exp(-T)
    problem = kp.Problem(
        kp.geometry.Box(time={T: (0, 10)}),
        {"decay": u.diff(T) + u - sp.cos(T)},
        {"initial": kp.Condition(sp.Eq(u, 1.5), on="initial", hard=True)},
        reference={u: exact},
        scales="auto",
    )
    assert error(fitted(problem, steps=100)) < 2e-2


@pytest.mark.slow
def test_inlet_on_part_of_a_face():
    """Solve a flow through the upper half of the left side, with walls elsewhere."""
    square = kp.geometry.Box({X: (0, 1), Y: (0, 1)})
    exact = sp.exp(-X) * sp.sin(Y)
    slope = kp.normal_derivative(U, square)
    inflow = sp.Add(*(n * exact.diff(n.coordinate) for n in square.normal))
    problem = kp.Problem(
        square,
        {"laplace": U.diff(X, 2) + U.diff(Y, 2)},
        {
            "in": kp.Condition(slope - inflow, on={X: 0}, where=Y > 0.5),
            "held": kp.Condition(U - exact, on={X: 0}, where=Y <= 0.5),
            "rest": kp.Condition(U - exact, on=[{X: 1}, {Y: 0}, {Y: 1}]),
        },
        reference={U: exact},
        scales="auto",
    )
    assert "y > " in str(problem)
    again = kp.Problem.from_config(problem.get_config())
    assert again.conditions["in"].where == problem.conditions["in"].where
    assert error(fitted(problem)) < 5e-3


@pytest.mark.slow
def test_several_data_sets_and_an_unknown_in_a_condition():
    """Identify c of u = c x from a boundary condition and two kinds of gauges."""
    u, c = sp.Function("u")(X), kp.Parameter("c", initial=1.0)
    x = np.linspace(0.1, 0.9, 5)[:, None]
    problem = kp.Problem(
        kp.geometry.Box({X: (0, 1)}),
        {"straight": u.diff(X, 2)},
        {
            "end": kp.Condition(u - c, on={X: 1}),
            "gauges": kp.Data(x[:3], {u: 3 * x[:3, 0]}),
            "slopes": kp.Data(x, {u.diff(X): [3.0] * 5}),
        },
        scales="auto",
    )
    model = fitted(problem)
    assert abs(float(model.coefficients["c"].numpy()) - 3) < 0.02
    assert set(model.loss_weights) == {"end", "gauges", "slopes"}


@pytest.mark.slow
def test_disc_with_neumann_and_hard_boundaries():
    """Solve Δu = 4 in a ring: u = r², Neumann inside, Dirichlet outside."""
    hole = kp.geometry.Disk((0, 0), 1.0)
    ring = kp.geometry.Disk((0, 0), 2.0, coordinates=(X, Y)) - hole
    rim = {"on": "boundary", "where": X**2 + Y**2 > 2}
    for hard in (False, True):
        problem = kp.Problem(
            ring,
            {"poisson": U.diff(X, 2) + U.diff(Y, 2) - 4},
            {
                "hole": kp.Condition(kp.normal_derivative(U, ring) + 2, on=hole),
                "rim": kp.Condition(U - 4, hard=hard, **rim),
            },
            reference={U: X**2 + Y**2},
            scales="auto",
        )
        assert error(fitted(problem, steps=120, batch_size=150)) < 1e-2


@pytest.mark.slow
def test_integral_condition_fixes_the_constant_of_neumann_problem():
    """Solve u'' = −π² cos πx, ∂u/∂n = 0, whose null space is the constants."""
    u = sp.Function("u")(X)
    problem = kp.Problem(
        kp.geometry.Box({X: (0, 1)}),
        {"slope": sp.Eq(u.diff(X, 2), -(sp.pi**2) * sp.cos(sp.pi * X))},
        {
            "ends": kp.Condition(u.diff(X), on="boundary"),
            "mass": kp.Condition(sp.Eq(kp.integral(u), 0.3)),
        },
        reference={u: sp.cos(sp.pi * X) + 0.3},
        scales="auto",
    )
    assert error(fitted(problem)) < 5e-3


@pytest.mark.slow
def test_unknown_coefficient_from_a_flow_rate():
    """Identify the pressure gradient of a flow between plates of rate 1/12."""
    u, G = sp.Function("u")(Y), kp.Parameter("G", initial=0.3)
    problem = kp.Problem(
        kp.geometry.Box({Y: (0, 1)}),
        {"x": u.diff(Y, 2) + G},
        {
            "walls": kp.Condition(u, on=[{Y: 0}, {Y: 1}]),
            "flow": kp.Condition(sp.Eq(kp.integral(u), sp.Rational(1, 12))),
        },
        reference={u: Y * (1 - Y) / 2},
    )
    model = fitted(problem)
    assert abs(float(model.coefficients["G"].numpy()) - 1) < 2e-2
    assert error(model) < 2e-2


@pytest.mark.slow
def test_unknown_coefficient_field():
    """Identify the conductivity of a bar from temperatures measured inside."""
    u, k = sp.Function("u")(X, T), sp.Function("k")(X)
    exact, conductivity = sp.exp(-T) * sp.cos(sp.pi * X / 2), 1 + X / 2
    source = exact.diff(T) - (conductivity * exact.diff(X)).diff(X)
    points = np.random.default_rng(0).random((200, 2))
    values = sp.lambdify((X, T), exact)(*points.T)
    problem = kp.Problem(
        kp.geometry.Box({X: (0, 1)}, time={T: (0, 1)}),
        {"heat": sp.Eq(u.diff(T), (k * u.diff(X)).diff(X) + source)},
        {
            "inside": kp.Data(points, {u: values}),
            "initial": kp.Condition(sp.Eq(u, exact), on="initial"),
            "end": kp.Condition(sp.Eq(k, 1), on={X: 0}),
        },
        reference={u: exact, k: conductivity},
    )
    keras.utils.set_random_seed(0)
    networks = {u: kp.networks.MLP(15, 2), k: kp.networks.MLP(6, 1)}
    model = kp.PINNModel(problem, networks, seed=0)
    model.compile(keras.optimizers.Adam(5e-3))
    model.fit(steps_per_epoch=1500, verbose=0)
    logs = model.evaluate(*problem.test_data(30), return_dict=True, verbose=0)
    assert logs["k_relative_l2"] < 0.1
    assert logs["u_relative_l2"] < 0.05


@pytest.mark.slow
def test_tabulated_coefficient_and_boundary_condition(tmp_path):
    """Solve (k u')' + q = 0 with k from a table of nine points; u = sin x."""
    u, exact = sp.Function("u")(X), sp.sin(X)
    axis = np.linspace(0, 2, 9)
    k = kp.Tabulated(axis, 2 + np.cos(axis), name="k")
    source = ((2 + sp.cos(X)) * exact.diff(X)).diff(X)
    problem = kp.Problem(
        kp.geometry.Box({X: (0, 2)}),
        {"flux": sp.Eq((k(X) * u.diff(X)).diff(X), source)},
        {
            "ends": kp.Condition(
                sp.Eq(u, kp.Tabulated(axis, np.sin(axis))(X)), on="boundary", hard=True
            )
        },
        reference={u: exact},
        scales="auto",
    )
    model = fitted(problem)
    assert error(model) < 2e-3
    model.save(tmp_path / "model.keras")
    again = kp.load_model(tmp_path / "model.keras")
    points = problem.test_data(20)[0]
    for expression in (u, k(X).diff(X) * u.diff(X)):
        np.testing.assert_array_equal(
            again.predict_expression(expression, points),
            model.predict_expression(expression, points),
        )


@pytest.mark.slow
def test_soft_periodic_faces(tmp_path):
    """Solve advection on a circle with soft periodic conditions."""
    u = sp.Function("u")(X, T)
    exact = sp.sin(2 * sp.pi * (X - T))
    problem = kp.Problem(
        kp.geometry.Box({X: (0, 1)}, time={T: (0, 1)}),
        {"wind": u.diff(T) + u.diff(X)},
        {
            "initial": kp.Condition(u - exact, on="initial"),
            "joined": kp.Condition(
                [u - u.subs(X, 0), u.diff(X) - u.diff(X).subs(X, 0)], on={X: 1}
            ),
        },
        reference={u: exact},
        scales="auto",
    )
    model = fitted(problem, steps=150, units=15)
    assert error(model) < 3e-2
    ends = np.array([[0.0, 0.7], [1.0, 0.7]])
    first, last = model.predict_expression(u, ends)
    assert abs(first - last) < 2e-2
    model.save(tmp_path / "model.keras")
    again = kp.load_model(tmp_path / "model.keras")
    assert error(again) == error(model)


@pytest.mark.slow
def test_unknowns_in_robin_conditions_and_several_data_sets():
    """Identify the conductance of a Robin condition from two sets of sensors."""
    u = sp.Function("u")(X)
    h, gain = kp.Parameter("h", initial=0.3), kp.Parameter("gain", initial=1.2)
    exact = 0.75 * X - X**2 / 2
    inside, near = np.linspace(0.1, 0.9, 5), np.linspace(0.0, 0.4, 4)
    problem = kp.Problem(
        kp.geometry.Box({X: (0, 1)}),
        {"heat": u.diff(X, 2) + 1},
        {
            "left": kp.Condition(u, on={X: 0}),
            "right": kp.Condition(u.diff(X) + h * u, on={X: 1}),
            "values": kp.Data(inside[:, None], {u: 0.75 * inside - inside**2 / 2}),
            "slopes": kp.Data(
                near[:, None], {gain * u.diff(X): 2 * (0.75 - near)}, weight=0.5
            ),
        },
        reference={u: exact},
    )
    model = fitted(problem, steps=150)
    assert error(model) < 1e-2
    assert abs(float(model.coefficients["h"].numpy()) - 1) < 5e-2
    assert abs(float(model.coefficients["gain"].numpy()) - 2) < 5e-2
    assert set(model.loss_weights) == {"left", "right", "values", "slopes"}
