"""Jumps of coefficients that differentiation drops."""

import warnings

import numpy as np
import pytest
import sympy as sp

import keraspinn as kp
from keraspinn.declaration.validation import discontinuities

X, Y, T = sp.symbols("x y t", real=True)
U, V, Q = (sp.Function(name, real=True)(X, Y, T) for name in "uvq")
BOX = kp.geometry.Box({X: (0, 1), Y: (0, 2)}, time={T: (0, 9)})
A, B = kp.Parameter("a", 1.0), kp.Parameter("b", 1.0)


def step(one, other, symbol=X, end=0.5):
    return sp.Piecewise((one, symbol < end), (other, True))


def flux(k):
    return (k * U.diff(X)).diff(X)


def unreliable(*equations, domain=BOX):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        named = {f"e{k}": e for k, e in enumerate(equations)}
        return kp.Problem(domain, named).unreliable


SOIL = (1 + sp.Abs(0.036 * U) ** 1.56) ** -0.36  # van Genuchten, Richards' equation
INCLUSION = sp.Piecewise((9, (X - 0.5) ** 2 + (Y - 1) ** 2 < 0.1), (1, True))
LOST = {
    "numbers": flux(step(1, 10)),
    "coordinate": flux(step(1 + X, 10)),
    "field": flux(step(1 + U / 10, 0.1)),
    "by the field": flux(step(1, 2, U, 1500)),
    "by another field": flux(step(1, 2, V, 1e6)),
    "parameters": flux(step(A, B)),
    "at a parameter": flux(step(1, 2, X, A / 2)),
    "in a sum": flux(1 + step(1, 10)),
    "in a function": flux(sp.exp(step(1, 10))),
    "in a quotient": flux(1 / (1 + 3 * step(1, 10))),
    "within a band": flux(sp.Piecewise((5, (X > 0.4) & (X < 0.6)), (1, True))),
    "sign": (2 + sp.sign(X - 0.5)) * U.diff(X, 2),
    "Heaviside": (1 + sp.Heaviside(X - 0.5)) * U.diff(X, 2),
    "sign by Abs": flux(2 + sp.Abs(X - 0.5) / (X - 0.5)),
    "arctangent of a pole": flux(2 + sp.atan(1 / (X - 0.5))),
    "sign by a root": flux(2 + (X - 0.5) / sp.sqrt((X - 0.5) ** 2)),
    "sign by a root, expanded": flux(3 + sp.sqrt(X**2 - X + 0.25) / (X - 0.5)),
    "square wave": flux(3 + sp.sin(7 * X) / sp.sqrt(sp.sin(7 * X) ** 2)),
    "sawtooth": flux(3 + sp.atan(sp.tan(3 * X))),
    "ramp of no width": flux(1 + sp.Min(1, 10**9 * sp.Max(0, X - sp.Rational(1, 3)))),
    "angle": flux(4 + sp.atan2(X - 0.5, Y - 3)),
    "inclusion": flux(INCLUSION) + (INCLUSION * U.diff(Y)).diff(Y),
    "Laplacian": step(1, 2) * (U.diff(X, 2) + U.diff(Y, 2)),
    "within branches": step(U.diff(X, 2), 3 * U.diff(X, 2)),
    "(A u)'": (step(1, 2) * U).diff(X) - 1,
    "(m v)'": (step(1, 2, T, 5) * U).diff(T) - 1,
    "(A u)' of a flux": (step(1, 2) * U).diff(X) - Q,
    "step of the bottom": V.diff(T) + (step(1, 2) * U).diff(X),
    "beam": (step(1, 2) * U.diff(X, 2)).diff(X, 2),
    "beam with a kink": (step(X, sp.Rational(1, 2)) * U.diff(X, 2)).diff(X, 2),
    "unevaluated": sp.Derivative(step(1, 2) * U.diff(X), X),
    "latent heat": sp.Eq(sp.Derivative(U + step(0, 1, U, 0), T), U.diff(X, 2)),
}
RIGHT = {
    "kink": flux(step(1 + X, sp.Rational(3, 2))),
    "kink of Abs": flux(1 + sp.Abs(X - 0.5)),
    "kink of a root": flux(1 + sp.sqrt((X - 0.5) ** 2)),
    "kink of Max": flux(sp.Max(X, 0.5)),
    "kink by the field": flux(1 + step(0, U, U, 0)),
    "fit of a table": flux(step(1 + X, 1.50001)),
    "removable": sp.Piecewise((1, sp.Eq(X, 0)), (sp.sin(X) / X, True)) * U.diff(X, 2),
    "density": step(1, 2) * U.diff(T, 2) - U.diff(X, 2),
    "source": U.diff(X, 2) - step(1, 2),
    "reaction": U.diff(X, 2) - step(1, 2) * U,
    "law": U.diff(X) - Q / step(1, 2),
    "heat capacity": step(1, 2, U, 0.3) * U.diff(T) - U.diff(X, 2),
    "velocity across": step(0, Y, Y, 1) * U.diff(X) - U.diff(Y, 2),
    "hardening": step(2, 1, U.diff(X), 0.1) * U.diff(X, 2),
    "pole": U.diff(X, 2) + U.diff(X) / (X - 0.5) ** 3,
    "pole of a tangent": U.diff(X, 2) + U.diff(X) * sp.tan(3 * X),
    "pole of a field": flux(3e4 / U),
    "pole of a sum of fields": flux(V / (V + Q)),
    "turbulence": flux(V**2 / Q),
    "logarithm": sp.log(U).diff(X, 2),
    "logistic": flux(1 / (U * (1 - U))),
    "quotient": U.diff(X, 2) / U,
    "radius": flux(1 / (1 + sp.sqrt((X - 0.5) ** 2 + (Y - 1) ** 2))),
    "sign of a gradient": (sp.sign(U.diff(X)) * U.diff(X) ** 2).diff(X),
    "moment": (sp.Abs(U.diff(X, 2)) * U.diff(X, 2)).diff(X, 2),
    "porous medium": flux(sp.Abs(U)),
    "grading": flux(sp.Abs(X - 0.5)),
    "beyond the domain": flux(step(1, 2, X, 5)),
    "soil": (SOIL * (U.diff(X) + 1)).diff(X) - SOIL.diff(U) * U.diff(T),
    "unevaluated": sp.Derivative((1 + X) * U.diff(X), X) - U,
    "unevaluated kink": sp.Derivative(step(U, 2 * U, U, 0), T) - U.diff(X, 2),
}


