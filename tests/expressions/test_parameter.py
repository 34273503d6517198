import copy
import pickle
from fractions import Fraction

import numpy as np
import pytest
import sympy as sp

from keraspinn.expressions import Parameter

x = sp.Symbol("x")


def test_parameter_is_a_symbol_with_a_value():
    nu = Parameter("nu", initial=0.1, positive=True)
    assert isinstance(nu, sp.Symbol)
    assert nu.initial == 0.1 and nu.is_positive
    assert (nu * x**2).diff(x) == 2 * nu * x
    assert (nu * x).diff(nu) == x
    assert (nu * x).subs(nu, 3) == 3 * x


@pytest.mark.parametrize(
    "other",
    [
        Parameter("a", 2.0),
        Parameter("b", 1.0),
        Parameter("a", 1.0, real=True),
        sp.Symbol("a"),
        sp.Dummy("a"),
    ],
)
def test_parameter_differs_from(other):
    # The order matters: a cache must not return the first one created.
    first = Parameter("a", 1.0)
    assert first != other and other != first
    assert sp.expand(first - other) != 0


def test_parameters_of_equal_name_value_and_assumptions_are_equal():
    assert Parameter("a", 1) == Parameter("a", 1.0)
    assert hash(Parameter("a", 1)) == hash(Parameter("a", 1.0))
    assert Parameter("a", 1) - Parameter("a", 1) == 0


@pytest.mark.parametrize(
    "duplicate",
    [copy.copy, copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))],
    ids=["copy", "deepcopy", "pickle"],
)
def test_copies_of_parameters_are_equal(duplicate):
    parameter = Parameter("a", 1.5, positive=True)
    again = duplicate(parameter)
    assert again == parameter and again.initial == 1.5 and again.is_positive
    assert duplicate(parameter * x) == parameter * x


@pytest.mark.parametrize("value", [1, 2.5, np.float32(0.5), sp.Rational(1, 4), sp.pi])
def test_real_numbers_become_floats(value):
    parameter = Parameter("a", value)
    assert type(parameter.initial) is float and parameter.initial == float(value)


HUGE = 10**400


@pytest.mark.parametrize("value", [None, "1", True, 1j, sp.I, x, [1.0]])
def test_rejects_values_that_are_not_real(value):
    with pytest.raises(ValueError, match="initial of Parameter 'a'` must be a finite"):
        Parameter("a", value)


@pytest.mark.parametrize(
    "value",
    [np.inf, -np.inf, np.nan, HUGE, -HUGE, sp.Integer(HUGE), Fraction(HUGE, 3)],
)
def test_rejects_values_that_are_not_finite(value):
    with pytest.raises(ValueError, match="must be a finite number"):
        Parameter("a", value)


def test_rejects_bad_names():
    with pytest.raises(TypeError, match="name should be a string"):
        Parameter(3, 1.0)
