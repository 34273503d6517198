"""Tests of tables: against SciPy, finite differences, and their saved files."""

import copy
import pickle

import keras
import numpy as np
import pytest
import sympy as sp
from keras import ops
from scipy.interpolate import BSpline, RegularGridInterpolator, make_interp_spline

from keraspinn import backend
from keraspinn.expressions import Program, Tabulated, from_json, normalize, to_json

X, Y, Z = sp.symbols("x y z")
GENERATOR = np.random.default_rng(0)
EVEN, UNEVEN = np.linspace(-1, 2, 12), np.sort(GENERATOR.random(9)) * 3
POINTS = GENERATOR.random((50, 3)) * [3, 2.0, 1] + [-1, 0.5, 0]


def evaluate(expression, dtype="float64", points=POINTS, compiled=False):
    with backend.double_precision():
        program = Program([expression], (X, Y, Z))
        columns = {
            n: ops.convert_to_tensor(points[:, k], dtype) for k, n in enumerate("xyz")
        }
        run = backend.compiled(lambda c: program(c, {})) if compiled else None
        (values,) = run(columns) if compiled else program(columns, {})
        return ops.convert_to_numpy(values)


@pytest.mark.parametrize("axis", [EVEN, np.sort(GENERATOR.random(20)) * 3 - 1])
@pytest.mark.parametrize("degree", [1, 3])
def test_table_of_one_variable_is_scipys_spline(axis, degree):
    values, inside = GENERATOR.random(len(axis)), np.clip(POINTS[:, 0], *axis[[0, -1]])
    spline = make_interp_spline(axis, values, degree)
    expression = Tabulated(axis, values, degree)(X)
    np.testing.assert_allclose(evaluate(expression), spline(inside), atol=1e-10)
    within = (POINTS[:, 0] > axis[0]) & (POINTS[:, 0] < axis[-1])
    for order in range(1, degree + 1):
        actual = evaluate(expression.diff(X, order))[within]
        exact = BSpline.derivative(spline, order)(inside)[within]
        np.testing.assert_allclose(actual, exact, rtol=1e-6, atol=1e-7)


def test_table_of_several_variables_is_scipys_tensor_product():
    axes = np.linspace(-1, 2, 7), UNEVEN[:8], np.linspace(0, 1, 5)
    values = GENERATOR.random((7, 8, 5))
    points = np.clip(POINTS, *np.array([a[[0, -1]] for a in axes]).T)
    # SciPy's cubic splines come from an iteration that stops early.
    for degree, method, digits in ((1, "linear", 1e-10), (3, "cubic", 1e-4)):
        actual = evaluate(Tabulated(axes, values, degree)(X, Y, Z))
        grid = RegularGridInterpolator(axes, values, method)
        np.testing.assert_allclose(actual, grid(points), atol=digits)


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize(("dtype", "digits"), [("float32", 2e-5), ("float64", 1e-12)])
def test_table_reproduces_a_cubic_polynomial_with_derivatives(dtype, digits, compiled):
    exact = 1 + X**3 * Y - 2 * X * Y**2 / 3
    xs, ys = np.linspace(-1, 2, 9), np.linspace(0, 3, 8)
    values = sp.lambdify((X, Y), exact)(xs[:, None], ys)
    table = Tabulated((xs, ys), values)
    for derive in (lambda f: f, lambda f: f.diff(X, 2), lambda f: f.diff(X, Y)):
        actual = evaluate(derive(table(X, Y)), dtype, compiled=compiled)
        wanted = evaluate(derive(exact))
        np.testing.assert_allclose(actual, wanted, atol=digits * 40)


def test_table_of_a_field_obeys_the_chain_rule():
    table = Tabulated(EVEN, EVEN**2, name="k")
    expression = table(sp.sin(X) + Y / 4).diff(X)
    exact = (2 * (sp.sin(X) + Y / 4) * sp.cos(X)).doit()
    np.testing.assert_allclose(evaluate(expression), evaluate(exact), atol=1e-8)
    u = sp.Function("u")(X, Y)
    equation = normalize((table(u) * u.diff(X)).diff(X))
    slope = "Derivative(u(x, y), x)**2*k_1(u(x, y))"
    assert str(equation) == f"{slope} + Derivative(u(x, y), (x, 2))*k(u(x, y))"


