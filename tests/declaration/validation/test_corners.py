"""Conditions that contradict a hard value where two faces meet."""

import warnings

import numpy as np
import pytest
import sympy as sp

import keraspinn as kp

X, Y, T = sp.symbols("x y t")
U = sp.Function("u")(X, Y)
BOX = kp.geometry.Box({X: (0, 2), Y: (0, 1)})
KNOTS = np.linspace(0, 1, 9)
SQUARE = kp.Tabulated((KNOTS,), KNOTS**2)
OTHER = sp.Function("v")(X, Y)
NORMAL = kp.normal_derivative(U, BOX)


def warned(value, side, hard=True):
    """Return the warnings of Laplace's equation with a value at x = 0, by condition."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kp.Problem(
            BOX,
            {"laplace": U.diff(X, 2) + U.diff(Y, 2), "other": OTHER.diff(X) - 1},
            {
                "inlet": kp.Condition(OTHER, on={X: 0}),
                "base": kp.Condition(sp.Eq(U, value), on={X: 0}, hard=hard),
                "side": kp.Condition(side, on={Y: 0}),
                "rest": kp.Condition(U.diff(X), on={X: 2}),
                "top": kp.Condition(sp.Eq(U, value), on={Y: 1}),
            },
        )
    return [str(warning.message) for warning in caught]


@pytest.mark.parametrize(
    "value, side",
    [
        (0, sp.Eq(NORMAL, 1)),  # a flux where the hard value has none
        (120, sp.Eq(-15 * NORMAL, 100 * (U - 20))),  # a fin's root in air
        (120, sp.Eq(-15 * NORMAL, kp.Parameter("h", initial=100) * (U - 20))),
        (sp.sin(Y), U.diff(Y)),
    ],
)
def test_contradictory_corners_are_named(value, side):
    (words,) = warned(value, side)
    assert "'side'" in words and "on x = 0 where it meets y = 0" in words
    assert not warned(value, side, hard=False)


@pytest.mark.parametrize(
    "value, side",
    [
        (0, sp.Eq(NORMAL, X)),  # as the warning advises
        (0, sp.Eq(NORMAL, sp.sin(sp.pi * (X + 2)))),  # zero up to round-off
        (20, sp.Eq(-15 * NORMAL, 100 * (U - 20))),
        (sp.cos(Y), U.diff(Y)),
        (SQUARE(Y), U.diff(Y)),  # zero up to round-off
        (sp.sin(Y), sp.Eq(NORMAL + U, -1)),
        (0, sp.Eq(NORMAL + U.diff(X), 1)),  # along the normal of the hard face too
        (0, sp.Eq(U, 1)),  # a jump, but no flux
        (0, sp.Eq(X * OTHER.diff(Y) + U.diff(Y), 0)),  # of a field without a value
        (0, OTHER.diff(Y)),  # of that alone
    ],
)
def test_consistent_corners_do_not_warn(value, side):
    assert not any("contradicts" in words for words in warned(value, side))


DISK, OBLIQUE, HOLE = (
    kp.geometry.Ball(centre, 0.4, (X, Y)) for centre in ((0, 0), (0, -0.2), (1, 0.5))
)
TURNED = kp.geometry.Sector((0, 0), 1, (0.2, 1.2), coordinates=(X, Y))


def named(domain, hard, soft, value, flux):
    """Return whether a hard value on a face contradicts a flux on another one."""
    normal = kp.normal_derivative(U, domain)
    conditions = {
        "base": kp.Condition(sp.Eq(U, value), on=hard, hard=True),
        "side": kp.Condition(sp.Eq(normal, flux), on=soft),
    }
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        equations = {"laplace": U.diff(X, 2) + U.diff(Y, 2)}
        return "contradicts" in kp.Problem(domain, equations, conditions).poles


@pytest.mark.parametrize(
    "domain, hard, soft, meet",
    [
        (TURNED, "start", "outer", True),
        (TURNED, "outer", "start", True),
        (BOX - DISK, {Y: 0}, DISK, True),
        (BOX - DISK, DISK, {Y: 0}, True),
        (BOX & DISK, {Y: 0}, DISK, True),
        (BOX - HOLE, {Y: 0}, HOLE, False),
        (TURNED, "start", "end", False),  # at an angle, which leaves the flux free
        (BOX - OBLIQUE, {Y: 0}, OBLIQUE, False),
    ],
)
def test_contradictory_corners_of_curved_faces_are_named(domain, hard, soft, meet):
    assert named(domain, hard, soft, 0, 1) == meet
    assert not named(domain, hard, soft, 7, 0)


def test_a_flux_that_agrees_at_the_corner_of_an_arc_is_not_named():
    assert not named(TURNED, "start", "outer", X**2 + Y**2, 2)
    assert named(TURNED, "start", "outer", X**2 + Y**2, 1)


@pytest.mark.parametrize(
    "initial, flux, contradicts",
    [
        *((0, 1, True), (300, 1, True), (X**2, 1, True), (X**2, 2, False)),
        *((0, T, False), (1, sp.sin(np.pi), False)),  # round-off
        (kp.Tabulated((KNOTS,), np.full(9, 293.15))(X), 0, False),
    ],
)
def test_flux_switched_on_initially_contradicts_a_hard_value(
    initial, flux, contradicts
):
    field = sp.Function("u")(X, T)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kp.Problem(
            kp.geometry.Box({X: (0, 1)}, time={T: (0, 1)}),
            {"heat": field.diff(T) - field.diff(X, 2)},
            {
                "wall": kp.Condition(sp.Eq(field.diff(X), flux), on={X: 1}),
                "back": kp.Condition(field.diff(X), on={X: 0}),
                "initial": kp.Condition(sp.Eq(field, initial), on="initial", hard=True),
            },
        )
    named = [str(w.message) for w in caught if "'wall' contradicts" in str(w.message)]
    assert bool(named) == contradicts
    assert not named or "on t = 0 where it meets x = 1" in named[0]


@pytest.mark.parametrize("where, contradicts", [(Y > 0.4, True), (T > 0.2, False)])
def test_flux_on_a_portion_of_a_face_contradicts_a_hard_initial_value(
    where, contradicts
):
    field = sp.Function("u")(X, Y, T)
    conditions = {
        "heater": kp.Condition(sp.Eq(field.diff(X), 1), on={X: 2}, where=where),
        "initial": kp.Condition(field, on="initial", hard=True),
    }
    domain = kp.geometry.Box({X: (0, 2), Y: (0, 1)}, time={T: (0, 1)})
    heat = {"heat": field.diff(T) - field.diff(X, 2) - field.diff(Y, 2)}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kp.Problem(domain, heat, conditions)
    assert any("'heater' contra" in str(w.message) for w in caught) == contradicts


@pytest.mark.slow
def test_the_verdict_names_the_contradictory_corner():
    laplace = {"laplace": U.diff(X, 2) + U.diff(Y, 2)}
    conditions = {
        "base": kp.Condition(U, on={X: 0}, hard=True),
        "side": kp.Condition(sp.Eq(NORMAL, 1), on={Y: 0}),
        "rest": kp.Condition(U.diff(X), on={X: 2}),
        "top": kp.Condition(U, on={Y: 1}),
    }
    with pytest.warns(UserWarning, match="'side' contradicts"):
        problem = kp.Problem(BOX, laplace, conditions)
    model = kp.PINNModel(problem, kp.networks.MLP(4, 1), seed=0)
    model.compile("adam")
    words = str(kp.diagnostics.verdict(model, points=50, points_on_face=20))
    assert "'side' contradicts the hard value on x = 0" in words
