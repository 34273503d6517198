"""Detection of underdetermined problems."""

import warnings

import pytest
import sympy as sp

import keraspinn as kp

X, Y, T, A = sp.symbols("x y t a")
ROD = kp.geometry.Box({X: (0, 2)}, time={T: (0, 3)})
SQUARE = kp.geometry.Box({X: (0, 1), Y: (0, 1)})
BAR = kp.geometry.Box({X: (0, 2)})
CORNER = SQUARE - kp.geometry.Box({X: (0.5, 1), Y: (0.5, 1)})
U, V, W = (sp.Function("u")(*arguments) for arguments in ((X, T), (X, Y), (X,)))
WAVE = U.diff(T, 2) - U.diff(X, 2)
LAPLACE = V.diff(X, 2) + V.diff(Y, 2)
WALLS = kp.Condition(U, on="boundary")
START = kp.Condition(U - sp.sin(sp.pi * X), on="initial")
REST = kp.Condition(U.diff(T), on="initial")
CLAMP = kp.Condition([W, W.diff(X)], on={X: 0})


def warned(domain, equation, *conditions):
    """Return the warnings of a declaration."""
    conditions = {f"c{k}": condition for k, condition in enumerate(conditions)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        kp.Problem(domain, {"e": equation}, conditions)
    return " ".join(str(warning.message) for warning in caught)


@pytest.mark.parametrize(
    ("domain", "equation", "conditions"),
    [
        (ROD, WAVE, [WALLS, START]),  # no velocity
        (ROD, WAVE, [WALLS, REST]),
        (ROD, WAVE, [kp.Condition(U, on={X: 0}), START, REST]),  # one wall
        (ROD, U.diff(T) - U.diff(X, 2), [START, kp.Condition(U, on={X: 0})]),
        (SQUARE, LAPLACE - 1, [kp.Condition(V, on=[{X: 0}, {X: 1}, {Y: 0}])]),
        (BAR, 2e9 * W.diff(X, 4) - 5, [CLAMP, kp.Condition(W.diff(X, 2), on={X: 2})]),
        (BAR, W.diff(X, 2) + W, [kp.Condition(W - 1, on={X: 0})]),
        (ROD, U.diff(T) - (U * U.diff(X)).diff(X), [START]),
        (ROD, WAVE + U**3, [WALLS, START]),
    ],
)
def test_ill_posed_underdetermined_problems_warn(domain, equation, conditions):
    assert "missing" in warned(domain, equation, *conditions)


@pytest.mark.parametrize(
    ("domain", "equation", "conditions"),
    [
        (ROD, WAVE, [WALLS, START, REST]),
        (SQUARE, LAPLACE - 1, [kp.Condition(V, on="boundary")]),
        (CORNER, LAPLACE - 1, [kp.Condition(V, on="boundary")]),
        (
            SQUARE,
            LAPLACE,
            [kp.Condition(kp.normal_derivative(V, SQUARE), on="boundary")],
        ),
        (
            BAR,
            2e9 * W.diff(X, 4) - 5,
            [CLAMP, kp.Condition([W.diff(X, 2), W.diff(X, 3)], on={X: 2})],
        ),
        (ROD, U.diff(T) + U.diff(X), [START, kp.Condition(U, on={X: 0})]),
        (ROD, U.diff(T) - U.diff(X, 2), [START, kp.Data([[1, 1]], {U: [1.0]})]),
    ],
)
def test_well_posed_problems_do_not_warn(domain, equation, conditions):
    assert warned(domain, equation, *conditions) == ""


@pytest.mark.parametrize("end", [10, 20, 40])
def test_growing_solutions_are_determined_by_initial_conditions(end):
    u = sp.Function("u")(T)
    time = kp.geometry.Box(time={T: (0, end)})
    assert warned(time, u.diff(T) - u, kp.Condition(u - 1, on="initial")) == ""
    still = kp.Condition([u - 1, u.diff(T) + 1], on="initial")
    assert warned(time, u.diff(T, 2) - u, still) == ""
    if end < 40:  # polynomials do not resolve the growth to later times
        only = kp.Condition(u - 1, on="initial")
        assert "missing" in warned(time, u.diff(T, 2) - u, only)


@pytest.mark.parametrize("end", [1, 3, 10])
def test_advection_without_a_value_at_the_inlet_is_underdetermined(end):
    pipe = kp.geometry.Box({X: (0, 1)}, time={T: (0, end)})
    inlet = kp.Condition(U - sp.sin(T), on={X: 0})
    rest, advection = kp.Condition(U, on="initial"), U.diff(T) + U.diff(X)
    assert warned(pipe, advection, rest, inlet) == ""
    assert "missing" in warned(pipe, advection, rest)


@pytest.mark.parametrize(
    ("length", "end", "rate"), [(1, 1, 20), (1, 1, 30), (1, 3, 15), (2, 1, 25)]
)
def test_growing_heat_is_determined_by_initial_conditions(length, end, rate):
    rod = kp.geometry.Box({X: (0, length)}, time={T: (0, end)})
    growing = U.diff(T) - U.diff(X, 2) - rate * U
    assert warned(rod, growing, WALLS, START) == ""
    assert "missing" in warned(rod, growing, WALLS)


@pytest.mark.parametrize(
    ("equation", "message"),
    [
        (W.diff(X, 2) - W + sp.sin(X), ""),
        (W.diff(X, 2) - W**3 + sp.sin(X), ""),
        (W.diff(X, 2) + W + sp.sin(2 * X), "differ in u"),  # or sin(x) more
        (W.diff(X, 2) + sp.sin(X), "no conditions for u"),  # or a constant more
    ],
)
def test_periodic_problems_without_conditions(equation, message):
    ring = kp.geometry.Box({X: (0, 2 * sp.pi)}, periodic=[X])
    text = warned(ring, equation)
    assert message in text and bool(message) == bool(text)


@pytest.mark.parametrize("depth", [0.1, 0.005, 0.001])
def test_slender_beam_is_well_posed(depth):
    w, angle = sp.Function("w")(X), sp.Function("theta")(X)
    shear, bend = 5 / 6 * depth**2, depth**4 / 5
    equations = {
        "shear": shear * (w.diff(X, 2) - angle.diff(X)) + 1,
        "bending": bend * angle.diff(X, 2) + shear * (w.diff(X) - angle),
    }
    clamp = {"clamp": kp.Condition([w, angle], on={X: 0})}
    free = [w.diff(X) - angle, angle.diff(X)]
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        kp.Problem(BAR, equations, clamp | {"free": kp.Condition(free, on={X: 2})})
    with pytest.warns(UserWarning, match="missing"):
        kp.Problem(BAR, equations, clamp | {"free": kp.Condition(free[1], on={X: 2})})


@pytest.mark.parametrize("modulus", [1.0, 2.1e11])
def test_well_posedness_of_stresses_as_fields_does_not_depend_on_units(modulus):
    """In pascals and metres the clamp is 1e17 times smaller than the stresses."""
    u, v, xx, yy, xy = (
        sp.Function(name)(X, Y) for name in ("u", "v", "xx", "yy", "xy")
    )
    traction = kp.Condition([xx, xy - modulus / 10**5], on={X: 1})
    with pytest.warns(UserWarning, match="too stiff"):
        problem = kp.Problem(
            SQUARE,
            {
                "xx": xx - modulus * (u.diff(X) + 0.3 * v.diff(Y)),
                "yy": yy - modulus * (v.diff(Y) + 0.3 * u.diff(X)),
                "xy": xy - 0.4 * modulus * (u.diff(Y) + v.diff(X)),
                "x": xx.diff(X) + xy.diff(Y),
                "y": xy.diff(X) + yy.diff(Y),
            },
            {
                "clamp": kp.Condition([u, v], on={X: 0}),
                "traction": traction,
                "free": kp.Condition([xy, yy], on=[{Y: 0}, {Y: 1}]),
            },
        )
    assert problem.underdetermined == ""


def test_underdetermined_fields_are_named_with_parameters():
    u, v = sp.Function("u")(X, A), sp.Function("v")(X, A)
    box = kp.geometry.Box({X: (0, 1)}, parameters={A: (1, 3)})
    ends = {
        f"at {x}": kp.Condition(fields, on={X: x})
        for x, fields in ((0, [u, u.diff(X) + A / 2]), (1, [u, v]))
    }
    with pytest.warns(UserWarning, match=r"differ in v"):
        kp.Problem(box, {"u": u.diff(X, 2) - A, "v": v.diff(X, 2) - u}, ends)


def test_the_warning_has_the_line_of_the_declaration():
    with pytest.warns(UserWarning, match="missing") as caught:
        kp.Problem(ROD, {"wave": WAVE}, {"walls": WALLS, "initial": START})
    assert caught[0].filename == __file__


Q = kp.Parameter("q", initial=1.0)
UNKNOWN_SOURCE = sp.Eq(-W.diff(X, 2), Q * sp.sin(sp.pi * X / 2))
ENDS = kp.Condition(W, on="boundary")


def test_undetermined_parameter_warns():
    assert "solution for any value of q. Add Data" in warned(BAR, UNKNOWN_SOURCE, ENDS)


def test_undetermined_parameter_of_a_rate_equation_warns():
    c = sp.Function("c")(T)
    time, start = kp.geometry.Box(time={T: (0, 5)}), kp.Condition(c - 1, on="initial")
    text = warned(time, c.diff(T) + Q * c**2, start)
    assert "solution for any value of q. Add Data" in text
    assert "initial condition is missing" not in text


@pytest.mark.parametrize(
    "condition",
    [
        kp.Condition(sp.Eq(W.diff(X), 1), on={X: 0}),
        kp.Condition(sp.Eq(W.diff(X), 2 / sp.pi), on={X: 0}),  # q as it begins
        kp.Condition(sp.Eq(kp.integral(W), 1)),
        kp.Condition(sp.Eq(kp.integral(W**2), 1)),
        kp.Data([[0.5]], {W: [0.3]}),
    ],
)
def test_a_parameter_that_a_condition_determines_does_not_warn(condition):
    assert not warned(BAR, UNKNOWN_SOURCE, ENDS, condition)


@pytest.mark.parametrize("initial", [0.9, 1.0, 5.0])
@pytest.mark.parametrize("height", [1, 0.001])
def test_eigenvalue_of_a_clamped_and_free_beam_does_not_warn(initial, height):
    eigenvalue = kp.Parameter("eigenvalue", initial=initial)  # right: 1.236
    bar = kp.geometry.Box({X: (0, 1)})
    beam = W.diff(X, 4) - 10 * eigenvalue * W
    root = kp.Condition([W, W.diff(X)], on={X: 0})
    free = [sp.Eq(W, height), W.diff(X, 2), W.diff(X, 3)]
    assert not warned(bar, beam, root, kp.Condition(free, on={X: 1}))


def test_eigenvalue_of_a_beam_under_a_force_warns():
    eigenvalue = kp.Parameter("eigenvalue", initial=1.0)
    bar = kp.geometry.Box({X: (0, 1)})
    beam = W.diff(X, 4) - 10 * eigenvalue * W
    root = kp.Condition([W, W.diff(X)], on={X: 0})
    force = kp.Condition([W.diff(X, 2), sp.Eq(W.diff(X, 3), 1)], on={X: 1})
    assert "solution for any value of eigenvalue" in warned(bar, beam, root, force)