def test_gradient_in_the_argument():
    """Differentiate a program in the field inside a table, as training does."""
    values = GENERATOR.random(len(EVEN))
    table = Tabulated(EVEN, values)
    program = Program([table(X)], (X,))
    points = keras.Variable(np.linspace(-0.9, 1.9, 7).astype("float32"))
    _, _, (slope,) = backend.value_and_gradients(
        lambda columns, _: (ops.sum(program({"x": columns[0]}, {})[0]), []),
        [points.value],
    )
    exact = make_interp_spline(EVEN, values).derivative()(np.linspace(-0.9, 1.9, 7))
    np.testing.assert_allclose(ops.convert_to_numpy(slope), exact, atol=1e-4)


def test_table_keeps_its_edge_value_outside():
    table = Tabulated(EVEN, EVEN**2)
    points = np.array([[-5.0, 0, 0], [7.0, 0, 0]])
    np.testing.assert_allclose(evaluate(table(X), points=points), [1.0, 4.0])


@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_scattered_points_reproduce_their_function(dimension):
    points = GENERATOR.random((400, dimension))
    exact = lambda p: np.sin(2 * p).sum(axis=1)  # noqa: E731
    table = Tabulated(points, exact(points))
    inside = 0.1 + 0.8 * GENERATOR.random((50, 3))
    actual = evaluate(table(*(X, Y, Z)[:dimension]), points=inside)
    np.testing.assert_allclose(actual, exact(inside[:, :dimension]), atol=2e-2)


def test_warns_if_the_grid_misses_the_values():
    points = GENERATOR.random((300, 2))
    with pytest.warns(UserWarning, match="resolution=12"):
        Tabulated(points, np.sin(30 * points[:, 0]), resolution=6)


def test_copies_and_files_are_equal():
    axes = EVEN, UNEVEN
    table = Tabulated(axes, GENERATOR.random((12, 9)), degree=1, name="κ")
    expression = (table(X, 2 * Y) * X).diff(Y) + table(X, Y)
    for again in (
        from_json(to_json(expression)),
        pickle.loads(pickle.dumps(expression)),
        copy.deepcopy(expression),
    ):
        assert again == expression
        assert hash(again) == hash(expression)
    np.testing.assert_array_equal(
        evaluate(from_json(to_json(expression))), evaluate(expression)
    )
    assert table != Tabulated(axes, table.values + 1e-12, degree=1, name="κ")
    assert sp.latex(table(X, Y).diff(X)) == r"\mathrm{κ}_{1}\left(x, y\right)"


@pytest.mark.parametrize(
    ("declare", "error", "match"),
    [
        (lambda: Tabulated(EVEN, EVEN[1:]), ValueError, "shape of the grid"),
        (lambda: Tabulated((EVEN, EVEN), EVEN), ValueError, "shape of the grid"),
        (lambda: Tabulated(EVEN[:3], EVEN[:3]), ValueError, "at least 4 points"),
        (lambda: Tabulated(EVEN[::-1], EVEN), ValueError, "must increase"),
        (lambda: Tabulated(EVEN, EVEN / 0), ValueError, "finite"),
        (lambda: Tabulated(EVEN, EVEN, degree=2), ValueError, "1 or 3"),
        (lambda: Tabulated("k", EVEN, EVEN), ValueError, "1 or 3"),
        (lambda: Tabulated([[1, 2], [3]], [1, 2]), ValueError, "array of numbers"),
        (lambda: Tabulated(np.ones((5, 2)), np.ones(5)), ValueError, "coincide"),
        (lambda: Tabulated(np.ones((5, 4)), np.ones(5)), ValueError, "one to three"),
        (lambda: Tabulated(np.ones((5, 2)), np.ones(4)), ValueError, "one for each"),
        (lambda: Tabulated(EVEN, EVEN)(X, Y), TypeError, "1 variable"),
    ],
)
@pytest.mark.filterwarnings("ignore:divide by zero", "ignore:invalid value")
def test_rejects_invalid_tables(declare, error, match):
    with pytest.raises(error, match=match):
        declare()


def test_rejects_malformed_files():
    data = to_json(Tabulated(EVEN, EVEN)(X))
    for key, value in (
        ("values", "AAAA"),
        ("values", "!"),
        ("values", 3),
        ("axes", []),
        ("degree", 7),
        ("degree", "3"),
        ("orders", [1, 1]),
        ("orders", [-1]),
    ):
        table = {**data[1]["table"], key: value}
        with pytest.raises(ValueError):
            from_json([data[0], {"table": table}, *data[2:]])
    for tree in (data[:2], [*data, 1], [data[0], 1, 1], data[1]):
        with pytest.raises(ValueError):
            from_json(tree)
