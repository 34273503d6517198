"""Warnings of functions that differ at the ends of a periodic coordinate."""

import warnings

import numpy as np
import pytest
import sympy as sp

import keraspinn as kp

X, Y, T = sp.symbols("x y t")
U = sp.Function("u")(X, T)
RING = kp.geometry.Box({X: (0, 1)}, time={T: (0, 1)}, periodic=[X])
HEAT = U.diff(T) - U.diff(X, 2)


def warned(equation, initial, domain=RING):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        kp.Problem(
            domain, {"e": equation}, {"c": kp.Condition(U - initial, on="initial")}
        )
    return " ".join(str(warning.message) for warning in caught)


@pytest.mark.parametrize(
    ("equation", "initial", "where"),
    [
        (HEAT, X, "condition 'c'"),
        (HEAT - X * T, 1, "equation 'e'"),
        (U.diff(T) + (1 + X) * U.diff(X), 1, "equation 'e'"),
        (U.diff(T) + 1e6 * U.diff(X) + X, 1, "equation 'e'"),
        (HEAT + sp.sin(sp.pi * X / 2) * U**3, 1, "equation 'e'"),
        (HEAT - sp.exp(X * U), 1, "equation 'e'"),
    ],
)
def test_functions_that_are_not_periodic_warn(equation, initial, where):
    message = warned(equation, initial)
    assert where in message and "periodic=[x]" in message and "period 1" in message


@pytest.mark.parametrize(
    ("equation", "initial"),
    [
        (HEAT, sp.sin(2 * sp.pi * X)),
        (HEAT, X - X**2),
        (HEAT, X * (1 - X)),
        (HEAT, sp.exp(-100 * (X - 0.4) ** 2)),
        (HEAT - U**2 * sp.cos(2 * sp.pi * X), 1),
        (HEAT - sp.exp(U * sp.cos(2 * sp.pi * X)), 1),
        (HEAT, sp.Piecewise((1, (X > 0.25) & (X < 0.75)), (0, True))),
    ],
)
def test_periodic_functions_do_not_warn(equation, initial):
    assert warned(equation, initial) == ""


def test_advice_on_nonperiodic_functions_works():
    assert warned(HEAT - sp.sin(2 * sp.pi * X) * T, 1) == ""
    rod = kp.geometry.Box({X: (0, 1)}, time={T: (0, 1)})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kp.Problem(
            rod,
            {"e": HEAT - X * T},
            {
                "c": kp.Condition(U, on="initial"),
                "w": kp.Condition(U, on="boundary"),
            },
        )


def test_functions_of_other_coordinates_may_be_nonperiodic():
    v = sp.Function("u")(X, Y)
    strip = kp.geometry.Box({X: (0, 1), Y: (0, 1)}, periodic=[X])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kp.Problem(
            strip,
            {"e": v.diff(X, 2) + (1 + Y) * v.diff(Y, 2)},
            {"c": kp.Condition(v - Y, on="boundary")},
        )


def warned_of_data(points, values, domain=RING):
    conditions = {
        "initial": kp.Condition(U, on="initial"),
        "sensors": kp.Data(points, {U: values}),
    }
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        kp.Problem(domain, {"e": HEAT}, conditions)
    return " ".join(str(warning.message) for warning in caught)


POINTS = np.random.default_rng(0).random((300, 2))
GRID = np.stack(np.meshgrid(np.linspace(0, 1, 21), [0.0, 0.5, 1.0]), axis=-1)
GRID = GRID.reshape(-1, 2)


@pytest.mark.parametrize("points", [POINTS, GRID])
def test_data_that_are_not_periodic_warn_and_the_advice_works(points):
    assert "periodic=[x]" in warned_of_data(points, points[:, 0])
    rod = kp.geometry.Box({X: (0, 1)}, time={T: (0, 1)})
    assert warned_of_data(points, points[:, 0], rod) == ""


@pytest.mark.parametrize("points", [POINTS, POINTS[:10], GRID, GRID[:1]])
@pytest.mark.parametrize("noise", [0.0, 0.1])
def test_periodic_data_do_not_warn(points, noise):
    wave = np.sin(2 * np.pi * (points[:, 0] - points[:, 1]))
    noise *= np.random.default_rng(1).standard_normal(len(points))
    assert warned_of_data(points, wave + noise) == ""
    assert warned_of_data(points, np.sign(wave) + noise) == ""
