import numpy as np
import pytest
import sympy as sp
from sympy.utilities.lambdify import implemented_function

from keraspinn.expressions import (
    NormalComponent,
    Parameter,
    normalize,
    to_json,
    validate,
)

x, y, t, k = sp.symbols("x y t k")
positive = sp.Symbol("x", positive=True)
U = sp.Function("u")
u = U(x, y)


@pytest.mark.parametrize(
    "expression",
    [
        u.diff(x, 2) + u.diff(y, 2) + u,
        Parameter("nu", 0.1) * u.diff(x, y),
        sp.Piecewise((u, (x > 0) & sp.Ne(y, 1)), (sp.sqrt(x) * sp.pi, True)),
        U(y, x).diff(x) + U(y, x),
        sp.Integer(0),
        sp.Float(0.5) ** x,
    ],
)
def test_valid_expressions_are_accepted(expression):
    validate([expression], (x, y))


def test_accepts_symbols_named_as_parameters():
    validate(k * u, (x, y), parameters=[k])
    with pytest.raises(ValueError, match="unknown symbol k"):
        validate(k * u, (x, y))


def test_accepts_a_field_named_as_a_component_of_the_normal():
    director = sp.Function("n_x")(x, y)
    validate([director.diff(x)], (x, y), parameters=[NormalComponent(x)])


def test_errors_name_the_equation():
    with pytest.raises(ValueError, match="^In equation 'helmholtz': unknown symbol k"):
        validate(k * u, (x, y), where="equation 'helmholtz'")


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        (k * u, r"unknown symbol k\. Coordinates are x, y.*Parameter\(\"k\", initial"),
        (sp.gamma(u), "gamma cannot be evaluated.*Supported are Abs.*sqrt"),
        (
            sp.Sum(u / y**x, (x, 1, sp.oo)),
            "Sum cannot be evaluated.*limits must be numbers",
        ),
        (sp.Limit(u, x, 0), "Limit cannot be evaluated"),
        (sp.DiracDelta(x), "DiracDelta cannot.*narrow Gaussian"),
        (sp.Abs(u).diff(x), "real=True"),
        (sp.Piecewise((1, sp.Piecewise((x, x < y), (y, True)) > 0)), "ITE cannot"),
        (U(x) + U(x, y), r"u\(x\) and u\(x, y\).*Write u\(x, y\) throughout"),
        (U(x, y, t), r"argument t is not one of them"),
        (U(2 * x, y), r"argument 2\*x is not one of them.*`on=`"),
        (U(0, y), "argument 0 is not one of them"),
        (U(x, x), "repeats one. Write"),
        (U(x, y, y), "repeats one. Write"),
        (u + U(y, x), r"two orders.*u\(x, y\) and u\(y, x\)"),
        (u.diff(x) + U(y, x).diff(x), "two orders"),
        (u + sp.Function("u", real=True)(x, y), "two different symbols are called 'u'"),
        (sp.Derivative(u, t), "derivative in t, which is not a coordinate"),
        (sp.Derivative(u, positive), r"declared was Symbol\('x'\)\."),
        (sp.sign(u).diff(x), "where sign.* is not a field"),
        (u.diff(x).subs(x, 1), "Subs cannot be evaluated.*another point"),
        (U(2 * x, y).diff(x), "Subs cannot be evaluated"),
        (sp.I * u, "number I is not real"),
        (sp.oo, "number oo"),
        (sp.zoo, "number zoo"),
        (sp.nan, "number nan"),
        (
            positive + u,
            r"two different.*Symbol\('x', positive=True\); declared",
        ),
        (U(positive, y), r"different.* Received Symbol\('x', positive=True\)"),
        (Parameter("x", 1.0) * u, "two different symbols are called 'x'"),
        (Parameter("u", 1.0) * u, "two different symbols are called 'u'"),
        (Parameter("a", 1) + Parameter("a", 2), "initial=2.0.*initial=1.0"),
        (sp.Piecewise((1, k > 0), (0, True)), "unknown symbol k"),
    ],
    ids=str,
)
def test_rejects_invalid_expressions(expression, message):
    with pytest.raises(ValueError, match=message):
        validate(expression, (x, y))


@pytest.mark.parametrize("expression", [u > 0, 3, "u", None])
def test_rejects_other_types_of_expressions(expression):
    with pytest.raises(TypeError, match="must be a SymPy expression"):
        validate([expression], (x, y))


def test_accepts_normalized_equations():
    validate(normalize(sp.Eq((u * u.diff(x)).diff(x), sp.exp(x))), (x, y))


def test_rejects_a_constant_of_the_user_before_it_is_saved():
    class Half(sp.NumberSymbol):
        is_real = is_rational = is_positive = True

        def _as_mpf_val(self, prec):
            return sp.Rational(1, 2)._as_mpf_val(prec)

    with pytest.raises(ValueError, match=r"the number Half\(\) is not real"):
        validate(u + Half(), (x, y))
    with pytest.raises(ValueError, match=r"Half cannot be saved\. Received Half"):
        to_json(Half() + x)


def test_rejects_a_numerical_function_that_would_be_a_field():
    f = implemented_function("f", np.sign)(x)
    for expression in (f * u, f.diff(x) * u):
        with pytest.raises(ValueError, match="f cannot be evaluated.*by a table"):
            validate(expression, (x, y))
