"""Equations with a field at a shifted point, and the order of its arguments."""

import warnings

import keras
import numpy as np
import pytest
import sympy as sp
from keras import ops

import keraspinn as kp
from keraspinn.expressions.image import At

X, V, T, R = sp.symbols("x v t r")
U, A, B = sp.Function("u")(T), sp.Function("a")(X, T), sp.Function("b")(X, T)
ROD = kp.geometry.Box({X: (0, 1)}, time={T: (0, 1)})
PAST = U.subs(T, sp.Max(T - 1, 0))
TIME = kp.geometry.Box(time={T: (0, 3)})
STARTS = {"initial": kp.Condition(U - 1, on="initial")}
DELAY = U.diff(T) + sp.Piecewise((1, T < 1), (PAST, True))


def saved_alike(problem):
    again = kp.Problem.from_config(problem.get_config())
    return again.get_config() == problem.get_config() and str(again) == str(problem)


def trained(problem):
    model = kp.PINNModel(problem, kp.networks.MLP(12, 2), seed=0)
    rate = keras.optimizers.schedules.CosineDecay(3e-3, 600)
    model.compile(keras.optimizers.Adam(rate))
    model.fit(steps_per_epoch=600, epochs=1, batch_size=128, verbose=0)
    model = model.astype("float64")
    model.compile(kp.optimizers.SSBroyden())
    model.fit(steps_per_epoch=300, epochs=1, batch_size=256, verbose=0)
    return model


def vlasov(*arguments):
    """Return Vlasov's equations, with an order of the distribution's arguments."""
    f, e = sp.Function("f")(*arguments), sp.Function("E")(X, T)
    density = sp.Integral(f.subs(V, R), (R, -4, 4))
    return kp.Problem(
        kp.geometry.Box({X: (0, 1), V: (-4, 4)}, time={T: (0, 1)}, periodic=[X]),
        {"v": f.diff(T) + V * f.diff(X) + e * f.diff(V), "g": e.diff(X) - density + 1},
        {"i": kp.Condition(f - sp.exp(-(V**2) / 2), on="initial")},
    )


@pytest.mark.parametrize("order", [(X, V, T), (T, X, V), (V, T, X)])
def test_an_integral_takes_the_order_of_the_field(order):
    problem = vlasov(*order)
    assert saved_alike(problem)
    equation = problem.terms["residual"].expressions[1]
    assert {image.node.args for image in equation.atoms(At)} == {order}
    assert {s for image in equation.atoms(At) for s, _ in image.images} == {V}


@pytest.mark.parametrize(
    "equations",
    [
        {"layer": sp.Function("L")(T).diff(T) - A.subs(X, 0)},
        {"layer": sp.Function("L")(T).diff(T) - A.diff(X).subs(X, 0)},
        {"source": B.diff(T) - A.subs(X, 1 - X)},
        {"source": B.diff(T) - A.subs({X: 0.5, T: T / 2}) * B},
    ],
)
def test_equations_with_a_shifted_field(equations):
    other = next(iter(equations.values())).atoms(sp.Derivative)
    (field,) = {d.expr for d in other if d.expr.func != A.func}
    problem = kp.Problem(
        ROD,
        {"heat": A.diff(T) - A.diff(X, 2), **equations},
        {
            "walls": kp.Condition(A - 1, on="boundary"),
            "initial": kp.Condition([A - 1, field - 1], on="initial"),
        },
    )
    assert saved_alike(problem)
    assert any(e.has(At) for e in problem.equations.values())


def test_residuals_of_a_delay_are_those_of_a_known_field():
    class Exact(keras.layers.Layer):
        def call(self, points):
            return ops.exp(-points)

    problem = kp.Problem(TIME, {"delay": DELAY}, STARTS)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = kp.PINNModel(problem, Exact(), seed=0)
    points = np.array([[0.5], [1.5], [2.5]])
    residuals = model.predict_expression(DELAY, points)
    exact = 1 - np.exp(-0.5), *(np.exp(1 - t) - np.exp(-t) for t in (1.5, 2.5))
    np.testing.assert_allclose(residuals, exact, rtol=1e-4)


