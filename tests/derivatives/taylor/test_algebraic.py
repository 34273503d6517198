"""Series of piecewise algebraic expressions, against SymPy's derivatives."""

import numpy as np
import pytest
import sympy as sp
from keras import ops

import keraspinn as kp
from keraspinn.derivatives.taylor import IndexSet, Taylor
from keraspinn.derivatives.taylor.algebraic import is_algebraic, series_of
from keraspinn.residuals.hard import HardConstraint, _derivative

X, Y = sp.symbols("x y")
INDICES = [(0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2), (1, 2)]
ROOT = sp.sqrt(X**2 + (Y - 2) ** 2 / 3)
EXPRESSIONS = [
    X**3 * Y - 2 * X + sp.Rational(1, 3),
    ROOT / (1 + ROOT),
    sp.Piecewise((X * Y, X > 0), (Y**2 - 1, (Y > 0) & (X <= -0.5)), (ROOT, True)),
    1 / (3 + X * Y) ** sp.Rational(3, 2),
    sp.erf(X * Y) - sp.exp(-(X**2)) * sp.atan(2 * Y),
    sp.log(3 + X) * sp.sin(Y) / sp.cos(X) + sp.tanh(X - Y),
]


def of(expression, points, indices):
    x = Taylor.of_points(ops.convert_to_tensor(points), IndexSet(indices))
    (series,) = series_of([expression], ["x", "y"], x)
    return series


@pytest.mark.parametrize("expression", EXPRESSIONS, ids=str)
def test_derivatives_agree_with_sympy(expression):
    assert is_algebraic(expression)
    points = np.random.default_rng(0).uniform(-1, 1, (50, 2))
    series = of(expression, points, INDICES)
    for index in INDICES:
        exact = sp.lambdify((X, Y), expression.diff(X, index[0], Y, index[1]))(
            *points.T
        )
        actual = ops.convert_to_numpy(series.derivative(index))[:, 0]
        np.testing.assert_allclose(actual, exact, rtol=1e-11, atol=1e-12)


@pytest.mark.parametrize("expression", [sp.cosh(X), X**Y, abs(X)])
def test_nonalgebraic_expressions_are_differentiated_by_sympy(expression):
    assert not is_algebraic(expression)


@pytest.mark.slow
def test_hard_constraint_on_a_polygon_with_a_reentrant_corner():
    u = sp.Function("u")(X, Y)
    corners = [(-1, -1), (0, -1), (0, 0), (1, 0), (1, 1), (-1, 1)]
    domain = kp.geometry.Polygon(corners, coordinates=(X, Y))
    laplace = {"laplace": u.diff(X, 2) + u.diff(Y, 2)}
    rim = {"rim": kp.Condition(u - X, on="boundary", hard=True)}
    constraint = HardConstraint(kp.Problem(domain, laplace, rim))
    points = np.array([[-0.5, 0.5], [-0.1, 0.2], [0.7, 0.3], [-0.9, -0.2]])
    zero = Taylor(IndexSet([(1, 1)]), {(0, 0): ops.zeros((4, 1), "float64")})
    one = Taylor(zero.indices, {(0, 0): ops.ones((4, 1), "float64")})
    tensor = ops.convert_to_tensor(points)
    by_network = [constraint.series(tensor, n).derivative((1, 1)) for n in (one, zero)]
    actual = ops.convert_to_numpy(by_network[0] - by_network[1])[:, 0]
    symbols = constraint._symbols
    exact = _derivative(constraint._factors[0], symbols, (1, 1))
    exact = [float(exact.subs(dict(zip(symbols, p, strict=True)))) for p in points]
    np.testing.assert_allclose(actual, exact, rtol=1e-9)
