"""Detection of missing boundary conditions."""

import re
import warnings

import numpy as np
import pytest
import sympy as sp

import keraspinn as kp

X, Y, T, R = sp.symbols("x y t r")
G = kp.geometry
DISK = G.Disk((0, 0), radius=1, coordinates=(X, Y))
HOLE = G.Disk((0.2, 0), radius=0.3)
SQUARE = G.Box({X: (-1, 1), Y: (-1, 1)})
KITE = G.Polygon([(0, 0), (1, 0), (1.3, 1), (0, 1)], coordinates=(X, Y))
TIME = G.Box(time={T: (0, 1)})
RAY = G.Box({R: (0, 1)})
U, V, P, Q = (sp.Function(name)(X, Y) for name in "uvpq")
W, M = (sp.Function(name)(X, Y, T) for name in "wm")
F = sp.Function("f")(R)


def laplace(u):
    return u.diff(X, 2) + u.diff(Y, 2)


FLUX = {"q": Q + U.diff(X), "p": P + U.diff(Y), "balance": Q.diff(X) + P.diff(Y)}
STOKES = {
    "x": laplace(U) - P.diff(X),
    "y": laplace(V) - P.diff(Y),
    "mass": U.diff(X) + V.diff(Y),
}
ELASTIC = {
    "x": 2 * U.diff(X, 2) + U.diff(Y, 2) + V.diff(X, Y),
    "y": 2 * V.diff(Y, 2) + V.diff(X, 2) + U.diff(X, Y),
}
GIVEN = kp.Condition(U - X, on=DISK)
SIDES = kp.Condition(U, on=[{X: -1}, {X: 1}, {Y: -1}])
ENDS = kp.Condition(U, on=[{Y: -1}, {Y: 1}])
FIRST = kp.Condition(F, on={R: 0})
CAUCHY = U - X, X * U.diff(X) + Y * U.diff(Y) - X
MOVING = G.Box({X: (-1, 1), Y: (0, 1)}, time={T: (0, 1)})
AT_FIRST, INLET = kp.Condition(W, on="initial"), kp.Condition(W, on={X: -1})
CARRIED = {"w": W.diff(T) + X * W.diff(X) - M, "m": M.diff(T) + X * M.diff(X) + W}
OUTER = kp.Condition(U, on=SQUARE)
JOINED = U - U.subs(X, -1), U.diff(X) - U.diff(X).subs(X, -1)