def test_conditions_with_a_shifted_field():
    held = {
        "walls": kp.Condition([A, B], on="boundary"),
        "first": kp.Condition(A - sp.sin(sp.pi * X), on="initial"),
        "second": kp.Condition(sp.Eq(B, A.subs(T, 1)), on="initial"),
    }
    equations = {f.name: f.diff(T) - f.diff(X, 2) for f in (A, B)}
    problem = kp.Problem(ROD, equations, held)
    assert saved_alike(problem)
    assert problem.conditions["second"].expressions[0].has(At)
    # The user's condition is unchanged.
    assert not held["second"].expressions[0].has(At)


def test_data_with_a_shifted_field():
    data = kp.Data([[0.5, 0.5]], {A - A.subs(X, 0): [1.0]})
    problem = kp.Problem(ROD, {"heat": A.diff(T) - A.diff(X, 2)}, {"drop": data})
    assert saved_alike(problem)


def test_shifted_points_outside_the_domain_raise_and_the_advice_works():
    equation = U.diff(T) + sp.Piecewise((1, T < 1), (U.subs(T, T - 1), True))
    with pytest.raises(ValueError, match=r"outside of the domain.*Max\(t - 1, 0\)"):
        kp.Problem(TIME, {"delay": equation}, STARTS)
    kp.Problem(TIME, {"delay": DELAY}, STARTS)


def test_shifted_points_beyond_a_periodic_end_are_inside():
    ring = kp.geometry.Box({X: (0, 1)}, time={T: (0, 1)}, periodic=[X])
    initial = {"initial": kp.Condition(A - sp.sin(2 * sp.pi * X), on="initial")}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kp.Problem(ring, {"a": A.diff(T) + A - A.subs(X, X - 0.25)}, initial)
        mean = sp.Integral(A.subs(X, X - R) * sp.exp(-R), (R, 0, 1))
        kp.Problem(ring, {"a": A.diff(T) + A - mean}, initial)
    with pytest.raises(ValueError, match="outside of the domain"):
        kp.Problem(ring, {"a": A.diff(T) + A.subs(T, T - 0.25)}, initial)


def test_a_field_without_its_coordinates_raises_and_the_advice_works():
    heat = {"heat": A.diff(T) - A.diff(X, 2)}
    alone = kp.Condition(B.subs(T, 1), on="boundary")
    with pytest.raises(ValueError, match=r"b\(x, t\)\.subs"):
        kp.Problem(ROD, heat, {"b": alone})
    kp.Problem(
        ROD,
        {**heat, "other": B.diff(T) + B},
        {
            "walls": kp.Condition(A, on="boundary"),
            "ends": kp.Condition([A - 1, B - B.subs(T, 1) - 1], on="initial"),
        },
    )


def test_an_unknown_delay_raises():
    tau = kp.Parameter("tau", initial=0.5)
    with pytest.raises(ValueError, match="follow from the coordinates"):
        kp.Problem(TIME, {"delay": U.diff(T) + U.subs(T, T - tau)}, STARTS)


@pytest.mark.slow
def test_a_delay_is_solved():
    model = trained(kp.Problem(TIME, {"delay": DELAY}, STARTS))
    values = model.predict(np.array([[1.0], [2.0], [3.0]]), verbose=0).ravel()
    np.testing.assert_allclose(values, [0, -1 / 2, -1 / 6], atol=3e-3)


@pytest.mark.slow
def test_the_p_laplacian_is_solved():
    w = sp.Function("u")(X)
    problem = kp.Problem(
        kp.geometry.Box({X: (0, 1)}),
        {"flux": (sp.Abs(w.diff(X)) * w.diff(X)).diff(X) + 1},
        {"ends": kp.Condition(w, on="boundary")},
    )
    middle = trained(problem).predict(np.array([[0.5]]), verbose=0).item()
    # A short training; u'' is infinite in the middle.
    assert middle == pytest.approx(2 / 3 * 0.5**1.5, rel=3e-2)  # 0.2357
