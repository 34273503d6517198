"""Study of the failure modes of PINNs: its problems, records and table."""

import json

import pytest
import sympy as sp

from examples import failure_modes


@pytest.mark.parametrize("name", ["convection_50", "reaction", "wave"])
def test_exact_references_satisfy_their_equations(name):
    problem = failure_modes.PROBLEMS[name][1]()
    (equation,) = problem.equations.values()
    ((_, exact),) = problem.reference.items()
    residual = equation.subs(failure_modes.U, exact).doit()
    at = {failure_modes.X: sp.Rational(1, 3), failure_modes.T: sp.Rational(2, 7)}
    assert abs(residual.subs(at).evalf(30)) < 1e-20


def test_reference_of_reaction_diffusion_is_converged():
    *_, error = failure_modes.fourier_reference()
    assert error < 3e-7
    assert "differs by 2e-7" in failure_modes.PAGE.read_text("utf-8")


def test_table_has_bounds_of_seeds_and_median_time():
    def entry(error, seconds):
        return {"last": {"error": error, "cpu_seconds": seconds}}

    runs = {"0": entry(1e-5, 10.0), "1": entry(3e-4, 30.0), "2": entry(2e-5, 20.0)}
    *_, row = failure_modes.table({"wave": {"solve": runs}}).splitlines()
    assert row.endswith("|  |  | 1.0e-05 to 3.0e-04 (3), 20 s |")


def test_runs_are_recorded_with_the_first(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text(failure_modes.PAGE.read_text("utf-8"), "utf-8")
    monkeypatch.setattr(failure_modes, "PAGE", page)
    monkeypatch.setattr(failure_modes, "RECORDS", tmp_path / "records.json")
    errors = iter((0.5, 0.25))
    monkeypatch.setattr(
        failure_modes, "run", lambda *_: {"error": next(errors), "cpu_seconds": 1.0}
    )
    for _ in range(2):
        failure_modes.main(["wave", "--ways", "adam"])
    saved = json.loads((tmp_path / "records.json").read_text())["wave"]["adam"]["0"]
    assert saved["first"]["error"] == 0.5 and saved["last"]["error"] == 0.25
    assert "| Wave, c = 2, modes 1 and 3 | 2.5e-01 (1), 1 s |" in page.read_text()
