"""The second stage's study: its cases, its points and its table."""

import json

import numpy as np
import pytest

from examples.second_stage import problems, table
from examples.second_stage.__main__ import SECOND_ORDER, stages


@pytest.mark.parametrize("name", ["helmholtz_hard", "poisson-4", "wave"])
def test_batches_are_of_the_problem_s_terms(name):
    case = problems.CASES[name]
    problem = case.problem()
    for optimizer in (*SECOND_ORDER, "SOAP"):
        *_, (_, _, sizes, steps, _) = stages(optimizer, case, problem)
        assert steps > 0
        assert sizes == 300 or set(sizes) == set(problem.terms)


def test_one_series_solves_both_allen_cahn_equations_alike():
    """Where fronts are wide, the ends of x do not matter in the middle."""
    points = np.stack([np.linspace(-0.3, 0.3, 7), np.full(7, 0.1)], axis=-1)
    points = np.concatenate([points, points * [1, 0]])
    series = problems.fourier_allen_cahn(points, 1e-3)
    polynomial = problems.chebyshev_allen_cahn(points, 1e-3)
    np.testing.assert_allclose(series, polynomial, atol=1e-4)


def test_a_row_has_the_time_to_each_mark_and_the_worst_field():
    trace = [
        {"cpu_seconds": 9.0, "u_relative_l2": 0.3, "v_relative_l2": 0.4},
        {"cpu_seconds": 30.0, "u_relative_l2": 1e-5, "v_relative_l2": 5e-4},
        {"cpu_seconds": 50.0, "u_relative_l2": 9e-5, "v_relative_l2": 2e-5},
    ]
    record = {"problem": "flow", "network": "gated", "size": "9x2", "optimizer": "BFGS"}
    row = table.row(json.loads(json.dumps({**record, "trace": trace})))
    cells = "flow", "gated 9x2", "BFGS", "4.0e-01", "30", "50", "", ""
    assert row == f"| {' | '.join(cells)} | **9.0e-05** / 50 | 9.0e-05 |"
