import json
import pickle

import pytest
import sympy as sp

from keraspinn.expressions import Parameter, Tabulated, from_json, to_json
from keraspinn.expressions.integral import Region
from keraspinn.expressions.nodes import CONSTANTS, NAMES

x, y = sp.symbols("x y")
u = sp.Function("u")(x, y)
v = sp.Function("v", real=True)(sp.Symbol("s", positive=True))


def there_and_back(expression):
    return from_json(json.loads(json.dumps(to_json(expression))))


@pytest.mark.parametrize(
    "expression",
    [
        sp.Integer(0),
        sp.Integer(-(10**299)),
        sp.Rational(-2, 3),
        sp.Float("0.1"),
        sp.Float(1 / 3),
        sp.Float("0.1", 50),
        sp.Float("-1e-300"),
        sp.Float(5e-324),
        sp.Float(1.7e307),
        sp.Float(0),
        *CONSTANTS.values(),
        sp.true,
        x,
        sp.Symbol("x", positive=True),
        sp.Symbol("x", real=True, nonzero=True),
        sp.Symbol("n", integer=True, even=True, negative=False),
        sp.Symbol("∂ψ₁ with spaces"),
        # A name is never read as code.
        sp.Symbol("__import__('os')"),
        Parameter("nu", 0.1),
        Parameter("nu", 1e-300, positive=True),
        u,
        v,
        sp.Function(sp.Symbol("w", real=True))(x),
        u.diff(x),
        u.diff(x, 2, y, 3),
        sp.Derivative(u, y, x, y),
        v.diff("s"),
        u.diff(x, 2) + Parameter("nu", 2) * v**2 / 3 - sp.sqrt(x),
        sp.Eq(u, sp.sin(x)),
        sp.Piecewise((x, x > 0), (sp.exp(x), (x < -1) | sp.Ne(y, 0)), (0, True)),
        sp.Piecewise((x, x > 0)),
        sp.Piecewise((1, sp.Not((x > 0) & (y > 0), evaluate=False)), (0, True)),
        sp.Max(x, y, 1) * sp.Min(y, u),
        sp.Heaviside(x) + sp.Heaviside(y, 1),
        # SymPy would simplify these if it evaluated them again.
        sp.Mul(2, x + 1, evaluate=False),
        sp.Add(x, x, evaluate=False),
        sp.Pow(x, 1, evaluate=False),
        sp.sin(sp.pi, evaluate=False),
        sp.exp(-(10**6) * (x - sp.Rational(1, 2)) ** 2),
        sp.tanh(10**5 * x) ** 1000,
        (x + 1) ** sp.tanh((2 - sp.erfc(2)) * (x - 4)),
        sum(sp.Rational(1, n) * sp.sin(n * sp.pi * x) for n in range(1, 200)),
    ],
    ids=lambda expression: str(expression)[:60],
)
def test_round_trip(expression):
    again = there_and_back(expression)
    assert again == expression and hash(again) == hash(expression)
    # Equal floats of different precision give different results.
    assert sorted(f._prec for f in again.atoms(sp.Float)) == sorted(
        f._prec for f in expression.atoms(sp.Float)
    )
    assert [s.assumptions0 for s in sorted(again.free_symbols, key=str)] == [
        s.assumptions0 for s in sorted(expression.free_symbols, key=str)
    ]


ARGUMENTS = {
    "Piecewise": [(x, y > 0)],
    "And": [x > 0, sp.Eq(y, 0)],
    "Or": [x > 0, sp.Eq(y, 0)],
    "Not": [x > 0],
    "PartIntegral": [x, Region('{"over": "interior"}')],
    "At": [u, x, y],
    "LineIntegral": [x, x, 0 * x, y],
    "Interpolation": [Tabulated(range(4), range(4)), x],
}
TWO = {"Add", "Mul", "Pow", "Max", "Min", "atan2", "Heaviside"}
TWO |= {"Eq", "Ne", "Lt", "Le", "Gt", "Ge"}


@pytest.mark.parametrize("node", NAMES, ids=NAMES.get)
def test_every_node_type(node):
    if NAMES[node] == "ExprCondPair":
        pytest.skip("It is no expression by itself; Piecewise has it.")
    expression = node(
        *ARGUMENTS.get(NAMES[node], [x, y] if NAMES[node] in TWO else [x]),
        evaluate=False,
    )
    assert type(expression) is node
    assert there_and_back(expression) == expression


X, Y = {"symbol": "x"}, {"symbol": "y"}
U = {"field": "u", "of": [X, Y]}


@pytest.mark.parametrize(
    ("expression", "data"),
    [
        (sp.sqrt(sp.pi), ["Pow", {"constant": "pi"}, {"rational": [1, 2]}]),
        (-1.5 * x, ["Mul", {"float": "-1.5", "precision": 53}, X]),
        (u.diff(y, 2, x), {"derivative": U, "by": [[X, 1], [Y, 2]]}),
        (
            Parameter("nu", 0.5, positive=True),
            {"parameter": "nu", "initial": 0.5, "assumptions": {"positive": True}},
        ),
        (
            sp.Piecewise((1, x < 1), (y, True)),
            [
                "Piecewise",
                ["ExprCondPair", 1, ["Lt", X, 1]],
                ["ExprCondPair", Y, True],
            ],
        ),
    ],
    ids=str,
)
def test_json_format_is_unchanged(expression, data):
    # Saved models contain it, so it must not change.
    assert to_json(expression) == data


def test_a_parameter_keeps_its_value():
    again = there_and_back(x * Parameter("nu", 0.1))
    [nu] = again.atoms(Parameter)
    assert nu.initial == 0.1


def test_a_loaded_expression_is_ordinary():
    again = there_and_back(u.diff(x) * sp.sin(x) + x)
    assert again.diff(y) == (u.diff(x) * sp.sin(x) + x).diff(y)
    assert pickle.loads(pickle.dumps(there_and_back(x**2 + 1))) == x**2 + 1


def test_rejects_symbols_that_are_not_listed():
    data = to_json(x + y)
    assert from_json(data, symbols=[x, y]) == x + y
    with pytest.raises(ValueError, match=r"Unknown symbols: \['y'\]"):
        from_json(data, symbols=[x, sp.Symbol("y", real=True)])


@pytest.mark.parametrize("value", [3, "x", None, [x], {"x": x}, sp.Matrix([x])])
def test_saves_expressions_only(value):
    with pytest.raises(ValueError, match="cannot be saved"):
        to_json(value)


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (sp.gamma(x), "gamma cannot be saved.*Supported are"),
        (sp.I * x, "ImaginaryUnit cannot be saved"),
        (sp.oo, "Infinity cannot be saved"),
        (sp.nan, "NaN cannot be saved"),
        (sp.Dummy("x"), "Dummy cannot be saved"),
        (sp.Integral(x, x), "Integral cannot be saved"),
        (u.diff(x).subs(x, 1), "Subs cannot be saved"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_rejects_expressions_that_cannot_be_loaded(expression, message):
    with pytest.raises(ValueError, match=message):
        to_json(expression)
