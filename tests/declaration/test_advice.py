"""Errors about expressions, geometries and weights, whose advice works."""

import numpy as np
import pytest
import scipy.special
import sympy as sp

import keraspinn as kp
from keraspinn.expressions import normalize

X, Y, T = sp.symbols("x y t")
U, W, Q = sp.Function("u")(X), sp.Function("w")(X, Y), sp.Function("q")(X)
BAR = kp.geometry.Box({X: (0, 1)})
SQUARE = kp.geometry.Box({X: (0, 1), Y: (0, 1)})
ENDS = {"ends": kp.Condition(U, on="boundary")}

pytestmark = pytest.mark.filterwarnings("error::UserWarning")


def declared(*equations, conditions=ENDS, domain=BAR):
    named = {f"e{k}": equation for k, equation in enumerate(equations)}
    return kp.Problem(domain, named, conditions)


def in_numbers(expression, exact, points):
    """Evaluate an expression in u for a known u."""
    field = next(iter(expression.atoms(sp.Function("u"))), U)
    values = expression.subs(field, exact).doit()
    return sp.lambdify(X, values, "numpy")(points)


@pytest.mark.parametrize("is_real", [True, None])
@pytest.mark.parametrize("order", [0, 1, 2])
@pytest.mark.parametrize("power", [1, sp.Rational(3, 2), 2])
def test_absolute_values_of_derivatives_are_those_of_real_numbers(
    is_real, order, power
):
    x = sp.Symbol("x", real=is_real)
    u = sp.Function("u", real=is_real)(x)
    flux = sp.Abs(u.diff(x)) ** power * u.diff(x)
    derivative = normalize(flux.diff(x, order) if order else flux)
    slope, points = sp.cos(3 * X), np.array([0.1, 0.3, 0.7, 0.9])
    branches = slope ** (power + 1), -((-slope) ** (power + 1))
    above, below = (sp.lambdify(X, e.diff(X, order))(points + 0j) for e in branches)
    exact = np.where(np.cos(3 * points) > 0, above, below).real
    values = derivative.subs(u, sp.sin(3 * x) / 3).doit()
    np.testing.assert_allclose(sp.lambdify(x, values)(points), exact, rtol=1e-9)


def test_complex_parts_raise_and_the_advice_works():
    psi = sp.Function("u")(X)
    with pytest.raises(ValueError, match="a complex field as two real ones"):
        declared(sp.re(psi).diff(X, 2) + sp.im(psi))
    v = sp.Function("v")(X)
    both = {"ends": kp.Condition([U, v - 1], on="boundary")}
    declared(U.diff(X, 2) + v, v.diff(X, 2) - U, conditions=both)
    x = sp.Symbol("x", real=True)
    u = sp.Function("u", real=True)(x)
    bar, ends = kp.geometry.Box({x: (0, 1)}), kp.Condition(u, on="boundary")
    declared(u.diff(x, 2) + sp.re(u.diff(x)), conditions={"e": ends}, domain=bar)


def test_a_delta_times_zero_vanishes():
    for z in (U, U - 1, U.diff(X)):
        curvature = normalize((sp.Max(z, 0) ** 2).diff(X, 2))
        assert not curvature.has(sp.DiracDelta)
        exact = 2 * sp.Heaviside(z) * (sp.Max(z, 0) * z.diff(X)).diff(X)
        left, right = (
            in_numbers(e, sp.sin(5 * X) + 1 / sp.S(2), np.linspace(0.05, 1, 7))
            for e in (curvature, exact.subs(sp.DiracDelta(z), 0))
        )
        np.testing.assert_allclose(left, right, rtol=1e-9)
    assert normalize(sp.Max(U, 0).diff(X, 2)).has(sp.DiracDelta)
    assert not normalize((sp.sign(U) * U**2).diff(X, 2)).has(sp.DiracDelta)
    assert normalize((sp.sign(U) * U).diff(X, 2)).has(sp.DiracDelta)
    declared((sp.Max(U, 0) ** 2).diff(X, 2) + 1)


def test_a_conductivity_that_jumps_raises_and_the_advice_works():
    k = 1 + sp.Heaviside(X - 0.5)
    with pytest.raises(ValueError, match="derivative of a jump.*declare the flux"):
        declared((k * U.diff(X)).diff(X) + 1)
    declared(U.diff(X) - Q / k, Q.diff(X) + 1)
    smooth = (1 + sp.tanh((X - 0.5) / 0.05)) / 2
    declared(((1 + smooth) * U.diff(X)).diff(X) + 1)
    declared(U.diff(X, 2) + sp.exp(-(((X - 0.5) / 0.05) ** 2)))


def test_inequalities_raise_and_the_advice_works():
    obstacle = sp.Rational(1, 2) - 4 * (X - 0.5) ** 2
    with pytest.raises(TypeError, match=r"sympy\.Min\(u - g, e\)"):
        declared(sp.Ge(U, obstacle))
    declared(sp.Min(U - obstacle, -U.diff(X, 2)))


@pytest.mark.parametrize("argument", [X, U])
def test_bessel_functions_raise_and_the_advice_works(argument):
    with pytest.raises(ValueError, match=r"besselj.*Tabulated.*scipy\.special"):
        declared(U.diff(X, 2) + sp.besselj(0, argument))
    r = np.linspace(-5, 5, 201)
    j0 = kp.Tabulated(r, scipy.special.j0(r))
    declared(U.diff(X, 2) + j0(argument))


