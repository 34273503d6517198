"""The study of verdicts: its closed forms, its solver, and its file."""

import json

import numpy as np
import pytest
import sympy as sp

from examples.verdicts.__main__ import run, write
from examples.verdicts.problems import CASES, differences_on_l


@pytest.mark.parametrize("name", ["beam", "cantilever", "poisson_square", "oscillator"])
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
    coarse, fine = (differences_on_l(n) for n in (28, 56))
    assert fine[1].max() == pytest.approx(coarse[1].max(), rel=0.03)
    assert not np.any((fine[0] > 0).all(axis=1))
    assert fine[1].min() > 0


def test_a_run_says_what_is_estimated_and_what_is_true(tmp_path):
    (record,) = run("beam", share=0.01)
    assert set(record["errors"]) == set(record["estimates"]) == {"u"}
    assert record["estimates"]["u"] == pytest.approx(record["errors"]["u"], rel=0.1)
    assert record["trusted"] is False
    path = tmp_path / "verdicts.json"
    write(path, 0, "beam", [record])
    write(path, 0, "wave", [record | {"problem": "wave"}])
    write(path, 0, "beam", [record | {"loss": 1.0}])
    kept = json.loads(path.read_text("utf-8"))["records"]
    assert [r["problem"] for r in kept] == ["beam", "wave"] and kept[0]["loss"] == 1.0
