import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from keras import ops

from keraspinn.optimizers.line_search import search
from tensors import eagerly

DECREASE, CURVATURE = 1e-4, 0.9
SETTINGS = {
    "sufficient_decrease": DECREASE,
    "curvature": CURVATURE,
    "max_evaluations": 20,
}


def along(curve, derivative, first=1.0, active=True, **options):
    """Search on a function of one variable, from 0 to the right."""
    seen = []

    def evaluate(parameters):
        at = float(parameters[0])
        seen.append(at)
        value, slope = curve(at), derivative(at)
        return ops.convert_to_tensor(value), ops.convert_to_tensor([slope])

    position = (
        ops.zeros((1,), "float64"),
        ops.ones((1,), "float64"),
        ops.convert_to_tensor(np.float64(curve(0.0))),
        ops.convert_to_tensor(np.array([derivative(0.0)])),
    )
    with eagerly():
        result = search(
            evaluate,
            position,
            ops.convert_to_tensor(active),
            ops.convert_to_tensor(np.float64(first)),
            **SETTINGS | options,
        )
    assert int(result.evaluations) == len(seen)
    return result, seen


def f(number):
    return np.float64(number)


@pytest.mark.slow
@given(
    st.floats(-3, 3),
    st.floats(0.01, 2),
    st.floats(-3, 3),
    st.floats(0.01, 100),
    st.floats(1e-3, 1e3),
)
def test_step_fulfils_the_wolfe_conditions(cubic, quartic, square, slope, first):
    def curve(a):
        return f(quartic * a**4 + cubic * a**3 + square * a**2 - slope * a)

    def derivative(a):
        return f(4 * quartic * a**3 + 3 * cubic * a**2 + 2 * square * a - slope)

    result, _ = along(curve, derivative, first, max_evaluations=40)
    step = float(result.step)
    assert step > 0
    assert curve(step) <= -DECREASE * step * slope
    assert abs(derivative(step)) <= CURVATURE * slope
    assert float(result.loss) == curve(step)
    assert float(result.gradient[0]) == derivative(step)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_line_search_stays_where_the_loss_is_finite(bad):
    result, seen = along(
        lambda a: f((a - 0.01) ** 2 if a < 0.05 else bad),
        lambda a: f(2 * (a - 0.01) if a < 0.05 else np.nan),
    )
    assert 0 < float(result.step) < 0.05
    assert max(seen) == 1.0


def test_takes_the_first_step_if_it_fulfils_the_conditions():
    result, seen = along(lambda a: f((a - 1) ** 2), lambda a: f(2 * (a - 1)))
    assert seen == [1.0]
    assert float(result.step) == 1.0


def test_no_step_if_the_loss_does_not_decrease():
    # The derivative has the wrong sign.
    result, seen = along(lambda a: f(1.0 + a), lambda a: f(-1.0))
    assert float(result.step) == 0.0
    assert float(result.loss) == 1.0
    assert float(result.gradient[0]) == -1.0
    assert len(seen) == 20


def test_ignores_a_decrease_within_round_off():
    eps = np.finfo("float64").eps
    result, _ = along(lambda a: f(1.0 - eps * (a > 0)), lambda a: f(-1.0))
    assert float(result.step) == 0.0


def test_best_point_is_taken_after_max_evaluations():
    # A loss that falls without end: every point is better than the one before.
    result, seen = along(lambda a: f(-a), lambda a: f(-1.0), max_evaluations=4)
    assert len(seen) == 4
    assert float(result.step) == max(seen) > 1.0


def test_inactive_line_search_evaluates_nothing():
    result, seen = along(lambda a: f(-a), lambda a: f(-1.0), active=False)
    assert seen == []
    assert float(result.step) == 0.0
