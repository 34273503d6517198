"""Coefficients that a floating-point type cannot hold."""

import pytest
import sympy as sp

import keraspinn as kp
from keraspinn.declaration.validation.magnitudes import (
    check_coordinates,
    check_magnitudes,
    magnitude,
)
from keraspinn.expressions import normalize

X, Y = sp.symbols("x y")
U = sp.Function("u")(X, Y)
LAPLACIAN = U.diff(X, 2) + U.diff(Y, 2)


def said(equation, dtype="float32", sizes=None):
    return check_magnitudes({"equation 'e'": normalize(equation)}, dtype, sizes)


def test_a_function_is_no_larger_than_where_fields_are_one_or_minus_one():
    rate = 1e13 * sp.exp(-28 / (0.1 * U + 0.9))  # 7 of 1e13
    assert said(LAPLACIAN - rate) is None
    assert "1e+13" in said(LAPLACIAN - 1e13 * sp.exp(-0.1 * U))
    assert "1e+28" in said(LAPLACIAN - 1e28 * sp.exp(-60 * U))  # at -1 even more
    assert said(LAPLACIAN - sp.exp(40 * U)) is None  # where fields are less it is small


@pytest.mark.parametrize(
    "equation",
    [
        6.1e-39 * U.diff(X, 2) - 1e-20 * U,
        1e-22 * LAPLACIAN + 1e-22 * U,
        210e9 * LAPLACIAN / (1 - sp.Rational(3, 10) ** 2),
        sp.Rational(1, 10**25) * (U.diff(X) - U**2),
        U - 1e35,
        LAPLACIAN + kp.Parameter("E", 210e9) * U,
        (1e4 + U) ** 4,
    ],
)
def test_what_float32_cannot_hold_is_told(equation):
    sentence = said(equation)
    assert "equation 'e': float32 cannot hold" in sentence
    assert "Nondimensionalise" in sentence and "float64" in sentence


@pytest.mark.parametrize(
    "equation",
    [
        U.diff(X) + U * U.diff(Y) - 0.01 / sp.pi * U.diff(X, 2),
        LAPLACIAN + 1e-20 * U,
        1e-7 * U.diff(X, 2) - 1e-3 * sp.exp(-1e4 * (X - 0.5) ** 2),
        1e5 * (U**3 - U) + 1e-4 * U.diff(X, 2),
        sp.Piecewise((1000.0, X < 0.5), (0, True)) + U,
    ],
)
def test_what_it_can_hold_is_not(equation):
    assert said(equation) is None


def test_float64_holds_more():
    assert said(1e-22 * LAPLACIAN, "float64") is None
    assert "float64 cannot hold" in said(1e-200 * LAPLACIAN, "float64")


def test_the_sizes_of_terms_are_told():
    sentence = said(210e9 * U.diff(X, 2) - 5.0 * U)
    assert "1e+11 of 210000000000.0*u_xx" in sentence and "1e+1 of -5.0*u" in sentence


def test_sizes_of_coordinates_count():
    assert said(X**2 * LAPLACIAN - U) is None
    assert "size 1e+19" in said(X**2 * LAPLACIAN - U, sizes={X: 3e9})
    assert magnitude(X**2 / Y, {X: 1e-3, Y: 10.0}) == pytest.approx(-7)
    assert magnitude(sp.S.Zero) == float("-inf")


UNIX = {X: (1.7e9, 1.7e9 + 100), Y: (0.0, 1.0)}


def test_coordinates_far_from_zero_are_told_where_they_are_used():
    used = {"equation 'e'": U.diff(X) - sp.sin(X)}
    sentence = check_coordinates(used, UNIX, "float32")
    assert "equation 'e': float32 does not tell apart" in sentence
    assert "Measure x from 1700000000" in sentence and "float64" in sentence
    assert check_coordinates(used, UNIX, "float64") is None
    assert check_coordinates({"e": U.diff(X) - sp.sin(Y) + U}, UNIX, "float32") is None
    assert check_coordinates(used, {X: (1e9, 1e9 + 1e-5)}, "float64")
