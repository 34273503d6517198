import numpy as np
import pytest
import sympy as sp

from keraspinn.expressions import normalize

x, y, t, n = sp.symbols("x y t n")
half = sp.Rational(1, 2)
U = sp.Function("u")
u = U(x, y)


def test_an_equation_becomes_a_difference():
    assert normalize(sp.Eq(u.diff(x), sp.sin(y))) == u.diff(x) - sp.sin(y)
    assert normalize(sp.Eq(u, 0)) == u


def test_expression_without_an_equation_is_unchanged():
    assert normalize(u.diff(x, 2) + u) == u.diff(x, 2) + u


def test_evaluates_derivatives_of_products_and_functions():
    assert normalize((u * u.diff(x)).diff(x)) == u * u.diff(x, 2) + u.diff(x) ** 2
    unevaluated = sp.Derivative(u**2 * sp.sin(x), x)
    assert normalize(unevaluated) == 2 * u * u.diff(x) * sp.sin(x) + u**2 * sp.cos(x)


@pytest.mark.parametrize(
    ("equation", "error", "message"),
    [
        (sp.Eq(u, u), ValueError, "Received True"),
        (u == x, ValueError, r"`==` was used.*sympy\.Eq\(left, right\)"),
        (3, TypeError, r"Received 3 of type int\. Write `sympy\.Eq\(u, 3\)`"),
        (2.5, TypeError, r"Write `sympy\.Eq\(u, 2\.5\)`"),
        (np.float64(1), TypeError, r"Write `sympy\.Eq"),
        ("u", TypeError, "Text is never evaluated"),
        ([u], TypeError, "one by one"),
        (None, TypeError, "NoneType"),
        (U, TypeError, r"Apply the function .* u\(x, y\)"),
        (u > 0, TypeError, "StrictGreaterThan.*Inequalities"),
        (sp.Ne(u, 0), TypeError, "Unequality"),
        (sp.Matrix([u]), TypeError, "must be a scalar"),
        (sp.Eq(sp.Matrix([u]), sp.Matrix([1])), TypeError, "must be a scalar"),
        (sp.MatrixSymbol("A", 2, 2), TypeError, "must be a scalar"),
        (sp.Integral(u, x), ValueError, "lower and an upper limit"),
        (sp.Derivative(u, t), ValueError, "always zero.*does not depend on t"),
        (u + sp.Derivative(u, sp.Symbol("x", real=True)), ValueError, "always zero"),
        (sp.Derivative(u, (x, half)), ValueError, "integer. Received 1/2"),
        (sp.Derivative(u, (x, 2.0)), ValueError, "integer. Received 2.0"),
        (sp.Derivative(sp.sin(u), (x, n)), ValueError, "integer. Received n"),
        (sp.Derivative(u, x, (x, n)), ValueError, r"integer. Received n \+ 1"),
        (sp.Derivative(u, (x, sp.I)), ValueError, "integer. Received I"),
    ],
    ids=str,
)
def test_rejects_invalid_equations(equation, error, message):
    with pytest.raises(error, match=message):
        normalize(equation)


def test_evaluates_finite_sums_and_products():
    assert normalize(sp.Sum(u, (x, 0, 1))) == U(0, y) + U(1, y)
    assert normalize(sp.Product(u + n, (n, 1, 2))) == (u + 1) * (u + 2)
    assert normalize(sp.Eq(u, sp.Sum(x, (x, 1, 3)))) == u - 6


def test_evaluates_numbers_of_other_functions():
    normalized = normalize(sp.gamma(sp.Rational(26, 5)) * u + sp.sin(1) * u)
    assert not normalized.has(sp.gamma) and normalized.has(sp.sin)
    assert float(normalized.coeff(u).evalf()) == pytest.approx(
        32.57810 + 0.84147, rel=1e-6
    )


@pytest.mark.parametrize("real", [True, None])
@pytest.mark.parametrize("shift", [0, 1])
def test_derivatives_of_abs_by_the_field_are_real(real, shift):
    """As in the capacity of Richards' equation."""
    v = sp.Function("v", real=real)(x)
    capacity = ((1 + sp.Abs(0.5 * v + shift) ** 1.5) ** -0.4).diff(v)
    z, slope = 0.5 * -3.0 + shift, 0.5
    bent = 1.5 * abs(z) ** 0.5 * np.sign(z) * slope
    expected = -0.4 * (1 + abs(z) ** 1.5) ** -1.4 * bent
    value = normalize(capacity * v.diff(x)).subs(v.diff(x), 1).subs(v, -3.0)
    assert float(value) == pytest.approx(expected)
