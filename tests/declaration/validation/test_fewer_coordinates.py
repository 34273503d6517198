"""Fields of fewer coordinates, with equations on faces or with integrals."""

import warnings

import pytest
import sympy as sp

import keraspinn as kp

X, Y, T, R = sp.symbols("x y t r")
C, U = (sp.Function(name)(X, T) for name in "cu")
M, Q, Z = (sp.Function(name)(T) for name in "MQZ")
S, V = sp.Function("s")(X), sp.Function("v")(X, Y)
ROD = kp.geometry.Box({X: (0, 1)}, time={T: (0, 1)})
SQUARE = kp.geometry.Box({X: (0, 1), Y: (0, 1)})
LEFT, RIGHT = {X: 0}, {X: 1}
HEAT = C.diff(T) - C.diff(X, 2)
TOTAL = sp.Integral(C.subs(X, R), (R, 0, 1)) - sp.sin(T)
AT_REST = [U - X, U.diff(T), Z - 1, Z.diff(T)]
W, P = sp.Function("w")(X, Y, T), sp.Function("p")(T)
PLATE = kp.geometry.Box({X: (0, 1), Y: (0, 1)}, time={T: (0, 1)})
HEATED = W.diff(T) - W.diff(X, 2) - W.diff(Y, 2) - Q - P * X
CENTRE = {X: sp.Rational(1, 2), Y: sp.Rational(1, 2)}
ON_SOIL = [S.diff(X, 2) + V.diff(Y) + 1, V - S]

# Domain, equations, conditions by name, and names of redundant conditions.
PROBLEMS = {
    "absorbed mass": (
        ROD,
        [HEAT],
        {
            "mass": ([M.diff(T) - C], RIGHT),
            "left": ([C.diff(X)], LEFT),
            "right": ([C.diff(X)], RIGHT),
            "c(0)": ([C - 1 - sp.cos(sp.pi * X)], "initial"),
            "M(0)": ([M], "initial"),
        },
        (),
    ),
    "growth of a layer": (
        ROD,
        [HEAT],
        {
            "layer": ([M.diff(T) - C], LEFT),
            "left": ([C.diff(X) - C], LEFT),
            "right": ([C - 1], RIGHT),
            "c(0)": ([C - 1], "initial"),
            "M(0)": ([M - 1], "initial"),
        },
        (),
    ),
    "growth of a layer, as an equation": (
        ROD,
        [HEAT, M.diff(T) - C.subs(X, 0)],
        {
            "left": ([C.diff(X) - C], LEFT),
            "right": ([C - 1], RIGHT),
            "c(0)": ([C - 1], "initial"),
            "M(0)": ([M - 1], "initial"),
        },
        (),
    ),
    "unknown flux": (
        ROD,
        [HEAT],
        {
            "measured": ([C - sp.sin(T)], LEFT),
            "flux": ([C.diff(X) + Q], LEFT),
            "right": ([C], RIGHT),
            "c(0)": ([C], "initial"),
        },
        {"flux"},
    ),
    "lumped mass": (
        ROD,
        [HEAT],
        {
            "mass": ([M.diff(T) + C.diff(X)], RIGHT),
            "contact": ([C - M], RIGHT),
            "left": ([C.diff(X)], LEFT),
            "c(0)": ([C - 1], "initial"),
            "M(0)": ([M - 1], "initial"),
        },
        {"M(0)"},
    ),
    "pressure gradient of a flow rate": (
        ROD,
        [HEAT - Q],
        {
            "rate": ([TOTAL], LEFT),
            "left": ([C], LEFT),
            "right": ([C], RIGHT),
            "c(0)": ([C], "initial"),
        },
        {"c(0)"},  # a decay as exp(-40 t) is not resolved
    ),
    "pressure gradient of a flow rate, inside": (
        ROD,
        [HEAT - Q],
        {
            "rate": ([TOTAL], "interior"),
            "left": ([C], LEFT),
            "right": ([C], RIGHT),
            "c(0)": ([C], "initial"),
        },
        {"c(0)"},
    ),
    "oscillator at a string's end": (
        ROD,
        [U.diff(T, 2) - U.diff(X, 2)],
        {
            "left": ([U], LEFT),
            "contact": ([U - Z], RIGHT),
            "oscillator": ([Z.diff(T, 2) + U.diff(X) + 4 * Z], RIGHT),
            **{f"initial {k}": ([e], "initial") for k, e in enumerate(AT_REST)},
        },
        {"initial 2", "initial 3"},
    ),
    "controlled flux": (
        ROD,
        [HEAT],
        {
            "controller": ([Q.diff(T) - 1 + C], RIGHT),
            "left": ([C.diff(X) + Q], LEFT),
            "right": ([C.diff(X)], RIGHT),
            "c(0)": ([C], "initial"),
            "Q(0)": ([Q], "initial"),
        },
        {"Q(0)"},
    ),
    "membrane on a body": (
        SQUARE,
        [V.diff(X, 2) + V.diff(Y, 2)],
        {
            "membrane": (ON_SOIL, {Y: 0}),
            "top": ([V], {Y: 1}),
            "left": ([V], LEFT),
            "right": ([V], RIGHT),
        },
        (),
    ),
    "two sources in a plane": (
        PLATE,
        [HEATED],
        {
            "measured": ([W - T], CENTRE),
            "flux": ([W.diff(X) - T], RIGHT),
            "walls": ([W], "boundary"),
            "w(0)": ([W], "initial"),
        },
        {"w(0)"},  # values and fluxes on a side could replace it, without a source
    ),
    "source in a plane with an equation": (
        PLATE,
        [HEATED.subs(P, 0), Q.diff(T) + Q],
        {
            "walls": ([W], "boundary"),
            "w(0)": ([W], "initial"),
            "Q(0)": ([Q - 1], "initial"),
        },
        (),
    ),
}
DROPPED = [
    (name, left_out)
    for name, (*_, conditions, implied) in PROBLEMS.items()
    for left_out in conditions
    if left_out not in implied
]


