"""Tests of functions against NumPy and SciPy, of derivatives against SymPy."""

import numpy as np
import pytest
import scipy.special
import sympy as sp
from keras import ops

import tensors
from keraspinn.expressions import Interpolation, PartIntegral, Program
from keraspinn.expressions.image import At
from keraspinn.expressions.line_integral import LineIntegral
from keraspinn.expressions.nodes import NODES

x, y = sp.symbols("x y", real=True)
WIDE = np.array([-2.3, -1.1, -0.4, 0.3, 0.9, 1.7])
UNIT = np.array([-0.9, -0.5, -0.1, 0.2, 0.6, 0.95])
OVER = np.array([1.1, 1.5, 2.0, 3.7])

CASES = [
    (sp.exp(x), np.exp, WIDE),
    (sp.log(x), np.log, OVER),
    (sp.sin(x), np.sin, WIDE),
    (sp.cos(x), np.cos, WIDE),
    (sp.tan(x), np.tan, WIDE),
    (sp.cot(x), lambda z: 1 / np.tan(z), WIDE),
    (sp.sec(x), lambda z: 1 / np.cos(z), WIDE),
    (sp.csc(x), lambda z: 1 / np.sin(z), WIDE),
    (sp.asin(x), np.arcsin, UNIT),
    (sp.acos(x), np.arccos, UNIT),
    (sp.atan(x), np.arctan, WIDE),
    (sp.atan2(x, 2 - x), lambda z: np.arctan2(z, 2 - z), WIDE),
    (sp.sinh(x), np.sinh, WIDE),
    (sp.cosh(x), np.cosh, WIDE),
    (sp.tanh(x), np.tanh, WIDE),
    (sp.coth(x), lambda z: 1 / np.tanh(z), WIDE),
    (sp.sech(x), lambda z: 1 / np.cosh(z), WIDE),
    (sp.csch(x), lambda z: 1 / np.sinh(z), WIDE),
    (sp.asinh(x), np.arcsinh, WIDE),
    (sp.acosh(x), np.arccosh, OVER),
    (sp.atanh(x), np.arctanh, UNIT),
    (sp.erf(x), scipy.special.erf, WIDE),
    (sp.erfc(x), scipy.special.erfc, WIDE),
    (sp.Abs(x), np.abs, WIDE),
    (sp.sign(x) * x, np.abs, WIDE),
    (sp.Heaviside(x) * x, lambda z: np.maximum(z, 0), WIDE),
    (sp.Max(x, x**2, 1), lambda z: np.maximum(np.maximum(z, z**2), 1), WIDE),
    (sp.Min(x, x**2, 1), lambda z: np.minimum(np.minimum(z, z**2), 1), WIDE),
    (sp.sqrt(x), np.sqrt, OVER),
    (1 / sp.sqrt(x), lambda z: z**-0.5, OVER),
    (x ** sp.Rational(3, 2), lambda z: z**1.5, OVER),
    (x ** sp.Rational(1, 3), np.cbrt, OVER),
    (x**sp.pi, lambda z: z**np.pi, OVER),
    (2**x, np.exp2, WIDE),
    (sp.Float(2.5) ** (x + 1), lambda z: 2.5 ** (z + 1), WIDE),
    (x ** (x / 2), lambda z: z ** (z / 2), OVER),
    *[(x**n, lambda z, n=n: z ** float(n), WIDE) for n in (2, 3, 4, 7, 16, 21)],
    *[(x**-n, lambda z, n=n: z ** float(-n), WIDE) for n in (1, 2, 3, 5)],
    (x ** sp.Float(2.0), lambda z: z**2, WIDE),
    (x - 3 * x**2 / 7, lambda z: z - 3 * z**2 / 7, WIDE),
    (-x - 2, lambda z: -z - 2, WIDE),
    (2 - x, lambda z: 2 - z, WIDE),
    (-x - x**2, lambda z: -z - z**2, WIDE),
    (-3 / x + 5 / (2 * x**2), lambda z: -3 / z + 2.5 / z**2, WIDE),
    (
        sp.Piecewise((x**2, x < 0), (sp.sin(x), x < 1), (2, True)),
        lambda z: np.where(z < 0, z**2, np.where(z < 1, np.sin(z), 2)),
        WIDE,
    ),
]


def evaluate(expression, points, dtype="float64", compiled=False):
    """Return the values and their derivatives."""
    program = Program([expression], (x,))

    def value_and_slope(points):
        def total(points):
            return ops.sum(program({"x": points}, {})[0])

        return program({"x": points}, {})[0], tensors.gradient(total, points)

    if compiled:
        value_and_slope = tensors.compiled(value_and_slope)
    value, slope = value_and_slope(ops.convert_to_tensor(points, dtype))
    value, slope = ops.convert_to_numpy(value), ops.convert_to_numpy(slope)
    assert value.dtype == slope.dtype == dtype
    return value, slope


@pytest.mark.parametrize(("expression", "reference", "points"), CASES)
def test_value_and_derivative(expression, reference, points):
    value, slope = evaluate(expression, points)
    np.testing.assert_allclose(value, reference(points), rtol=1e-12, atol=1e-14)
    derivative = expression.diff(x)
    exact = [complex(derivative.subs(x, sp.Float(z, 30)).evalf(20)) for z in points]
    np.testing.assert_allclose(slope, exact, rtol=1e-10, atol=1e-12)


