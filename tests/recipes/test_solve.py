"""`solve` reaches its tolerance, or says why not."""

import numpy as np
import pytest
import sympy as sp

import keraspinn as kp
from keraspinn.recipes.solve import chosen_network

t = sp.Symbol("t")
u = sp.Function("u")(t)


def decay():
    return kp.Problem(
        kp.geometry.Box(time={t: (0, 2)}),
        {"decay": sp.Eq(u.diff(t), -u)},
        {"initial": kp.Condition(sp.Eq(u, 1), on="initial")},
        reference={u: sp.exp(-t)},
    )


def test_decay_is_solved_to_the_tolerance():
    solution = kp.solve(decay(), tolerance=1e-3, verbose=0)
    points, values = decay().test_data(50)
    error = solution.model.predict(points, verbose=0)[:, 0] - values["u"]
    assert solution.solved
    assert np.linalg.norm(error) < 1e-3 * np.linalg.norm(values["u"])
    assert str(solution).startswith("Solved: u ")


@pytest.mark.slow
def test_out_of_time_is_not_solved_and_says_so():
    solution = kp.solve(decay(), tolerance=1e-14, max_time=1e-3, verbose=0)
    assert not solution.solved
    assert "max_time" in solution.reason
    assert str(solution).startswith("Not solved")


@pytest.mark.slow
def test_a_solution_goes_on_from_its_model():
    first = kp.solve(decay(), tolerance=1e-14, max_time=1e-3, verbose=0)
    second = kp.solve(decay(), tolerance=1e-3, model=first.model, verbose=0)
    assert second.solved
    assert len(second.history) == 1


@pytest.mark.parametrize("argument", [{"tolerance": 0}, {"max_time": -1}])
def test_arguments_out_of_range_are_refused(argument):
    with pytest.raises(ValueError, match="must be positive"):
        kp.solve(decay(), **argument)


def test_a_network_is_chosen_for_fields_of_fewer_coordinates():
    x = sp.Symbol("x")
    c, m = sp.Function("c")(x, t), sp.Function("m")(t)
    problem = kp.Problem(
        kp.geometry.Box({x: (0, 1)}, time={t: (0, 1)}),
        {"heat": sp.Eq(c.diff(t), c.diff(x, 2)), "mass": sp.Eq(m.diff(t), -m)},
        {
            "ends": kp.Condition(c, on="boundary"),
            "initial": kp.Condition([sp.Eq(c, 1), sp.Eq(m, 1)], on="initial"),
        },
    )
    chosen = chosen_network(problem)
    assert set(chosen) == {(c,), (m,)}
    kp.PINNModel(problem, chosen)
