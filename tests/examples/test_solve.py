"""Programs of `examples/solve`: their declarations, not their trainings."""

import numpy as np
import pytest

import keraspinn as kp


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ["fin", "plume", "mass_spring", "bracket"])
def test_program_declares_a_problem_without_a_warning(name, run_program, monkeypatch):
    received = []
    monkeypatch.setattr(kp, "solve", lambda problem, **how: received.append(problem))
    run_program(f"solve/{name}.py")
    (problem,) = received
    assert not problem.underdetermined and not problem.unreliable


@pytest.fixture
def solve():
    """The module of the command, which needs scikit-fem."""
    pytest.importorskip("skfem")
    from examples.solve import __main__

    return __main__


def test_programs_are_short(solve):
    assert all(solve.lines_of(name) < 15 for name in solve.CASES)


def test_reference_of_the_fin_is_right(solve, monkeypatch):
    shown = {}

    def distance(solution, points, values):
        shown["points"], shown["values"] = points, values
        return 0.0

    monkeypatch.setattr(solve, "distance", distance)
    solve.fin(None)
    x, _ = shown["points"]
    along = shown["values"][abs(x - 0.025) < 1e-9]
    assert np.ptp(along) < 2.0  # a thin fin's temperature varies along it alone
    # The heat through the base leaves by the sides, within the rise of conductivity.
    assert 303 < shown["values"].min() < 308 and shown["values"].max() == 393.15
