import pytest
import sympy as sp

import keraspinn as kp
from keraspinn.expressions import Program, normalize
from keraspinn.expressions.combinations import combined_derivatives

X, Y = sp.symbols("x y")
U, V = (sp.Function(name)(X, Y) for name in "uv")
NU = kp.Parameter("nu", initial=1.0)
LAPLACIAN = U.diff(X, 2) + U.diff(Y, 2)
SUM = (((0, 2), 1.0), ((2, 0), 1.0))


def combinations(*expressions):
    return combined_derivatives([normalize(e) for e in expressions], (X, Y))


@pytest.mark.parametrize(
    "expression",
    [
        LAPLACIAN + U,
        LAPLACIAN * sp.exp(X * Y) + U.diff(X),
        NU * LAPLACIAN - sp.sin(U),
        sp.exp(-LAPLACIAN) + LAPLACIAN**2 * U,
        sp.Piecewise((LAPLACIAN, X > 0), (U, True)),
    ],
)
def test_a_laplacian_is_one_combination(expression):
    assert combinations(expression) == (SUM,)


def test_weights_are_those_of_the_equation():
    (wave,) = combinations(3 * U.diff(X, 2) - U.diff(Y, 2) / 2)
    assert dict(wave) == {(0, 2): 1.0, (2, 0): -6.0}
    (heat,) = combinations(U.diff(Y) - 0.1 * U.diff(X, 2))
    assert dict(heat) == {(0, 1): 1.0, (2, 0): pytest.approx(-0.1)}


def test_fields_and_equations_share_combinations():
    laplacian_of_v = V.diff(X, 2) + V.diff(Y, 2)
    assert combinations(LAPLACIAN + V, laplacian_of_v - U.diff(X)) == (SUM,)
    assert combinations(LAPLACIAN * laplacian_of_v) == (SUM,)


@pytest.mark.parametrize(
    "expressions",
    [
        [U.diff(X, 2)],
        [U.diff(X, 2) + X * U.diff(Y, 2)],
        [U.diff(X, 2) + NU * U.diff(Y, 2)],
        [U.diff(X, 2) * U.diff(Y, 2)],
        [U.diff(X, 2), U.diff(Y, 2)],
        [LAPLACIAN, U.diff(X, 2) - U.diff(Y, 2)],
        [LAPLACIAN + U.diff(X, 2, Y, 2)],
        [U + V],
        [1e20 * U.diff(X, 2) + 1e-20 * U.diff(Y, 2)],
        [U.diff(X, 2) + 1e-320 * U.diff(Y, 2)],
    ],
)
def test_no_combinations_without_savings(expressions):
    assert combinations(*expressions) == ()


def test_a_coefficient_that_is_a_sum_has_numeric_ratios():
    """Recognize 3 (1 + xy) / (2 (1 + xy)), in which SymPy multiplies out."""
    factor = 1 + X * Y
    assert combinations(
        0.3 * (factor * U.diff(X, 2)) + 0.6 * (factor * U.diff(Y, 2))
    ) == ((((0, 2), 1.0), ((2, 0), pytest.approx(0.5))),)


def test_contained_derivatives_are_not_highest():
    """Combine only u_yy and u_xxy: u_xxy contains u_xx."""
    (combination,) = combinations(U.diff(X, 2, Y) + U.diff(Y, 2) + U.diff(X, 2))
    assert dict(combination) == {(0, 2): 1.0, (2, 1): 1.0}


def test_third_derivatives_of_the_cavity():
    momentum = kp.problems.lid_driven_cavity().equations.values()
    assert combined_derivatives(momentum, (X, Y)) == (
        (((0, 3), 1.0), ((2, 1), 1.0)),
        (((1, 2), 1.0), ((3, 0), 1.0)),
    )


def test_a_program_has_combinations():
    assert Program([LAPLACIAN], (X, Y)).combinations == (SUM,)
    assert Program([U], (X, Y)).combinations == ()
