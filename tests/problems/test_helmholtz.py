import numpy as np
import sympy as sp

import keraspinn as kp


def test_exact_solution_satisfies_helmholtz():
    for arguments in ({}, {"a1": 2, "a2": 3, "k": 5}):
        problem = kp.problems.helmholtz(**arguments)
        (u, exact), *_ = problem.reference.items()
        for expression in (
            problem.equations["helmholtz"],
            *problem.conditions["boundary"].expressions,
        ):
            assert sp.simplify(expression.subs(u, exact).doit()) == 0


def test_helmholtz_is_that_of_the_paper():
    problem = kp.problems.helmholtz()
    points, values = problem.test_data(100)
    assert points.shape == (10_000, 2)
    assert points.min() == -1 and points.max() == 1
    expected = np.sin(np.pi * points[:, 0]) * np.sin(4 * np.pi * points[:, 1])
    np.testing.assert_allclose(values["u"], expected, atol=1e-12)
