"""Well-posedness by all conditions together: Cauchy data, end masses, sources."""

import warnings

import pytest
import sympy as sp

import keraspinn as kp

X, Y, T, R = sp.symbols("x y t r")
U, V = sp.Function("u")(X, T), sp.Function("v")(X, Y)
M, S = sp.Function("M")(T), sp.Function("s")(X)
HEAT, WAVE = U.diff(T) - U.diff(X, 2), U.diff(T, 2) - U.diff(X, 2)
BEAM = U.diff(T, 2) + U.diff(X, 4)
LEFT, RIGHT, MIDDLE = {X: 0}, {X: 1}, {X: 0.5}
WALLS = ("boundary", U)
HOT, STILL = ("initial", U - 1), ("initial", U - X, U.diff(T))
FILM = (RIGHT, U.diff(X) - M + U, M.diff(T) + U.diff(X))
HANGING = (RIGHT, U.diff(X) - M + U, M.diff(T, 2) + U.diff(X))
ON_BEAM = (RIGHT, M.diff(T, 2) - U.diff(X, 3), U.diff(X, 2))
CLAMP = (LEFT, U, U.diff(X))
MEAN = sp.Integral(U.subs(X, R), (R, 0, 1)) - 1 - T


def warned(equation, *conditions, duration=1.0):
    """Return the warnings of a declaration on 0 < x < 1."""
    domain = kp.geometry.Box({X: (0, 1)}, time={T: (0, duration)})
    if equation.has(Y):
        domain = kp.geometry.Box({X: (0, 1), Y: (0, 1)})
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        kp.Problem(
            domain,
            {"e": equation},
            {
                f"c{k}": kp.Condition([*e], on=on)
                for k, (on, *e) in enumerate(conditions)
            },
        )
    return " ".join(str(warning.message) for warning in caught)


@pytest.mark.parametrize(
    ("equation", "conditions"),
    [
        (V.diff(X, 2) + V.diff(Y, 2), [({Y: 0}, V - sp.sin(X), V.diff(Y))]),
        (HEAT, [(LEFT, U - T, U.diff(X) - 1)]),
        (U.diff(T) - (U * U.diff(X)).diff(X), [(LEFT, U - 1 - T, U.diff(X))]),
        (
            U.diff(T) + U * U.diff(X) + U.diff(X, 3),
            [(LEFT, U - T, U.diff(X), U.diff(X, 2))],
        ),
        (WAVE, [(LEFT, U, U.diff(X) - 1), (RIGHT, U - 1, U.diff(X) - 1)]),
        (WAVE, [(LEFT, U, U.diff(X)), (RIGHT, U), ("initial", U)]),
        (V.diff(X, Y) - 1, [(LEFT, V), ({Y: 0}, V)]),  # characteristics
        (V.diff(X, Y) - sp.sin(V), [(LEFT, V - 1), ({Y: 0}, V - 1)]),
    ],
)
def test_cauchy_data_and_data_on_characteristics_suffice(equation, conditions):
    assert warned(equation, *conditions) == ""


def test_underdetermined_wave_with_cauchy_data_on_a_side_warns():
    assert "missing" in warned(WAVE, (LEFT, U - T, U.diff(X) - 1))
    start = "initial", U - X
    assert "missing" in warned(WAVE, (LEFT, U - T, U.diff(X) - 1), start)


@pytest.mark.parametrize("duration", [1.0, 1e-2, 1e-4])
@pytest.mark.parametrize(
    ("equation", "conditions", "missing"),
    [
        (HEAT, [(LEFT, U), FILM, ("initial", U - X)], [M]),
        (WAVE, [(LEFT, U), HANGING, STILL], [M, M.diff(T)]),
        (BEAM, [CLAMP, ON_BEAM, STILL, ("initial", M - 1, M.diff(T))], None),
    ],
)
def test_mass_on_an_end_needs_its_initial_and_boundary_conditions(
    duration, equation, conditions, missing
):
    assert "missing" in warned(equation, *conditions, duration=duration)
    more = (RIGHT, U - M) if missing is None else ("initial", *missing)
    assert warned(equation, *conditions, more, duration=duration) == ""


def test_a_mass_that_moves_with_an_end_needs_no_further_conditions():
    tip = (RIGHT, U - M, M.diff(T, 2) + U.diff(X))
    assert warned(WAVE, (LEFT, U), tip, STILL) == ""


@pytest.mark.parametrize(
    ("equation", "conditions", "more"),
    [
        (HEAT - M, [WALLS, HOT], (MIDDLE, U - 1 - T)),  # the walls are cold
        (HEAT - M, [WALLS, HOT], (LEFT, MEAN)),
        (HEAT - S, [WALLS, ("initial", U)], ({T: 1}, U - X * (1 - X))),
        (HEAT, [(LEFT, U), (RIGHT, U.diff(X) - M), ("initial", U)], (MIDDLE, U - T)),
        (BEAM + U**3, [(LEFT, U, U.diff(X, 2)), (RIGHT, U), STILL], (RIGHT, U.diff(X))),
        (
            U.diff(T) + 6 * U * U.diff(X) + U.diff(X, 3),
            [("boundary", U), ("initial", U - sp.sech(X) ** 2)],
            (RIGHT, U.diff(X)),
        ),
    ],
)
def test_an_unknown_source_or_flux_needs_a_further_condition(
    equation, conditions, more
):
    assert "underdetermined" in warned(equation, *conditions)
    assert warned(equation, *conditions, more) == ""


@pytest.mark.parametrize("name", ["N", "Ma", "M_a"])
def test_two_coupled_masses_need_an_initial_value_each(name):
    second_mass = sp.Function(name)(T)
    coupled = (
        M.diff(T) + U.diff(X) + M - second_mass,
        second_mass.diff(T) + second_mass - M,
    )
    film = (RIGHT, U.diff(X) - M + U, *coupled)
    without_initial_masses = [(LEFT, U), ("initial", U - X), film]
    assert warned(HEAT, *without_initial_masses, ("initial", M, second_mass - 1)) == ""
    assert f"{name} - ..." in warned(HEAT, *without_initial_masses, ("initial", M))