def test_sums_that_are_not_multiplied_out_warn_alike(monkeypatch):
    monkeypatch.setattr(discontinuities, "MOST_OPERATIONS", 0)
    discontinuities._bends.cache_clear()
    assert unreliable(LOST["numbers"]) and unreliable(LOST["in a sum"])
    discontinuities._bends.cache_clear()


@pytest.mark.parametrize("equation", LOST.values(), ids=LOST)
def test_a_lost_jump_warns(equation):
    assert "jumps at" in unreliable(equation, V.diff(X), Q.diff(X))


@pytest.mark.parametrize("equation", RIGHT.values(), ids=RIGHT)
def test_equations_without_a_lost_jump_do_not_warn(equation):
    assert unreliable(equation, V.diff(X), Q.diff(X)) == ""


def test_lost_jump_is_located_and_the_remedies_do_not_warn():
    k, line = step(1, 10), kp.geometry.Box({X: (0, 1)})
    u, q, w = (sp.Function(name)(X) for name in "uqw")
    ends = {"ends": kp.Condition(sp.Eq(u, X), on="boundary")}
    with pytest.warns(UserWarning, match=r"'heat'.*x = 0.5\..*u' = q / k") as caught:
        problem = kp.Problem(line, {"heat": (k * u.diff(X)).diff(X)}, ends)
    assert str(caught[0].message) == problem.unreliable
    assert caught[0].filename == __file__
    cures = [
        [sp.Eq(u.diff(X), q / k), q.diff(X)],
        [u.diff(X, 2) - 1 / k],
        [k * w - 1, sp.Eq(w, u.diff(X, 2))],
    ]
    for equations in cures:
        assert unreliable(*equations, domain=line) == ""


@pytest.mark.parametrize("on", ["interior", {Y: 0}], ids=str)
def test_a_lost_jump_in_a_condition_warns(on):
    """Declare a strip of two materials along an edge, and in all of the domain."""

    def described(equation, on=on):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            strip = {"strip": kp.Condition(equation, on=on)}
            return kp.Problem(BOX, {"e": U.diff(T) - U.diff(Y, 2)}, strip).unreliable

    assert "In condition 'strip': A coefficient" in described(flux(step(1, 10)) - U)
    unevaluated = sp.Derivative(step(1, 10) * U.diff(X), X) - U
    assert "In condition 'strip': A coefficient" in described(unevaluated)
    assert described(flux(step(1, 10)) - U, on={X: 1}) == ""
    assert described(step(1, 10) * U.diff(X) - U) == ""


