"""Comparison of samplers: its problems, records and tables."""

import json

import keras
import pytest
import sympy as sp

import keraspinn as kp
from examples.samplers import __main__ as program
from examples.samplers import table, training
from examples.samplers.problems import PROBLEMS, poisson_peak


def test_peak_satisfies_poisson_s_equation():
    problem = poisson_peak()
    (equation,) = problem.equations.values()
    ((field, exact),) = problem.reference.items()
    x, y = problem.coordinates
    at = {x: sp.Rational(1, 3), y: sp.Rational(4, 7)}
    residual = equation.lhs - equation.rhs if equation.is_Relational else equation
    assert abs(residual.subs(field, exact).doit().subs(at).evalf(30)) < 1e-20


@pytest.mark.parametrize("name", [n for n in training.SAMPLERS if n != "held"])
def test_model_trains_with_each_sampler(name):
    model = kp.PINNModel(poisson_peak(), kp.networks.MLP(4, 1), seed=0)
    model.compile(keras.optimizers.Adam(), jit_compile=False)
    points = training.sampler(name, 0)
    history = model.fit(points, batch_size=16, steps_per_epoch=2, verbose=0).history
    assert 0 < history["loss"][0] < float("inf")


def test_samplers_have_the_period_of_the_stage():
    assert training.sampler("r3", 0).every == 1
    assert training.sampler("residual", 0).every == training.FIRST_PERIOD
    assert training.sampler("rar_d", 1).rounds == training.ROUNDS[1]
    for name in set(training.SAMPLERS) - {"held"}:
        assert training.sampler(name, 1).every == training.SECOND_PERIOD


def entry(error, seconds=1.0):
    stage = {"error": error, "cpu_seconds": seconds}
    return {"last": {"adam": stage, "ssbroyden": stage}}


def test_table_compares_equal_seeds_with_uniform_points():
    records = {
        "burgers": {
            "uniform": {"0": entry(1e-2), "1": entry(4e-2)},
            "r3": {"0": entry(2e-2, 5.0), "1": entry(2e-2, 7.0), "2": entry(9.0, 6.0)},
        },
        "wave": {"uniform": {"0": entry(1e-3)}, "r3": {"0": entry(8e-3, 2.0)}},
    }
    rows = table.table(records, "adam").splitlines()
    row = next(row for row in rows if row.startswith("| R3 "))
    # (2 · 1/2 · 8)^(1/3), and the mean of 5, 7, 6 and 2 s.
    assert row == "| R3 | 2.0e-02 | – | – | 8.0e-03 | – | – | 2.00 | 5 s |"


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Return the paths of a page and of records that the program writes to."""
    page, records = tmp_path / "page.md", tmp_path / "records.json"
    page.write_text(program.PAGE.read_text("utf-8"), "utf-8")
    monkeypatch.setattr(program, "PAGE", page)
    monkeypatch.setattr(program, "RECORDS", records)
    return page, records


def test_runs_are_recorded_with_the_first(files, monkeypatch):
    page, records = files
    errors = iter((0.5, 0.25))
    monkeypatch.setattr(program, "run_apart", lambda *_: entry(next(errors))["last"])
    command = ["wave", "--samplers", "sobol"]
    for _ in range(2):
        assert program.main(command) == 0
    program.main([*command, "--missing"])
    saved = json.loads(records.read_text("utf-8"))["wave"]["sobol"]["0"]
    assert saved["first"]["adam"]["error"] == 0.5
    assert saved["last"]["adam"]["error"] == 0.25
    assert page.read_text("utf-8").count("| Sobol | – | – | – | 2.5e-01 |") == 2


def test_trial_writes_nothing_and_failures_are_counted(files, monkeypatch):
    page, records = files
    before = page.read_text("utf-8")
    seen = []

    def fail(*arguments):
        seen.append(arguments)
        raise FloatingPointError

    monkeypatch.setattr(program, "run_apart", fail)
    assert program.main(["--trial", "--samplers", "r3"]) == len(PROBLEMS)
    assert seen[0] == ("burgers", "r3", 0, program.TRIAL)
    assert page.read_text("utf-8") == before and not records.exists()
