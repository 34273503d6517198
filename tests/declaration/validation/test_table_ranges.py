"""Tables in a problem: coverage of the domain, and range of their values."""

import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn as kp

X, Y = sp.symbols("x y")
U = sp.Function("u")(X, Y)
AXIS = np.linspace(0, 1, 6)
K = kp.Tabulated(AXIS, 1 + AXIS, name="k")


def problem(equation, condition=None, end=1, **options):
    return kp.Problem(
        kp.geometry.Box({X: (0, end), Y: (0, 1)}),
        {"e": equation},
        {"c": condition or kp.Condition(U, on={X: 0})},
        **options,
    )


def test_a_domain_beyond_the_table_raises():
    with pytest.raises(ValueError, match=r"k\(x\) goes from 0 to 1 in x, which goes"):
        problem(K(X) * U.diff(X), end=1.5)
    with pytest.raises(ValueError, match="in 2.x, which goes"):
        problem(K(2 * X) * U.diff(X))
    with pytest.raises(ValueError, match="condition 'c': the table"):
        problem(U.diff(X), kp.Condition(U - K(X), on={X: 2}), end=2)


def test_arguments_in_the_wrong_order_raise_and_the_advice_works():
    table = kp.Tabulated((2 * AXIS, AXIS), np.ones((6, 6)))
    with pytest.raises(ValueError, match="in the order of the table's axes"):
        problem(table(Y, X) * U.diff(X), end=2)
    problem(table(X, Y) * U.diff(X), end=2)


def test_a_table_that_covers_a_face_may_be_shorter_than_the_domain():
    declared = problem(U.diff(X), kp.Condition(U - K(Y), on={X: 0}), end=3)
    config = keras.saving.serialize_keras_object(declared)
    again = keras.saving.deserialize_keras_object(config)
    assert again.conditions["c"].expressions == declared.conditions["c"].expressions


def test_ranges_of_tables_of_fields_are_not_checked():
    assert problem(K(U) * U.diff(X)).field_names == ("u",)


def test_a_linear_table_has_no_second_derivative():
    k = kp.Tabulated(AXIS, AXIS, degree=1, name="k")
    problem((k(X) * U.diff(X)).diff(X))
    with pytest.raises(ValueError, match="In equation 'e': The table k is diff.*3"):
        problem(k(X).diff(X, 2) * U)
    # Scales of a source term may need derivatives of the table.
    assert problem(U.diff(X, 2) + k(X), scales="auto").scales.field("u") > 0


def test_dtype_range_of_tables():
    stiff = kp.Tabulated(AXIS, 210e9 * (1 + AXIS))
    declared = problem(stiff(X) * U.diff(X) + 1, scales=None)
    with pytest.raises(ValueError, match="float32 cannot hold"):
        kp.PINNModel(declared, kp.networks.MLP(3, 1))
    declared = problem(stiff(X) * U.diff(X) + 1e6, scales="auto")
    assert 1e-7 < declared.scales.field("u") < 1e-4
    kp.PINNModel(declared, kp.networks.MLP(3, 1))