def test_an_equation_in_one_layer_does_not_warn():
    layer = kp.geometry.Box({X: (0, 0.5)})
    assert unreliable(kp.Equation(flux(step(1, 10)), on=layer), V.diff(X)) == ""


LEFT, RIGHT_HALF = (kp.geometry.Box({X: ends}) for ends in ((0, 0.5), (0.5, 1)))
HALVES = [{"on": LEFT}, {"on": RIGHT_HALF}], [{"where": X < 0.5}, {"where": X > 0.5}]


@pytest.mark.parametrize("parts", HALVES, ids=["on", "where"])
def test_equations_of_two_materials_with_one_field_warn(parts):
    def described(*expressions):
        pairs = zip(expressions, parts, strict=True)
        return unreliable(*(kp.Equation(e, **part) for e, part in pairs), V.diff(X))

    text = described(U.diff(X, 2), flux(100))
    assert text.startswith("In equations e0, e1: A coefficient") and "at x = " in text
    assert described(flux(1 + U), flux(9 + U) + 1)
    assert described(U.diff(T) - U.diff(X, 2), U.diff(T) - 9 * U.diff(X, 2))
    # Sources and heat capacities may jump, and fields of each material may kink.
    assert described(U.diff(X, 2), U.diff(X, 2) - 1) == ""
    assert described(U.diff(T) - U.diff(X, 2), 2 * U.diff(T) - U.diff(X, 2)) == ""
    assert described(U.diff(X, 2), 100 * Q.diff(X, 2)) == ""
    assert described(-U.diff(X, 2) - 1, U.diff(X, 2)) == ""
    assert described(flux(1 + X), flux(sp.Rational(3, 2))) == ""


def test_systems_of_equations_on_two_parts_do_not_warn():
    first_flux, second_flux = U + Q / 10, U / 5 + Q  # cross diffusion
    pairs = [
        (first_flux, LEFT),
        (second_flux, LEFT),
        (second_flux, RIGHT_HALF),
        (first_flux, RIGHT_HALF),
    ]
    equations = [kp.Equation(field.diff(X, 2), on=part) for field, part in pairs]
    assert unreliable(*equations, V.diff(X)) == ""


def test_equations_of_an_inclusion_with_one_field_warn():
    square = kp.geometry.Box({X: (0, 1), Y: (0, 1)})
    disk = kp.geometry.Disk((0.5, 0.5), 0.2, coordinates=(X, Y))
    u = sp.Function("u")(X, Y)
    laplacian = u.diff(X, 2) + u.diff(Y, 2)
    for k, is_lost in ((5, True), (1, False)):
        parts = (
            kp.Equation(laplacian, on=square - disk),
            kp.Equation(k * laplacian + 1, on=disk),
        )
        assert bool(unreliable(*parts, domain=square)) is is_lost


def test_continuous_table_does_not_warn():
    table = kp.Tabulated(np.linspace(0, 1, 5), np.array([1, 1, 9, 9, 9.0]), degree=1)
    assert unreliable(flux(table(X))) == ""


@pytest.mark.parametrize("argument", [X, U], ids=["coordinate", "field"])
def test_a_table_that_jumps_between_neighbouring_points_warns(argument):
    """Detect a jump in one cell of the table, which points may miss."""
    points = np.array([0, 0.5, 0.5 + 1e-9, 1])
    table = kp.Tabulated(points, np.array([1, 1, 9, 9.0]), degree=1, name="k")
    assert f"jumps at {argument} = 0.5." in unreliable(flux(table(argument)))
    assert unreliable(U.diff(X, 2) - table(argument)) == ""  # a source may jump
    uneven = kp.Tabulated(np.geomspace(1e-6, 1, 9), np.linspace(1, 9, 9))
    assert unreliable(flux(uneven(argument + 1e-6))) == ""


def test_an_integral_along_a_line_in_an_equation_on_a_part_is_no_jump():
    x, s = sp.symbols("x s")
    u = sp.Function("u")(x)
    memory = sp.Integral(u.subs(x, s), (s, 0, x))
    first, second = (kp.geometry.Box({x: ends}) for ends in ((0, 1), (1, 2)))
    problem = kp.Problem(
        kp.geometry.Box({x: (0, 2)}),
        {
            "a": kp.Equation(u.diff(x, 2) - memory - 1, on=first),
            "b": kp.Equation(u.diff(x, 2) - 1, on=second),
        },
        {"ends": kp.Condition(u, on="boundary")},
    )
    assert not problem.unreliable
