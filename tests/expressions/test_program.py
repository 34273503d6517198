import keras
import numpy as np
import pytest
import sympy as sp
from keras import ops

import tensors
from keraspinn.expressions import Parameter, Program

x, y = sp.symbols("x y")
u, p = sp.Function("u")(x, y), sp.Function("p")(x, y)
nu = Parameter("nu", 0.1)
POINTS = {"x": np.array([0.5, 1.0, 2.0]), "y": np.array([3.0, -1.0, 0.0])}


def run(expressions, derivatives=None, parameters=None, points=POINTS):
    program = Program(expressions, (x, y))
    results = program(points, derivatives or {}, parameters or {})
    return [ops.convert_to_numpy(result) for result in results]


def test_fields_derivatives_and_parameters():
    program = Program([u * p.diff(x, y, y) - nu * u.diff(x) + sp.Symbol("k")], (x, y))
    assert program.derivatives == {"p": {(1, 2)}, "u": {(0, 0), (1, 0)}}
    values = {
        ("u", (0, 0)): np.array([1.0, 2.0, 3.0]),
        ("u", (1, 0)): np.array([4.0, 5.0, 6.0]),
        ("p", (1, 2)): np.array([7.0, 8.0, 9.0]),
    }
    [result] = program(POINTS, values, {"nu": np.float64(10), "k": np.float64(100)})
    np.testing.assert_array_equal(result, [67.0, 66.0, 67.0])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(5,), (2, 5)])
def test_constants_fill_the_points(dtype, shape):
    program = Program([sp.Integer(3), sp.pi / 7, nu, x, sp.Integer(0)], (x, y))
    points = {name: ops.ones(shape, dtype) for name in "xy"}
    results = program(points, {}, {"nu": 0.5})
    for result, value in zip(results, [3, np.pi / 7, 0.5, 1, 0], strict=True):
        assert tuple(result.shape) == shape
        assert keras.backend.standardize_dtype(result.dtype) == dtype
        np.testing.assert_array_equal(result, np.full(shape, value, dtype))


def test_an_ensemble_shares_its_points():
    points = {"x": np.arange(3.0), "y": np.zeros(3)}
    fields = {("u", (0, 0)): np.ones((2, 3))}
    results = run([u + x, x, sp.Integer(1)], fields, points=points)
    assert [result.shape for result in results] == [(2, 3)] * 3
    np.testing.assert_array_equal(results[0], [[1, 2, 3]] * 2)


def test_dtypes_are_not_mixed():
    points = {name: ops.ones((3,), "float64") for name in "xy"}
    variable = keras.Variable(0.5, dtype="float32")
    program = Program([nu * u + sp.Rational(1, 3) * x], (x, y))
    [result] = program(
        points, {("u", (0, 0)): ops.ones((3,), "float32")}, {"nu": variable}
    )
    assert keras.backend.standardize_dtype(result.dtype) == "float64"
    np.testing.assert_allclose(result, np.full(3, 0.5 + 1 / 3), rtol=1e-15)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_compiles_with_unknown_shapes_and_gives_parameter_gradients(dtype):
    program = Program([nu**3 * u.diff(x) - 2 * u, sp.Integer(1)], (x, y))
    variable = keras.Variable(-2.0, dtype=dtype)

    def loss_and_gradient(points):
        fields = {("u", (0, 0)): points, ("u", (1, 0)): 3 * points}

        def loss():
            residual, one = program({"x": points}, fields, {"nu": variable})
            return ops.sum(residual * one)

        return tensors.value_and_gradients_by_variables(loss, [variable])

    compiled = tensors.compiled(loss_and_gradient, shapes=[(None,)], dtype=dtype)
    loss, [gradient] = compiled(ops.ones((4,), dtype))
    assert float(loss) == 4 * (-8 * 3 - 2)
    assert float(gradient) == 4 * 3 * 4 * 3


def test_common_subexpressions_are_evaluated_once():
    shared = sp.sin(x * y) + sp.exp(x)
    alone = len(Program([shared], (x, y)))
    assert alone == 6  # x, y, x*y, sin, exp, +
    assert len(Program([shared, shared], (x, y))) == alone
    assert len(Program([shared, sp.cos(shared)], (x, y))) == alone + 1


def test_powers_and_multiples_share_their_parts():
    assert len(Program([x**2, x**4, x**5], (x, y))) == 4  # x, x², x⁴, x⁵
    # 2xy and -3xy: x, y, x*y, and a constant and a product for each
    assert len(Program([2 * x * y, -3 * x * y], (x, y))) == 7


def test_cost_of_a_graph_is_that_of_its_nodes():
    tower = x
    for _ in range(60):
        tower = sp.Mul(tower, sp.sin(tower), evaluate=False)
    assert len(Program([tower], (x, y))) == 1 + 2 * 60


def test_numbers_fold_to_one_constant():
    number = sp.sqrt(2) * sp.pi**3 / sp.log(7) + sp.E
    assert len(Program([number], (x, y))) == 1
    assert len(Program([number * x], (x, y))) == 3
    [result] = run([number])
    assert result[0] == float(number.evalf(30))


def test_constants_keep_float64():
    [result] = run([x * sp.Rational(1, 3) + sp.pi])
    expected = POINTS["x"] * (1 / 3) + np.pi
    np.testing.assert_array_equal(result, expected)


def test_a_quotient_is_one_division():
    def functions(expression):
        steps = Program([expression], (x, y))._tape._steps
        return [f.__name__ for f, _ in steps if callable(f)]

    assert functions(x / y) == ["divide"]
    assert functions(2 / y) == ["divide"]
    assert functions(1 / x) == ["reciprocal"]
    assert functions(3 * x / y**2) == ["square", "divide", "multiply"]


def test_square_roots_are_not_general_powers():
    steps = Program([sp.sqrt(x) + 1 / sp.sqrt(y)], (x, y))._tape._steps
    assert {f.__name__ for f, _ in steps if callable(f)} == {"sqrt", "rsqrt", "add"}


def test_true_and_one_are_not_confused():
    condition = sp.And(sp.true, x > 0, evaluate=False)
    [result] = run([sp.Piecewise((1, condition), (0, True)) + 1])
    assert result.tolist() == [2.0, 2.0, 2.0]


def test_negative_bases_under_roots_are_nan():
    [result] = run([sp.sqrt(y)])
    np.testing.assert_array_equal(result, [np.sqrt(3), np.nan, 0.0])


@pytest.mark.parametrize(
    "number",
    [sp.sqrt(-2), sp.exp(1000), sp.Integer(10) ** 400, sp.asin(2), sp.exp(sp.exp(99))],
    ids=str,
)
def test_rejects_constants_that_are_not_real_floats(number):
    with pytest.raises(ValueError, match="constant must be a real number|evaluated"):
        Program([number * x], (x, y))


def test_huge_whole_powers_do_not_recurse():
    [result] = run([y ** (10**200), x ** -(10**9)])[:1]
    np.testing.assert_array_equal(result, [np.inf, 1.0, 0.0])


def test_rejects_unsupported_nodes():
    with pytest.raises(ValueError, match="gamma cannot be evaluated.*Supported are"):
        Program([sp.gamma(x)], (x, y))


def test_piecewise_of_a_thousand_branches():
    branches = [(sp.Integer(k), x < k) for k in range(1, 1200)]
    [result] = run([sp.Piecewise(*branches, (0, True), evaluate=False)])
    np.testing.assert_array_equal(result, [1, 2, 3])
