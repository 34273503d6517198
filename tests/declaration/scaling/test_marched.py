"""How large fields become that start at one end of one coordinate."""

import numpy as np
import pytest
import sympy as sp

import keraspinn as kp

T, A = sp.symbols("t a")
U = sp.Function("u")(T)


def size(equation, start, end, **parameters):
    """The size of u, which starts with the values of itself and its derivatives."""
    begin = [sp.Eq(U.diff(T, k) if k else U, value) for k, value in enumerate(start)]
    problem = kp.Problem(
        kp.geometry.Box(time={T: (0, end)}, **parameters),
        {"e": equation},
        {"start": kp.Condition(begin, on="initial")},
    )
    return problem.with_scales("auto").scales.field("u")


@pytest.mark.parametrize(
    ("equation", "start", "end", "expected"),
    [
        (U.diff(T) - 0.5 * U, [1e-3], 20, 1e-3 * np.exp(10)),
        (U.diff(T) - 0.3 * U * sp.log(1000 / U), [1], 20, 983),  # Gompertz
        (U.diff(T, 2) + 100 * U**3, [0, 5], 5, (2 * 25 / 100) ** 0.25),  # Duffing
        (U.diff(T, 2) + sp.Abs(U.diff(T)) * U.diff(T) / 10, [0, 50], 20, 46.2),  # drag
        (
            U.diff(T, 2) - 5 * (1 - U**2) * U.diff(T) + U,
            [0.1, 0],
            30,
            2.02,
        ),  # Van der P.
        (
            U.diff(T, 2) + 2 * U.diff(T) + 100 * U - 10 * sp.sin(9 * T),
            [0, 0],
            10,
            0.400,
        ),
        (U.diff(T) + U / 10 - 1e3 * sp.exp(-((10 * T - 50) ** 2)), [0], 20, 175),
        (U.diff(T, 2) + 9.81 * sp.sin(U), [sp.pi, 0], 10, np.pi),  # on its head
        (T * U.diff(T, 2) + 2 * U.diff(T) - 6 * T, [0, 0], 2, 4),  # singular at 0
    ],
)
def test_a_field_grows_to_what_it_grows_to(equation, start, end, expected):
    assert size(equation, start, end) == pytest.approx(expected, rel=0.02)


def test_what_leaves_all_bounds_is_left_to_the_terms():
    assert size(U.diff(T) - U**2, [1], 2) == 1
    assert size(U.diff(T) - sp.exp(U), [1], 2) == 1


@pytest.mark.parametrize(
    ("equation", "start"),
    [
        (U.diff(T) - 10 * (U - sp.cos(T)) + sp.sin(T), [1]),
        (U.diff(T, 2) - 100 * U, [1, -10]),
    ],
)
def test_what_grows_from_rounding_is_no_size(equation, start):
    assert size(equation, start, 5) == 1


def test_what_is_much_smaller_than_its_terms_say_is_no_zero():
    assert size(U.diff(T) - 1e3 + 2e3 * sp.tanh(U), [0], 1e4) == pytest.approx(0.549)


def test_what_is_used_up_does_not_end_it():
    cells, sugar = sp.Function("u")(T), sp.Function("s")(T)
    growth = 0.4 * sugar / (0.05 + sugar) * cells  # Monod, for twenty days
    start = {"start": kp.Condition([cells - 0.01, sugar - 20], on="initial")}
    equations = {"u": cells.diff(T) - growth, "s": sugar.diff(T) + 2 * growth}
    found = kp.Problem(kp.geometry.Box(time={T: (0, 480)}), equations, start).scales
    assert found.field("u") == pytest.approx(10, rel=0.01)


def test_a_number_that_data_tell_may_start_from_anything():
    k, start = kp.Parameter("k", initial=1.0), kp.Condition(U - 1, on="initial")
    seen = kp.Data([[20.0], [40.0]], {U: [1.3, 1.7]})
    given = {"start": start, "seen": seen}
    problem = kp.Problem(
        kp.geometry.Box(time={T: (0, 40)}), {"e": U.diff(T) - k * U}, given
    )
    assert problem.scales.field("u") == 1.7  # by the first k 2e17


def test_normals_at_an_end_are_left_to_polynomials():
    u, box = sp.Function("u")(A), kp.geometry.Box({A: (0, 1)})
    given = [u - 1, kp.normal_derivative(u, box)]
    start = {"start": kp.Condition(given, on={A: 0})}
    problem = kp.Problem(box, {"e": u.diff(A, 2) + u}, start)
    assert problem.scales.field("u") == pytest.approx(1, rel=0.01)


def test_what_is_derived_by_a_parameter_varies_along_it():
    u = sp.Function("u")(A, T)
    ages = kp.geometry.Box(parameters={A: (0, 100)}, time={T: (0, 50)})
    start = {"start": kp.Condition(u - sp.exp(-A / 100), on="initial")}
    equation = {"e": u.diff(T) - u.diff(A) / 2 - u / 10}
    found = kp.Problem(ages, equation, start).scales
    assert 148 / 3 < found.field("u") < 3 * 148


def test_of_parameters_the_largest_counts():
    u = sp.Function("u")(A, T)
    box = kp.geometry.Box(parameters={A: (-1, 0.5)}, time={T: (0, 10)})
    start = {"start": kp.Condition(u - 1, on="initial")}
    found = kp.Problem(box, {"e": u.diff(T) - A * u}, start).with_scales("auto")
    assert found.scales.field("u") == pytest.approx(np.exp(5), rel=0.01)
    several = sp.symbols("b c d")  # of many not all ends
    u = sp.Function("u")(*several, T)
    box = kp.geometry.Box(parameters=dict.fromkeys(several, (0, 1)), time={T: (0, 3)})
    growth = u.diff(T) - sum(several) * u
    start = {"start": kp.Condition(u - 1, on="initial")}
    found = kp.Problem(box, {"e": growth}, start).scales
    assert found.field("u") == pytest.approx(np.exp(9), rel=0.01)


def test_several_fields_of_several_orders_may_start_at_the_far_end():
    u, v = sp.Function("u")(T), sp.Function("v")(T)
    problem = kp.Problem(
        kp.geometry.Box({T: (0, 3)}),
        {"u": u.diff(T, 2) - v, "v": v.diff(T) + 2 * v + u.diff(T)},
        {"end": kp.Condition([u - 1, u.diff(T) + v, v - 4], on={T: 3})},
    )
    found = problem.with_scales("auto").scales
    # The exact solution by the matrix's exponential function.
    from scipy.linalg import expm

    matrix = np.array([[0, 1, 0], [0, 0, 1], [0, -1, -2]])
    path = [expm(-matrix * s) @ [1, -4, 4] for s in np.linspace(0, 3, 300)]
    expected = abs(np.array(path)).max(axis=0)
    assert found.field("u") == pytest.approx(expected[0], rel=0.01)
    assert found.field("v") == pytest.approx(expected[2], rel=0.01)


def test_tables_that_numpy_does_not_know_are_left_to_the_terms():
    push = kp.Tabulated(np.linspace(0, 10, 20)[:, None], np.full(20, 3.0))(T)
    assert 10 < size(U.diff(T) - push, [0], 10) < 90