def test_every_function_has_a_case():
    structural = {node for node in NODES if not issubclass(node, sp.Expr)}
    structural |= {At, PartIntegral, LineIntegral, Interpolation}  # tested elsewhere
    seen = {type(n) for case in CASES for n in sp.preorder_traversal(case[0])}
    assert set(NODES) - structural <= seen


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_all_functions_compile_in_one_program(dtype):
    expression = sum(case[0] for case in CASES if case[2] is WIDE)
    eager, eager_slope = evaluate(expression, WIDE, dtype)
    value, slope = evaluate(expression, WIDE, dtype, compiled=True)
    tolerance = 2e-4 if dtype == "float32" else 1e-11
    np.testing.assert_allclose(value, eager, rtol=tolerance)
    np.testing.assert_allclose(slope, eager_slope, rtol=tolerance)


@pytest.mark.parametrize("function", [sp.sech, sp.csch, sp.tanh, sp.coth, sp.erfc])
@pytest.mark.parametrize("size", [50.0, 200.0, 1000.0])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_no_nan_for_large_arguments(function, size, dtype):
    value, slope = evaluate(function(x), [-size, size], dtype)
    assert np.isfinite(value).all() and np.isfinite(slope).all()


def test_sech_and_its_curvature_at_zero():
    program = Program([sp.sech(x)], (x,))
    curvature = tensors.nested_gradients(
        lambda points: ops.stack(program({"x": points[:, 0]}, {}), -1),
        ops.convert_to_tensor([[0.0], [0.5]], "float64"),
        (2,),
    )[:, 0]
    exact = [float(sp.sech(x).diff(x, 2).subs(x, z).evalf()) for z in (0, 0.5)]
    np.testing.assert_allclose(curvature, exact, rtol=1e-12)


@pytest.mark.parametrize("exponent", [2, 3, 5, -2, -3, 40, 1100])
def test_whole_powers_of_negative_bases_have_gradients(exponent):
    _, slope = evaluate(x**exponent, [-1.3, -0.7])
    expected = exponent * np.array([-1.3, -0.7]) ** float(exponent - 1)
    np.testing.assert_allclose(slope, expected, rtol=1e-12)


def test_whole_powers_have_gradients_at_zero():
    assert evaluate(x**2 + x**3, [0.0])[1] == [0.0]


@pytest.mark.parametrize(
    ("heaviside", "at_zero"),
    [(sp.Heaviside(x), 0.5), (sp.Heaviside(x, 1), 1.0), (sp.Heaviside(x, 0), 0.0)],
)
def test_heaviside_at_zero(heaviside, at_zero):
    value, _ = evaluate(heaviside, [-1.0, 0.0, 1.0])
    assert value.tolist() == [0.0, at_zero, 1.0]


def test_sign_and_abs_at_zero():
    assert evaluate(sp.sign(x), [-2.0, 0.0, 2.0])[0].tolist() == [-1.0, 0.0, 1.0]
    assert evaluate(sp.Abs(x), [0.0])[1] == (1 if tensors.ON_JAX else 0)


CONDITIONS = [
    (x < 1, [1, 0, 0]),
    (x <= 1, [1, 1, 0]),
    (x > 1, [0, 0, 1]),
    (x >= 1, [0, 1, 1]),
    (sp.Eq(x, 1), [0, 1, 0]),
    (sp.Ne(x, 1), [1, 0, 1]),
    ((x > 0) & (x < 2), [0, 1, 0]),
    ((x < 1) | (x > 1), [1, 0, 1]),
    (sp.Not((x > 0) & (x < 2), evaluate=False), [1, 0, 1]),
]


@pytest.mark.parametrize(("condition", "expected"), CONDITIONS, ids=str)
def test_relational_conditions_of_piecewise(condition, expected):
    value, _ = evaluate(sp.Piecewise((1, condition), (0, True)), [0.0, 1.0, 2.0])
    assert value.tolist() == expected


def test_the_first_true_condition_wins_and_none_is_nan():
    expression = sp.Piecewise((1, x < 1), (2, x < 2))
    value, _ = evaluate(expression, [0.0, 1.5, 3.0])
    np.testing.assert_array_equal(value, [1.0, 2.0, np.nan])


@pytest.mark.parametrize(
    "expression",
    [
        sp.Piecewise((sp.sqrt(x), x > 0), (0, True)),
        sp.Piecewise((0, x <= 0), (sp.log(x), True)),
        sp.Piecewise((1, x < 0.5), (2 * x, x < 1), (sp.sqrt(x - 1), True)),
        sp.Piecewise((0, x <= 0), (1 / x, x < 2), (1 / (x - 2), True)),
        sp.Piecewise(
            (sp.Piecewise((sp.sqrt(x), x < 1), (sp.acosh(x), True)), x > 0), (x, True)
        ),
    ],
    ids=str,
)
@pytest.mark.parametrize("compiled", [False, True])
def test_branches_not_chosen_pass_no_gradient(expression, compiled):
    points = [-1.0, 0.0, 0.25, 1.5]
    value, slope = evaluate(expression, points, compiled=compiled)
    derivative = expression.diff(x)
    exact = [float(derivative.subs(x, sp.Float(z)).evalf()) for z in points]
    assert np.isfinite(value).all()
    np.testing.assert_allclose(slope, exact, rtol=1e-12)
