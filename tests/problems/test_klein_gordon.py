import pytest
import sympy as sp

import keraspinn as kp


@pytest.mark.parametrize("arguments", [{}, {"beta": 2, "gamma": 3, "power": 2}])
def test_exact_solution_satisfies_klein_gordon(arguments):
    problem = kp.problems.klein_gordon(**arguments)
    ((u, exact),) = problem.reference.items()
    t = problem.coordinates[1]
    assert sp.simplify(problem.equations["klein_gordon"].subs(u, exact).doit()) == 0
    (walls,) = problem.conditions["boundary"].expressions
    assert walls.subs(u, exact) == 0
    for expression in problem.conditions["initial"].expressions:
        assert sp.simplify(expression.subs(u, exact).doit().subs(t, 0)) == 0


@pytest.mark.parametrize("power", [2.5, 0, True, sp.Rational(1, 2)])
def test_rejects_roots_of_a_field_of_both_signs(power):
    with pytest.raises(ValueError, match="`power` must be a positive integer"):
        kp.problems.klein_gordon(power=power)
