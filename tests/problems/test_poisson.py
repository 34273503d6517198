import pytest
import sympy as sp

import keraspinn as kp


@pytest.mark.parametrize("c", [1, 2, 4, 16])
def test_exact_solution_satisfies_poisson(c):
    problem = kp.problems.poisson(c)
    ((u, exact),) = problem.reference.items()
    for condition in (problem.equations["poisson"], *boundary(problem)):
        assert sp.simplify(condition.subs(u, exact).doit()) == 0


def test_an_end_of_the_interval_is_one_point():
    problem = kp.problems.poisson()
    (ends,) = problem.terms["boundary"].blocks
    assert len(ends) == 2 and all(end.is_point for end in ends)


def boundary(problem):
    return problem.conditions["boundary"].expressions