@pytest.mark.parametrize("weight", [X, [1.0, 2.0]])
def test_weights_of_points_raise_and_the_advice_works(weight):
    with pytest.raises(ValueError, match=r"sympy\.sqrt\(w\)"):
        kp.Condition(W - 1, on="boundary", weight=weight)
    w = 1 + X**2
    weighted = {"wall": kp.Condition(sp.sqrt(w) * (W - 1), on="boundary")}
    declared(W.diff(X, 2) + W.diff(Y, 2), conditions=weighted, domain=SQUARE)
    points = np.array([[0.2], [0.6]])
    factor = np.sqrt(1 + points[:, 0] ** 2)
    kp.Data(points, {sp.sqrt(w) * U: factor * np.array([1.0, 2.0])})


def test_a_normal_inside_raises_and_the_advice_works():
    laplace = W.diff(X, 2) + W.diff(Y, 2)
    for domain in (SQUARE, SQUARE - kp.geometry.Disk((0.5, 0.5), 0.1)):
        wall = kp.Condition(W, on="boundary")
        slope = kp.Condition(kp.normal_derivative(W, domain) - 1, on={X: 0.25})
        with pytest.raises(ValueError, match=r"no normal on x = 0\.25.*u\.diff\(x\)"):
            declared(laplace, conditions={"w": wall, "n": slope}, domain=domain)
        slope = kp.Condition(W.diff(X) - 1, on={X: 0.25})
        declared(laplace, conditions={"w": wall, "n": slope}, domain=domain)


def test_a_sector_in_the_order_of_an_annulus_raises_and_the_advice_works():
    for arguments in (((0, 0), 0.5, 1, (0, 1.5)), ((0, 0), 1, (0, 1, 2))):
        with pytest.raises(ValueError, match=r"center, radius, angles, inner"):
            kp.geometry.Sector(*arguments, coordinates=(X, Y))
    sector = kp.geometry.Sector((0, 0), 1, (0, 1.5), 0.5, coordinates=(X, Y))
    assert sector.measure(sector.interior) == pytest.approx(0.5625)


def test_intervals_by_name_raise_and_the_advice_works():
    with pytest.raises(TypeError, match=r"Box\(\{x: \(0, 1\)\}\).*\'x\': \(0, 1\)"):
        kp.geometry.Box(x=(0, 1))
    x = sp.Symbol("x")
    assert str(kp.geometry.Box({x: (0, 1)})) == "x ∈ [0, 1]"


@pytest.mark.parametrize("equation", [sp.Function("u").diff(X), sp.S.One])
def test_a_function_without_arguments_raises(equation):
    with pytest.raises(ValueError, match="apply it to the coordinates first"):
        declared(equation)
    with pytest.raises(ValueError, match=r"Function\('u'\)\.diff\(x\)"):
        normalize(sp.Eq(equation, 1))


def test_numbers_far_from_zero_are_written_with_their_digits():
    box = kp.geometry.Box({X: (0, 1)}, time={T: (1.7e9, 1.7e9 + 3600)})
    assert str(box) == "x ∈ [0, 1] × t ∈ [1700000000, 1700003600]"
    with pytest.raises(ValueError, match="t goes from 1700000000 to 1700003600"):
        box.blocks({T: 5})
    condition = kp.Condition(sp.Function("v")(X, T), on={T: 1.7e9 + 1800})
    assert "1700001800" in str(condition)
    assert str(kp.geometry.Box({X: (0, 1 / 3)})) == "x ∈ [0, 0.333333]"


def test_a_logistic_front_that_overflows_raises_and_the_advice_works():
    """Write the front as tanh, which SymPy does not split into exponentials."""
    with pytest.raises(ValueError, match=r"equation 'e0'.*\(1 \+ tanh\(z\)\)/2"):
        declared(U.diff(X, 2) - 1 / (1 + sp.exp(-(X - 0.5) / 1e-4)))
    declared(U.diff(X, 2) - (1 + sp.tanh((X - 0.5) / 2e-4)) / 2)
    declared(U.diff(X, 2) - 1 / (1 + sp.exp(-(X - sp.Rational(1, 2)) * 10**4)))


def test_a_constant_that_underflows_raises_and_the_advice_works():
    """SymPy splits exp(-1000.0) off a narrow function with a period."""
    with pytest.raises(ValueError, match=r"equation 'e0'.*write a as a fraction"):
        declared(U.diff(X, 2) - sp.exp(1000.0 * (sp.cos(6 * X) - 1)))
    declared(U.diff(X, 2) - sp.exp(1000 * (sp.cos(6 * X) - 1)))


def test_a_fractional_order_raises_and_the_advice_works():
    half = sp.Derivative(U, (X, sp.Rational(1, 2)))
    for declare in (declared, lambda e: kp.Data([[0.5]], {e: [1]}).__repr__()):
        with pytest.raises(ValueError, match="must be an integer. Received 1/2"):
            declare(half)
    r, at_left = sp.Symbol("r"), {"left": kp.Condition(U, on={X: 0})}
    integral = sp.Integral(U.diff(X).subs(X, X - r**2), (r, 0, sp.sqrt(X)))
    caputo = 2 / sp.sqrt(sp.pi) * integral
    declared(sp.Eq(caputo, 2 * sp.sqrt(X / sp.pi)), conditions=at_left)
    exact = integral.subs(U.diff(X), 1).doit().subs(X, 0.3)
    assert float(exact) == pytest.approx(0.3**0.5)
