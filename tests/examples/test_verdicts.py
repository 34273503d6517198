"""Study of verdicts: closed forms, solver and records."""

import json

import numpy as np
import pytest
import sympy as sp

from examples.verdicts.__main__ import run, write
from examples.verdicts.faults import fin_by_volumes
from examples.verdicts.problems import CASES, differences_on_l, extrapolated_on_l


@pytest.mark.parametrize(
    "name",
    [
        "beam",
        "cantilever",
        "poisson_square",
        "oscillator",
        "steady_shock",
        "cooling_rod",
        "schroedinger",
        "plate",
        "bratu",
        "boundary_layer",
        "logistic",
    ],
)
def test_closed_forms_solve_equations_and_conditions(name):
    problem = CASES[name].problem()
    values = {field: problem.reference[field] for field in problem.fields}
    at = dict(zip(problem.coordinates, (0.3, 0.1), strict=False))
    for expression in problem.equations.values():
        missed = expression.subs(values).doit().subs(at)
        assert float(sp.Abs(missed)) < 1e-10
    for condition in problem.conditions.values():
        for expression in condition.expressions:
            for face in (
                condition.on if isinstance(condition.on, list) else [condition.on]
            ):
                if isinstance(face, str):
                    if face != "initial":
                        continue
                    face = {problem.coordinates[-1]: 0}
                missed = expression.subs(values).doit().subs(face).subs(at)
                assert float(sp.Abs(missed)) < 1e-10


def test_differences_on_the_l_converge():
    coarse, fine = (np.nanmax(differences_on_l(n)) for n in (28, 56))
    assert fine == pytest.approx(coarse, rel=0.03)


def test_extrapolation_on_the_l_is_more_accurate_than_differences():
    def at_a_half(count):
        points, values = extrapolated_on_l(count)
        assert not np.any((points > 0).all(axis=1)) and values.min() > 0
        return values[np.all(points == -0.5, axis=1)].item()

    coarse, true = at_a_half(16), at_a_half(128)
    differences = differences_on_l(32)[15, 15]
    assert abs(coarse - true) < abs(differences - true) / 5


def test_a_run_compares_estimates_with_errors_and_can_be_resumed(tmp_path):
    (record,) = run("beam", share=0.01, folder=tmp_path)
    assert set(record["errors"]) == set(record["estimates"]) == {"u"}
    assert record["trusted"] is False and record["seed"] == 0
    (again,) = run("beam", share=0.01, folder=tmp_path)
    assert again["seconds"] is None and again["errors"] == record["errors"]
    path = tmp_path / "verdicts.json"
    write(path, "beam", [record | {"estimates": {"u": np.nan}}])
    write(path, "wave", [record | {"problem": "wave", "trusted": True}])
    study = json.loads(path.read_text("utf-8"))
    assert [r["problem"] for r in study["records"]] == ["beam", "wave"]
    assert study["records"][0]["estimates"] == {"u": None}
    assert study["summary"]["trainings"] == 2
    assert study["summary"]["trusted and wrong"] == 1


def test_finite_volumes_of_the_fin_agree_with_a_finer_grid():
    coarse, fine = (fin_by_volumes(columns, 8)[1] for columns in (50, 100))
    tips = coarse.reshape(50, 8)[-1].mean(), fine.reshape(100, 8)[-1].mean()
    assert tips[0] == pytest.approx(tips[1], rel=0.01)
    assert tips[1] == pytest.approx(11.9, abs=0.5)  # 305.0 K less 293.15 K
