"""Study of weighting rules: its problems, records, tables, and a short training."""

import json

import numpy as np
import pytest
import sympy as sp

from examples.weighting_rules import __main__ as program
from examples.weighting_rules import problems, table, training
from examples.weighting_rules.rules import RULES

RECORD = {"errors": [0.5, 0.25]}


def test_reference_of_heat_satisfies_its_equation():
    problem = problems.heat()
    ((u, exact),) = problem.reference.items()
    (equation,) = problem.equations.values()
    at = {problems.X: sp.Rational(1, 3), problems.T: sp.Rational(2, 7)}
    assert abs(equation.subs(u, exact).doit().subs(at).evalf(30)) < 1e-20


def records(**errors):
    """Return records of one problem and seed, from the second stage's errors."""
    return {
        "heat": {
            rule: {"0": {"last": {"errors": [1.0, error]}}}
            for rule, error in errors.items()
        }
    }


def test_errors_much_below_both_baselines_are_bold():
    study = records(fixed=1e-2, annealing=1e-3, ntk=4e-4, relobralo=6e-4)
    rows = table.table(study, 1).splitlines()
    assert rows[0] == "| Rule | Heat, weights 1e-4 |" and rows[1] == "|---|---|"
    assert rows[2:] == [
        "| Fixed weights | 1.0e-02 |",
        "| Annealing | 1.0e-03 |",
        "| Tangent kernel | **4.0e-04** |",
        "| ReLoBRaLo | 6.0e-04 |",
    ]
    assert "1.0e+00" in table.table(study, 0)


def test_cells_are_medians_of_seeds():
    runs = {str(n): {"last": {"errors": [e]}} for n, e in enumerate((1.0, 9.0, 2.0))}
    assert table.cell({"fixed": runs}, "fixed", 0) == "2.0e+00"


def test_runs_are_recorded_with_the_first(tmp_path, monkeypatch):
    page = tmp_path / "page.md"
    page.write_text(table.PAGE.read_text("utf-8"), "utf-8")
    monkeypatch.setattr(table, "PAGE", page)
    monkeypatch.setattr(program, "RECORDS", tmp_path / "records.json")
    errors = iter(([0.5, 0.125], [0.25, 0.0625]))
    monkeypatch.setattr(program, "run", lambda *_: {"errors": next(errors)})
    for _ in range(2):
        program.main(["wave", "--rules", "ntk"])
    saved = json.loads((tmp_path / "records.json").read_text())["wave"]["ntk"]["0"]
    assert saved["first"]["errors"] == [0.5, 0.125]
    assert saved["last"]["errors"] == [0.25, 0.0625]
    first, second = page.read_text("utf-8").split("<!-- second -->")
    assert "| Tangent kernel | 2.5e-01 |" in first
    assert "| Tangent kernel | 6.2e-02 |" in second


def test_failed_runs_are_not_recorded(tmp_path, monkeypatch):
    monkeypatch.setattr(program, "RECORDS", tmp_path / "records.json")
    monkeypatch.setattr(program, "write_page", lambda records: None)
    monkeypatch.setattr(program, "run", lambda *_: None)
    with pytest.raises(SystemExit, match="wave ntk 0"):
        program.main(["wave", "--rules", "ntk"])
    assert not (tmp_path / "records.json").exists()


def unweighted_loss(model):
    logs = model.evaluate(*model.problem.test_data(), return_dict=True, verbose=0)
    return sum(logs[f"{name}_loss"] for name in model.problem.terms)


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_rules_train_both_stages(rule, monkeypatch):
    monkeypatch.setattr(training, "INSIDE", 200)
    monkeypatch.setattr(training, "ON_A_FACE", 20)
    monkeypatch.setattr(training, "UNITS", 10)
    monkeypatch.setattr(training, "DEPTH", 2)
    problem = problems.heat()
    model = training.first_stage(problem, RULES[rule], 0, epochs=2, steps=10)
    losses = [unweighted_loss(model)]
    model = training.second_stage(model, 60)
    losses.append(unweighted_loss(model))
    assert losses[1] < losses[0] / 2
    (error,) = training.true_errors(model, problem, {}).values()
    assert np.isfinite(error)