def warned(name, left_out=None):
    domain, equations, conditions, _ = PROBLEMS[name]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        problem = kp.Problem(
            domain,
            {f"e{k}": equation for k, equation in enumerate(equations)},
            {
                key: kp.Condition(expressions, on=on)
                for key, (expressions, on) in conditions.items()
                if key != left_out
            },
        )
    assert bool(problem.underdetermined) == bool(caught)
    return " ".join(str(warning.message) for warning in caught)


@pytest.mark.parametrize("name", PROBLEMS)
def test_well_posed_problems_do_not_warn(name):
    assert warned(name) == ""


@pytest.mark.parametrize(("name", "left_out"), DROPPED)
def test_a_missing_condition_warns(name, left_out):
    message = warned(name, left_out)
    assert "missing" in message or "open" in message


def test_a_face_without_a_condition_is_named():
    assert "missing on x = 1" in warned("lumped mass", "mass")
    assert "equations of M are of order 1 in t" in warned("absorbed mass", "M(0)")


@pytest.mark.parametrize("is_measured", [True, False])
def test_a_sensor_determines_an_unknown_flux(is_measured):
    u = sp.Function("u")(X, Y, T)
    square = kp.geometry.Box({X: (0, 1), Y: (0, 1)}, time={T: (0, 1)})
    walls = [{X: 0}, {Y: 0}, {Y: 1}]
    normal = kp.normal_derivative(u, square)
    conditions = {
        "cold": kp.Condition(u, on="initial"),
        "insulated": kp.Condition(normal, on=walls),
        "heated": kp.Condition(normal - Q, on=RIGHT),
    }
    if is_measured:
        conditions["sensor"] = kp.Condition(u - T**2, on={X: 0.5, Y: 0.5})
    heat = u.diff(T) - u.diff(X, 2) - u.diff(Y, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        problem = kp.Problem(square, {"heat": heat}, conditions)
    assert ("missing on x = 1" in problem.underdetermined) != is_measured