def warned(domain, equations, *conditions):
    """Return the warnings on parts without a condition."""
    if not isinstance(equations, dict):
        equations = {"e": equations}
    named = {f"c{k}": condition for k, condition in enumerate(conditions)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        kp.Problem(domain, equations, named, scales=None)
    return " ".join(m for m in (str(w.message) for w in caught) if "missing on" in m)


@pytest.mark.parametrize(
    ("domain", "equations", "conditions", "where"),
    [
        (DISK - HOLE, laplace(U), [GIVEN], "circle"),
        (DISK - HOLE, laplace(U) - U**3, [GIVEN], "circle"),
        (DISK - HOLE, laplace(U), [kp.Condition(U, on=DISK, hard=True)], "circle"),
        (SQUARE - HOLE, laplace(U), [kp.Condition(U, on=SQUARE)], "circle"),
        (SQUARE - HOLE, ELASTIC, [kp.Condition([U, V], on=SQUARE)], "circle"),
        (SQUARE - HOLE, STOKES, [kp.Condition([U, V], on=SQUARE)], "circle"),
        (DISK - HOLE, FLUX, [GIVEN], "circle"),
        (
            (SQUARE - HOLE) * TIME,
            W.diff(T) - laplace(W) - W**3,
            [kp.Condition(W, on=SQUARE), kp.Condition(W, on="initial")],
            "circle",
        ),
        (SQUARE, laplace(U), [SIDES], "y = 1"),
        (SQUARE, laplace(U), [ENDS, kp.Condition(U, on={X: 1})], "x = -1"),
        (KITE, laplace(U), [kp.Condition(U, on="boundary", where=Y > 0)], "y = 0)"),
        (RAY, F.diff(R, 4) - 1, [kp.Condition([F, F.diff(R)], on={R: 0})], "r = 1"),
    ],
)
def test_a_part_without_a_condition_is_named(domain, equations, conditions, where):
    text = warned(domain, equations, *conditions)
    assert where in text and text.count("(at ") == 1


@pytest.mark.parametrize(
    ("domain", "equations", "conditions"),
    [
        (DISK - HOLE, laplace(U), [GIVEN, kp.Condition(U, on=HOLE)]),
        (DISK - HOLE, laplace(U), [kp.Condition(U, on="boundary")]),
        (KITE, laplace(U), [kp.Condition(U, on="boundary")]),
        # Cauchy data, enough on one part; time as a space coordinate
        (DISK - HOLE, laplace(U), [kp.Condition([U, U.diff(X)], on=DISK)]),
        (
            SQUARE,
            U.diff(X, 2) - U.diff(Y, 2),
            [SIDES, kp.Condition(U.diff(Y), on={Y: -1})],
        ),
        (RAY, F.diff(R, 2) - F, [kp.Condition([F, F.diff(R)], on={R: 0})]),
        # first order across the part
        (SQUARE, U.diff(X, 2) - U.diff(Y), [SIDES]),
        (SQUARE, U.diff(X, Y), [kp.Condition(U, on=[{X: -1}, {Y: -1}])]),
        (SQUARE, U.diff(X) + U.diff(Y), [kp.Condition(U, on=[{X: -1}, {Y: -1}])]),
        # both sides by one condition
        (SQUARE, laplace(U), [ENDS, kp.Condition(JOINED, on={X: 1})]),
        # the equation is singular, or ends, on an axis
        (RAY, F.diff(R, 2) + F.diff(R) / R, [kp.Condition(F - 1, on={R: 1})]),
        (RAY, R * F.diff(R, 2) + F.diff(R), [kp.Condition(F - 1, on={R: 1})]),
        # values inside and integrals determine fields on a line
        (RAY, F.diff(R, 2) - 1, [kp.Condition(F, on=[{R: 0}, {R: 0.5}])]),
        (RAY, F.diff(R, 2) - 1, [FIRST, kp.Condition(sp.Eq(kp.integral(F), 1))]),
        (RAY, F.diff(R, 2) - 1, [kp.Condition([F, F.diff(R)], on={R: 0.3})]),
        # Cauchy data on less than half of a part
        (DISK, laplace(U), [kp.Condition(CAUCHY, on="boundary", where=X < -0.5)]),
        # a corner left out on purpose
        (
            SQUARE,
            laplace(U),
            [SIDES, kp.Condition(U - 1, on={Y: 1}, where=X**2 < 0.95)],
        ),
        # nothing enters
        (MOVING, W.diff(T) + sp.sign(W) * W.diff(X), [AT_FIRST, INLET]),
        (MOVING, CARRIED, [kp.Condition([W, M], on="initial")]),
        # data count too
        (DISK - HOLE, laplace(U), [GIVEN, kp.Data([[0.5, 0.5]], {U: [1.0]})]),
    ],
)
def test_well_posed_problems_do_not_warn(domain, equations, conditions):
    assert warned(domain, equations, *conditions) == ""


def test_coefficients_in_any_units_are_counted():
    stiff = {name: 2.1e11 * equation for name, equation in ELASTIC.items()}
    clamp = kp.Condition([U, V], on=SQUARE)
    assert "circle" in warned(SQUARE - HOLE, stiff, clamp)
    weak = 1e-14 * laplace(U) - U.diff(X)
    assert "circle" in warned(DISK - HOLE, weak, GIVEN)


@pytest.mark.parametrize(
    "more",
    [
        kp.Condition(sp.Eq(kp.integral(U.diff(X), over={X: -1}), 1)),
        kp.Condition(sp.Eq(kp.integral(U, where=X < 0.5), 0.1)),
        kp.Condition(U - 0.5, on="interior", where=X < 0),
        kp.Condition(U - U.subs(Y, -Y), on="interior"),
    ],
)
def test_conditions_elsewhere_do_not_replace_those_on_a_hole(more):
    assert "circle" in warned(SQUARE - HOLE, laplace(U) - U**3, OUTER, more)


@pytest.mark.parametrize(
    "conductivity", [sp.sqrt(U - 273), sp.exp(-10_000 / U), U - 0.7, sp.log(U - 1)]
)
def test_a_nonlinear_coefficient_counts(conductivity):
    heat = (conductivity * U.diff(X)).diff(X) + (conductivity * U.diff(Y)).diff(Y)
    assert "y = 1" in warned(SQUARE, heat, SIDES)


def test_a_shifted_field_counts_for_the_opposite_side():
    joined = [U - U.subs(X, X - 2), U.diff(X) - U.diff(X).subs(X, X - 2)]
    joined = kp.Condition(joined, on={X: 1})
    assert warned(SQUARE, laplace(U), ENDS, joined) == ""
    assert "circle" in warned(SQUARE - HOLE, laplace(U), ENDS, joined)


WALL = kp.Condition([U, V], on=[{X: -1}, {X: 1}, {Y: -1}])
H = sp.Function("h")(R)
COUPLED = {"f": F.diff(R, 2) - F * H, "h": H.diff(R, 2) - F * H - 1}
LINE = G.Box({X: (-1, 1)}, time={T: (0, 1)})
Y1, Y2 = (sp.Function(name)(X, T) for name in ("y1", "y2"))
SPECIES = {
    "y1": Y1.diff(T) - Y1.diff(X, 2) + Y1 * Y2,
    "y2": Y2.diff(T) - Y2.diff(X, 2) - Y1 * Y2,
}
BEGIN = kp.Condition([Y1 - 1, Y2], on="initial")
ONE_END = kp.Condition(Y1, on="boundary"), kp.Condition(Y2, on={X: -1})
BENT = laplace(laplace(U)) + U**3 - 1


@pytest.mark.parametrize(
    ("domain", "equations", "conditions", "others", "where"),
    [
        (SQUARE, STOKES, [WALL, kp.Condition(U, on={Y: 1})], V, {Y: 1}),
        (SQUARE, STOKES, [WALL, kp.Condition(P, on={Y: 1})], U, {Y: 1}),
        (
            RAY,
            COUPLED,
            [kp.Condition([F - 1, H], on={R: 0}), kp.Condition(F, on={R: 1})],
            H.diff(R),
            {R: 1},
        ),
        (LINE, SPECIES, [BEGIN, *ONE_END], Y2, {X: 1}),
        (
            SQUARE,
            BENT,
            [SIDES, kp.Condition(laplace(U), on="boundary")],
            U,
            {Y: 1},
        ),
    ],
)
def test_parts_need_half_as_many_conditions_as_the_order(
    domain, equations, conditions, others, where
):
    assert "beside any declared" in warned(domain, equations, *conditions)
    other = kp.Condition(others, on=where)
    assert warned(domain, equations, *conditions, other) == ""


CURL = U.diff(Y) - V.diff(X)
CURLS = {"x": CURL.diff(Y) + U, "y": -CURL.diff(X) + V}
ALONG = Y * U - X * V
SIDE_BY_SIDE = [U - U.subs(X, -1), V - V.subs(X, -1)]
ACROSS = kp.Condition([U, V], on=[{Y: -1}, {Y: 1}])


@pytest.mark.parametrize(
    ("domain", "equations", "conditions"),
    [
        # The bound of the order is above the order.
        (DISK, CURLS, [kp.Condition(ALONG, on="boundary")]),
        # Conditions of the opposite side.
        (
            SQUARE,
            STOKES,
            [
                ACROSS,
                kp.Condition(SIDE_BY_SIDE, on={X: 1}),
                kp.Condition(P, on=[{X: -1}, {X: 1}]),
            ],
        ),
        (
            SQUARE,
            U.diff(Y) + sp.Max(X, 0) * U.diff(Y, 2) - U.diff(X, 2),
            [SIDES, kp.Condition(U, on={Y: 1}, where=X > 0)],
        ),
    ],
)
def test_the_number_of_conditions_is_not_known_everywhere(
    domain, equations, conditions
):
    assert warned(domain, equations, *conditions) == ""


def test_more_conditions_elsewhere_replace_missing_ones():
    start = kp.Condition([F - 1, H, H.diff(R)], on={R: 0})
    assert warned(RAY, COUPLED, start, kp.Condition(F, on={R: 1})) == ""


def test_insulation_advice_is_for_diffusive_fields():
    assert "normal_derivative(w, " in warned(
        (SQUARE - HOLE) * TIME,
        W.diff(T) - laplace(W),
        kp.Condition(W, on=SQUARE),
        AT_FIRST,
    )
    velocities = {"u": laplace(U), "w": laplace(V)}
    conditions = kp.Condition(U, on="boundary"), kp.Condition(V, on={Y: 1})
    assert "normal_derivative(v, " in warned(SQUARE, velocities, *conditions)
    bent = warned(RAY, F.diff(R, 4) - 1, kp.Condition([F, F.diff(R)], on={R: 0}))
    assert "normal_derivative" not in bent and "elsewhere" in bent
    half = kp.Condition(U, on={Y: 1}, where=X < 0)
    assert "50% of y = 1" in warned(SQUARE, laplace(U), SIDES, half)


def test_the_message_names_three_parts_at_most():
    holes = SQUARE
    for k in range(4):
        holes = holes - G.Disk((-0.6 + 0.4 * k, 0), radius=0.1)
    text = warned(holes, laplace(U), kp.Condition(U, on=SQUARE))
    assert text.count("circle") == 3 and "1 more" in text


def test_the_message_locates_the_part():
    text = warned(DISK - HOLE, laplace(U), GIVEN)
    x, y = (
        float(number) for number in re.search(r"x = (.+), y = (.+)\):", text).groups()
    )
    distance = np.hypot(x - 0.2, y)
    assert distance == pytest.approx(0.3, abs=1e-3)


def test_a_single_equation_in_a_layer_needs_conditions_beside_the_layer_alone():
    layer = G.Box({X: (-1, 0), Y: (-1, 1)})
    equation = {"e": kp.Equation(laplace(U), on=layer)}
    with pytest.warns(UserWarning, match="missing on 50% of y = -1") as caught:
        kp.Problem(SQUARE, equation, {"left": kp.Condition(U, on={X: -1})})
    assert not any("on x = 1" in str(warning.message) for warning in caught)


def test_a_rate_equation_with_a_parameter_coordinate_is_declared():
    z = sp.Function("z")(T, R)
    problem = kp.Problem(
        G.Box(time={T: (0, 1)}, parameters={R: (1, 10)}),
        {"decay": z.diff(T) + R * z},
        {"initial": kp.Condition(sp.Eq(z, 1), on="initial")},
    )
    assert not problem.underdetermined
