"""Programs of `examples/solve`: their declarations, not their trainings."""

import pytest

import keraspinn as kp


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ["fin", "plume"])
def test_program_declares_a_problem_without_a_warning(name, run_program, monkeypatch):
    received = []
    monkeypatch.setattr(kp, "solve", lambda problem, **how: received.append(problem))
    run_program(f"solve/{name}.py")
    (problem,) = received
    assert not problem.underdetermined and not problem.unreliable
