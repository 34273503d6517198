"""`solve`: tolerance, reasons for stopping, choices and resuming."""

import contextlib
import dataclasses
import importlib
import io
import math
import re
import time

import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn as kp
from keraspinn.diagnostics import Verdict
from keraspinn.recipes import Recipe, Stage
from keraspinn.recipes.choices import chosen_network, chosen_recipe, wave_number
from keraspinn.recipes.hardening import hardened
from keraspinn.recipes.reasons import describe_unsolved

choices = importlib.import_module("keraspinn.recipes.choices")
strategy = importlib.import_module("keraspinn.recipes.training_run")
x, t = sp.symbols("x t")
u = sp.Function("u")(t)
TINY = {"steps_per_epoch": 2, "batch_size": 4}
SGD = Stage(lambda: keras.optimizers.SGD(0.01), TINY)


class Killed(BaseException):
    """Exception in place of a killed process."""


def decay(rate=1.0, **conditions):
    return kp.Problem(
        kp.geometry.Box(time={t: (0, 2)}),
        {"decay": sp.Eq(u.diff(t), -rate * u)},
        {"initial": kp.Condition(sp.Eq(u, 1), on="initial"), **conditions},
        reference={u: sp.exp(-t)},
    )


def measured():
    times = np.linspace(0.1, 2, 20)[:, None]
    values = np.exp(-times[:, 0])
    k = kp.Parameter("k", initial=1.0)
    return decay(k, sensor=kp.Data(times, {u: values}))


def energy():
    v = sp.Function("v")(x)
    return kp.Problem(
        kp.geometry.Box({x: (0, 1)}),
        energy=kp.integral(v.diff(x) ** 2 / 2 - v),
        conditions={"ends": kp.Condition(v, on="boundary", hard=True)},
    )


@pytest.fixture(scope="module")
def solved():
    """Return a solution and its printed lines."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        solution = kp.solve(decay(), tolerance=1e-3)
    return solution, printed.getvalue().splitlines()


@pytest.fixture
def judge(monkeypatch):
    """Return a function that sets the errors that verdicts estimate, in order."""

    def judge(*errors, **others):
        left = list(errors)

        def verdict(model, tolerance):
            error = left.pop(0) if len(left) > 1 else left[0]
            return Verdict(
                {"u": error}, {}, {"decay": 0.0}, tolerance, ("decay",), **others
            )

        monkeypatch.setattr(strategy, "verdict", verdict)

    return judge


def tiny_solve(problem=None, **kwargs):
    arguments = {
        "recipe": Recipe([SGD]),
        "network": kp.networks.MLP(3, 1),
        "verbose": 0,
    }
    return kp.solve(problem or decay(), **{**arguments, **kwargs})


def test_decay_is_solved_to_the_tolerance(solved):
    solution, printed = solved
    points, values = decay().test_data(50)
    error = solution.model.predict(points, verbose=0)[:, 0] - values["u"]
    assert solution.solved
    assert np.linalg.norm(error) < 1e-3 * np.linalg.norm(values["u"])
    assert str(solution).startswith("Solved: u ")
    assert solution._repr_html_().startswith("<p><b>Solved: u ")
    assert not [line for line in printed if "olved" in line]  # only when printed


def test_every_stage_is_printed_and_recorded(solved):
    solution, printed = solved
    assert len(printed) == len(solution.history) + 1
    assert printed[0] == "Tolerance 0.001: trains to an estimated error of 5.0e-04"
    for line, row in zip(printed[1:], solution.history, strict=True):
        assert f"{row['decision']}, {row['steps']:,} steps" in line
    first = solution.history[0]["decision"]
    assert first == "MLP 20 × 2, hard: initial: SSBroyden"
    assert f"estimated error {solution.verdict.error:.1e}" in printed[-1]


@pytest.mark.slow
def test_the_recipe_repeats_the_training_by_compile_and_fit(judge):
    judge(0.5, 0.4, 1e-4)
    double = dataclasses.replace(SGD, dtype="float64")
    solution = tiny_solve(recipe=Recipe([SGD, double]))
    assert len(solution.history) == 4
    model = solution.untrained()
    for stage in solution.recipe.stages:
        if stage.dtype and stage.dtype != model.variable_dtype:
            model = model.astype(stage.dtype)
        if stage.optimizer is not None:
            model.compile(stage.optimizer())
        model.fit(**stage.fit, verbose=0, callbacks=stage.callbacks and [])
    points = np.linspace(0, 2, 5)[:, None]
    again = model.predict(points, verbose=0)
    assert (again == solution.model.predict(points, verbose=0)).all()


def test_the_recipe_trains_an_ensemble(judge):
    judge(1e-4)
    solution = tiny_solve(seed=3)
    ensemble = solution.ensemble(size=2)
    points = np.linspace(0, 2, 5)[:, None]
    assert isinstance(ensemble, kp.Ensemble) and ensemble.seed == 3
    first, second = ensemble.predict_members(points)
    assert ensemble.steps_taken == 2 and abs(second - first).max() > 1e-3
    wider = dataclasses.replace(solution.recipe.stages[-1], units=6)
    for stages in ([wider], [dataclasses.replace(SGD, optimizer=None)]):
        solution = dataclasses.replace(solution, recipe=Recipe(stages))
        with pytest.raises(ValueError, match="neither wider networks nor time windows"):
            solution.ensemble()


def test_the_progress_bar_shows_the_estimated_error_of_the_round_before(judge, capsys):
    judge(0.2, 1e-4)
    tiny_solve(verbose=2)
    first, *_, last = re.findall(r"2/2.*loss.*", capsys.readouterr().out)
    assert "estimated_relative_l2: 0.2" in last and "estimated" not in first


def test_callbacks_of_a_stage_are_kept(judge):
    judge(1e-4)
    seen = []
    watch = keras.callbacks.LambdaCallback(on_epoch_end=lambda *_: seen.append(1))
    fit = TINY | {"callbacks": [watch]}
    tiny_solve(recipe=Recipe([dataclasses.replace(SGD, fit=fit)]))
    assert seen


def test_the_reason_names_contradictory_data_at_the_deadline(judge):
    problem = decay(sensor=kp.Data(np.ones((3, 1)), {u: np.ones(3)}))
    judge(0.5, measured=("sensor",))
    run = run_of(problem)
    run._judge()
    misfits = {"sensor": 0.3}
    for contradictions, is_named in (({}, False), (misfits, True)):
        both = {"misfits": misfits, "contradictions": contradictions}
        run.judged = dataclasses.replace(run.judged, **both)
        reason = run._reason(is_late=True, is_stalled=False)
        assert ("missed by 30 % of their size" in reason) == is_named
        assert ("Give more time" in reason) != is_named


def test_arguments_of_solve_override_choices(judge):
    judge(1e-4)
    solution = tiny_solve(seed=7)
    assert solution.solved and solution.model.seed == 7
    assert solution.history[0]["decision"].startswith("MLP 3 × 1")
    assert type(solution.model.optimizer) is keras.optimizers.SGD


def test_an_estimate_near_the_tolerance_is_not_enough(judge):
    judge(0.9e-3, 0.4e-3)
    solution = tiny_solve()
    assert solution.solved and solution.verdict.error == 0.4e-3


def test_the_reason_names_an_estimate_too_near_the_tolerance(judge):
    judge(0.9e-3)
    solution = tiny_solve(max_time=1e-3)
    assert not solution.solved and "not 2 times below it" in solution.reason
    assert "in time" not in solution.reason


def test_the_reason_is_that_of_the_best_model(judge):
    run = run_of(decay())
    judge(0.9e-3, 0.8)
    run._judge()
    run._judge()
    assert run.judged.error == 0.8
    assert "not 2 times below it" in run._unsolved("Late.")


def test_the_best_model_is_returned_and_advice_is_given(judge):
    judge(0.2, 0.5, 0.7, 0.9)
    solution = tiny_solve(max_time=1e-3)
    assert not solution.solved and solution.verdict.error == 0.2
    assert "max_time=" in solution.reason and "keraspinn.march" in solution.reason
    assert str(solution).startswith("Not solved: u 2.0e-01")


def test_the_model_of_the_least_loss_is_returned_without_an_estimate(
    judge, monkeypatch
):
    losses = iter([0.3, 0.1, 0.7])

    def judged(run, judge=strategy.TrainingRun._judge):
        run.history[-1]["loss"] = next(losses)
        judge(run)
        run.model.set_weights([w + 1 for w in run.model.get_weights()])
        best_weights.append(run.best[2])

    best_weights = []
    monkeypatch.setattr(strategy.TrainingRun, "_judge", judged)
    monkeypatch.setattr(
        strategy.TrainingRun,
        "_reason",
        lambda *_: "late" if len(best_weights) == 3 else None,
    )
    monkeypatch.setattr(strategy.TrainingRun, "_seconds_to_verdict", lambda run: 0.0)
    judge(np.inf)
    solution = tiny_solve()
    for weight, least in zip(
        solution.model.get_weights(), best_weights[1], strict=True
    ):
        np.testing.assert_array_equal(weight, least)


def test_interrupted_solve_continues(judge):
    judge(0.5, 1e-4)

    class Interrupt(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            raise KeyboardInterrupt

    stage = dataclasses.replace(SGD, callbacks=lambda model: [Interrupt()])
    first = tiny_solve(recipe=Recipe([SGD, stage]))
    assert first.reason.startswith("Interrupted") and "model=" in first.reason
    taken = first.model.steps_taken
    assert taken > 0 and first.history[-1]["steps"] > 0
    on = Recipe([dataclasses.replace(SGD, optimizer=None)])
    second = kp.solve(decay(), model=first.model, recipe=on, verbose=0)
    assert second.solved and second.model.steps_taken > taken


@pytest.mark.slow
def test_killed_solve_resumes_from_its_file(judge, monkeypatch, tmp_path):
    momentum = Stage(lambda: keras.optimizers.SGD(0.01, momentum=0.9), TINY)
    recipe, path = Recipe([SGD, momentum]), tmp_path / "solve.keras"
    monkeypatch.setattr(strategy.TrainingRun, "_seconds_to_verdict", lambda run: 0.0)
    judge(0.5, 0.2, 1e-4)
    uninterrupted, trained = tiny_solve(recipe=recipe), []

    def train(run, stage, decision, train=strategy.TrainingRun._train):
        if len(trained) == 2:
            raise Killed
        trained.append(train(run, stage, decision))

    judge(0.5)
    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(strategy.TrainingRun, "_train", train)
        tiny_solve(recipe=recipe, path=path)
    judge(0.2, 1e-4)
    solution = tiny_solve(recipe=recipe, path=path)
    assert solution.solved and len(solution.history) == len(uninterrupted.history) == 4
    for actual, expected in zip(solution.history, uninterrupted.history, strict=True):
        assert (
            actual["steps"] == expected["steps"] and actual["loss"] == expected["loss"]
        )
    points = np.linspace(0, 2, 5)[:, None]
    values = uninterrupted.model.predict(points, verbose=0)
    assert (solution.model.predict(points, verbose=0) == values).all()
    assert solution.seconds > sum(row["seconds"] for row in solution.history[:2])


def test_file_that_solve_did_not_save_is_refused(judge, tmp_path):
    judge(1e-4)
    tiny_solve().model.save(tmp_path / "model.keras")
    with pytest.raises(ValueError, match="did not save"):
        tiny_solve(path=tmp_path / "model.keras")


def test_an_unreliable_declaration_ends_after_the_first_stage(judge, monkeypatch):
    judge(1e-4)
    problem = decay()
    object.__setattr__(problem, "unreliable", "It jumps.")
    module = importlib.import_module("keraspinn.recipes.solve")
    monkeypatch.setattr(module, "hardened", lambda problem, features: problem)
    solution = tiny_solve(problem, recipe=Recipe([SGD, SGD]))
    assert solution.reason == "It jumps." and len(solution.history) == 1


def test_small_errors_of_an_energy_need_a_smaller_estimate():
    def margin(problem, tolerance):
        model = run_of(problem).model
        return tolerance / strategy.TrainingRun(model, tolerance, 0.0, 1.0, 0).target

    assert margin(energy(), 0.01) == 4.0
    assert margin(energy(), 0.05) == margin(decay(), 0.01) == 2.0


@pytest.mark.slow
@pytest.mark.parametrize(("deviation", "is_solved"), [(1e-4, True), (0.1, False)])
def test_deviations_of_parameters_are_judged(judge, monkeypatch, deviation, is_solved):
    judge(1e-4, measured=("sensor",))
    monkeypatch.setattr(
        kp.PINNModel, "parameter_deviation", lambda model: {"k": deviation}
    )
    solution = tiny_solve(measured())
    value, estimate = solution.parameters["k"]
    assert estimate == deviation and f"k = {value:.5g} ± " in str(solution)
    assert solution.solved is is_solved
    assert is_solved or "the measurements determine 'k'" in solution.reason


@pytest.mark.parametrize(("move", "bias"), [(2e-5, 2e-5), (math.nan, 0.0)])
def test_deviations_of_parameters_include_their_bias(judge, monkeypatch, move, bias):
    judge(1e-4, measured=("sensor",), moves={"k": move})
    monkeypatch.setattr(kp.PINNModel, "parameter_deviation", lambda model: {"k": 1e-9})
    value, deviation = tiny_solve(measured(), recipe=Recipe([SGD])).parameters["k"]
    assert deviation == pytest.approx(math.hypot(1e-9, bias * value), rel=1e-3)


def test_parameters_that_data_do_not_identify_end_the_training(judge):
    judge(1e-4, undetermined="The data do not identify 'k'.")
    solution = tiny_solve(measured())
    assert solution.reason == "The data do not identify 'k'."


def run_of(problem, optimizer=kp.optimizers.SSBroyden, **state):
    model = kp.PINNModel(problem, kp.networks.MLP(4, 2), seed=0)
    model.compile(optimizer())
    model.trainer.set_points(None, None)
    now = time.monotonic()
    run = strategy.TrainingRun(model, 1e-3, now - 10.0, now + 100.0, 0)
    run.history, run.epochs = [{"steps": 500, "seconds": 1.0, "loss": 1.0}], 5
    for name, value in state.items():
        setattr(run, name, value)
    return run


@pytest.mark.parametrize(
    ("loss", "is_due"), [(1e-7, True), (1e-5, False), (-1e-7, False), (math.nan, False)]
)
def test_a_verdict_is_due_where_the_loss_predicts_the_target(loss, is_due):
    run = run_of(decay(), progress=[(0.1, 1e-2)])  # to 5e-4
    run.history = [{"steps": 500, "seconds": 1.0, "loss": loss}]
    assert run._is_promising() == is_due
    run.progress = [(1e-3, 2 * loss)]  # the loss has hardly fallen since
    assert not run._is_promising()


def test_verdicts_take_a_tenth_of_the_time():
    stage = Stage(None, {"steps_per_epoch": 100, "epochs": 5})
    run = run_of(decay(), judging=3.0)  # due after 30 s, 10 of which are over
    assert run._seconds_to_verdict() == pytest.approx(20, abs=1)
    assert run._continued(stage).fit["epochs"] == strategy.LONGEST * run.epochs
    run.judging = 1.15
    assert run._continued(stage).fit["epochs"] in range(6, 9)
    run.judging = 0.5
    assert run._continued(stage).fit["epochs"] == 5


def test_time_is_reserved_for_the_last_verdict(judge, monkeypatch):
    judge(0.5)
    clock, run = [0.0], run_of(decay())
    monkeypatch.setattr(strategy.time, "monotonic", lambda: clock[0])

    def verdict(model, tolerance, judged=strategy.verdict):
        clock[0] += 40.0
        return judged(model, tolerance)

    monkeypatch.setattr(strategy, "verdict", verdict)
    run._judge()  # it compiles
    run.deadline = clock[0] + 1.0
    run._stop_late(0, {})
    assert not run.model.stop_training
    run._judge()
    run.deadline = clock[0] + 41.0
    run._stop_late(0, {})
    assert not run.model.stop_training
    run.deadline = clock[0] + 39.0
    run._stop_late(0, {})
    assert run.model.stop_training


def test_other_solutions_are_told_beside_solved(judge):
    judge(1e-9, is_unique=False)
    first, second = str(tiny_solve()).splitlines()
    assert first.startswith("Solved: u 1.0e-09")
    assert second.startswith("There may be other solutions")
    judge(1e-9)
    assert len(str(tiny_solve()).splitlines()) == 1


@pytest.mark.parametrize(("unproven", "best"), [(0.2, 0.5), (0.1, 0.4)])
def test_four_times_an_unproven_estimate_is_compared(judge, unproven, best):
    run = run_of(decay())
    judge(0.5)
    run._judge()
    judge(math.nan, unproven={"u": unproven})
    run._judge()
    assert run.best[0] == best


def test_a_field_that_is_nearly_right_needs_no_time_windows():
    run = run_of(decay(), progress=[(1e-3, 1e-8)])
    assert not run._march() and len(run.history) == 1


def test_an_unexplained_estimate_shows_progress(judge):
    run = run_of(decay())
    judge(math.nan, unproven={"u": 1e-3})
    run._judge()
    assert run.progress == [(4e-3, 1.0)] and math.isinf(run.history[-1]["error"])
    run.progress += [(4e-3, 0.1), (4e-3, 0.1)]
    assert not run._is_stalled()  # the loss falls
    run.progress = [(4e-3, 0.1)] * 3
    assert run._is_stalled()


def test_data_weigh_less_where_the_first_round_does_not_suffice(judge, monkeypatch):
    monkeypatch.setattr(strategy.TrainingRun, "_seconds_to_verdict", lambda run: 0.0)
    judge(0.5, 1e-9, measured=("sensor",))
    monkeypatch.setattr(kp.PINNModel, "parameter_deviation", lambda model: {"k": 0.0})
    solution = tiny_solve(measured())
    decisions = [row["decision"] for row in solution.history[1:]]
    assert decisions == ["sensor weighs 0.01: SGD"]
    weights = solution.model.loss_weights
    assert float(weights["sensor"]) == pytest.approx(0.01)
    again = solution.recipe.train(solution.untrained(), verbose=0).model
    assert float(again.loss_weights["sensor"]) == float(weights["sensor"])
    for mine, theirs in zip(again.weights, solution.model.weights, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-5)


@pytest.mark.parametrize("has_data", [True, False])
def test_unknown_parameters_are_fixed_in_the_first_stage_with_data(has_data, tmp_path):
    """A trained velocity and diffusivity fall to zero beside a constant field."""
    k = kp.Parameter("k", initial=2.0)
    problem = measured() if has_data else decay(k)
    model = kp.PINNModel(problem, kp.networks.MLP(3, 1), seed=0)
    for stage, is_fixed in zip(
        chosen_recipe(problem).stages, (has_data, False), strict=True
    ):
        before = float(model.coefficients["k"].numpy())
        short = {"steps_per_epoch": 3, "epochs": 1, "verbose": 0}
        model = stage.train(model, **short).model
        assert (float(model.coefficients["k"].numpy()) == before) == is_fixed
    model.save(tmp_path / "model.keras")
    assert kp.load_model(tmp_path / "model.keras").coefficients["k"].trainable


def test_a_parameter_that_a_user_froze_stays_fixed():
    problem = measured()
    model = kp.PINNModel(problem, kp.networks.MLP(3, 1), seed=0).astype("float64")
    model.coefficients["k"].trainable = False
    model.compile(kp.optimizers.SSBroyden())
    model.fit(steps_per_epoch=2, verbose=0)
    solution = kp.solve(problem, model=model, max_time=1e-3, verbose=0)
    assert float(solution.model.coefficients["k"].numpy()) == 1.0
    assert not solution.model.coefficients["k"].trainable


def test_an_interrupted_first_stage_leaves_parameters_trainable(monkeypatch):
    def interrupted(stage, model, **kwargs):
        fitted(stage, model, steps_per_epoch=2, verbose=0)
        raise KeyboardInterrupt

    fitted = Stage.fitted
    monkeypatch.setattr(Stage, "fitted", interrupted)
    solution = kp.solve(measured(), network=kp.networks.MLP(3, 1), verbose=0)
    assert "Interrupted" in solution.reason
    assert solution.model.coefficients["k"].trainable


def test_noise_is_no_reason_while_the_loss_falls(judge, monkeypatch):
    monkeypatch.setattr(strategy.reasons, "describe_noise", lambda *_: "noisy")
    judge(1e-5, measured=("sensor",))
    run = run_of(measured())
    monkeypatch.setattr(run, "_parameters", dict)
    run._judge()
    rows = [{"steps": 500, "seconds": 1.0, "loss": loss} for loss in (1e-2, 1e-5)]
    run.history = rows
    assert run._reason(False, False) is None
    assert run._reason(True, False) == "noisy"
    run.history = [*rows, rows[-1]]
    assert run._reason(False, False) == "noisy"


def test_exact_data_keep_their_weight_while_the_loss_falls(judge):
    judge(0.5, measured=("sensor",))
    run = run_of(measured())
    stage = Stage(None, {"steps_per_epoch": 100})
    run._judge()
    rows = [{"steps": 500, "seconds": 1.0, "loss": loss} for loss in (1e-2, 1e-5)]
    run.history = rows
    assert run._reweighted(stage)[1] == ""
    run.history = [*rows, rows[-1] | {"loss": 0.9e-5}]  # noise ends the fall
    assert run._reweighted(stage)[1] == "sensor weighs 0.01"


def test_no_stage_begins_that_could_not_be_judged_in_time(judge, monkeypatch):
    judge(0.5)
    run = run_of(decay(), deadline=time.monotonic() + 1e3)
    slow = {"judging": 1.0, "deadline": 0.0}  # the verdict outlasts the time
    monkeypatch.setattr(
        run, "_judge", lambda j=run._judge: (j(), vars(run).update(slow))
    )
    solution = run.solution([Stage(None, {"steps_per_epoch": 2, "verbose": 0})])
    assert "in time" in solution.reason
    assert len(solution.history) == 2 and solution.history[-1]["steps"] == 2


def test_a_stalled_training_escalates():
    run = run_of(decay())
    run.progress = [(0.1, 1.0), (0.04, 0.1), (0.03, 0.1)]
    assert not run._is_stalled()
    run.progress[-1] = 0.06, 0.1
    assert run._is_stalled()
    run.progress = [(math.inf, 1.0), (math.inf, 0.9), (math.inf, 0.8)]
    assert run._is_stalled()
    run.progress[-1] = math.inf, 0.1
    assert not run._is_stalled()
    run.progress[1:] = [(math.inf, 0.1), (math.inf, 0.9)]  # raised by new points
    assert not run._is_stalled()
    run.progress = [(math.inf, 0.5**k) for k in range(9)]  # eight times less in three
    assert not run._is_stalled()
    stage = Stage(None, {"steps_per_epoch": 100})
    solver, _ = run._escalated(stage)
    assert solver.optimizer is kp.optimizers.GaussNewton
    assert solver.fit["batch_size"] == 2_000  # more than two for each weight
    wider, decision = run._escalated(stage)
    assert wider.units == 6 and type(wider.optimizer()) is kp.optimizers.SSBroyden
    assert decision == "stalled, 6 units"
    more, _ = run._escalated(stage)
    assert more.fit["batch_size"]["residual"] == 6_000
    run.model.trainer.set_points(None, {"residual": 9_000})
    run.escalations = 2
    more, _ = run._escalated(stage)
    assert more.fit["batch_size"]["residual"] == 18_000
    run = run_of(energy(), kp.optimizers.GaussNewton)
    more, _ = run._escalated(stage)
    assert more.fit["batch_size"] == {"residual": 32_768}


def test_penalties_that_an_energy_outweighs_weigh_more_in_the_next_round(judge):
    v = sp.Function("v")(x)
    density, base = v.diff(x) ** 2 / 2 - v, {"base": kp.Condition(v, on={x: 0})}
    domain = kp.geometry.Box({x: (0, 1)})
    problem = kp.Problem(domain, energy=kp.integral(density), conditions=base)
    run = run_of(problem, kp.optimizers.GaussNewton)
    for misfit, weights in ((0.1, {"base": 100.0}), (5e-4, {"base": 4.0}), (1e-4, {})):
        judge(misfit)
        run._judge()
        judged = dataclasses.replace(run.judged, misfits={"base": misfit})
        assert choices.better_weights(run.model, judged, 2.5e-4) == pytest.approx(
            weights
        )
    misfits = {"base": 3.75e-3}
    run.judged = dataclasses.replace(run.judged, misfits=misfits)
    stage, decision = run._reweighted(Stage(None, dict(TINY)))
    stage.callbacks(run.model)
    weight = float(run.model.loss_weights["base"])
    assert weight == pytest.approx(30) and decision == "base weighs 30"


def test_gauss_newton_takes_two_points_for_each_weight_of_a_small_network(monkeypatch):
    run = run_of(decay())
    stage = Stage(None, {"steps_per_epoch": 100})
    monkeypatch.setattr(strategy, "POINTS_PER_WEIGHT", 1_000)
    solver, _ = run._escalated(stage)
    assert solver.fit["batch_size"] == 1_000 * run.model.count_params()
    run = run_of(decay(), kp.optimizers.GaussNewton)
    monkeypatch.setattr(strategy, "DENSE", 10)
    run.escalations = 1
    wider, _ = run._escalated(stage)
    assert wider.units == 6 and wider.optimizer is kp.optimizers.SSBroyden
    assert wider.fit == strategy.choices.ROUND


@pytest.mark.slow
def test_model_of_an_earlier_solve_is_widened(judge, monkeypatch):
    judge(0.5)
    monkeypatch.setattr(strategy, "PATIENCE", 1)
    monkeypatch.setattr(strategy, "ESCALATIONS", 2)
    monkeypatch.setattr(strategy, "DENSE", 0)
    monkeypatch.setattr(strategy.TrainingRun, "_march", lambda run: False)
    first = tiny_solve(max_time=1e-3)
    on = Recipe([dataclasses.replace(SGD, optimizer=None)])
    second = kp.solve(decay(), model=first.model, recipe=on, verbose=0)
    assert second.model.network.units == 4
    assert any("4 units: SGD" in row["decision"] for row in second.history)


def stalled(monkeypatch):
    monkeypatch.setattr(strategy.TrainingRun, "_seconds_to_verdict", lambda run: 0.0)
    monkeypatch.setattr(strategy.TrainingRun, "_is_stalled", lambda run: True)
    monkeypatch.setattr(choices, "WINDOW_STEPS", 5)


@pytest.mark.parametrize(
    ("left", "progress", "is_wrong"),
    [
        (0.1, [(math.inf, 1.0), (math.inf, 1e-3)], True),
        (0.1, [(math.inf, 1.0), (1e-3, 1e-3)], False),  # nearly right
        (0.1, [(math.inf, 1.0)], False),  # one may be early
        (0.01, [(math.inf, 1.0), (math.inf, 1e-3)], False),  # beside a singularity
    ],
)
def test_a_field_is_wrong_after_two_verdicts_that_leave_residuals(
    left, progress, is_wrong
):
    judged = Verdict({"u": math.nan}, {}, {"decay": left}, 1e-3, ("decay",))
    assert run_of(decay(), judged=judged, progress=progress)._is_wrong() == is_wrong


@pytest.mark.slow
def test_stalled_time_dependent_problem_is_trained_in_time_windows(
    judge, monkeypatch, tmp_path
):
    judge(0.5, 1e-4)
    stalled(monkeypatch)
    path = tmp_path / "solve.keras"
    solution = tiny_solve(path=path)
    assert solution.solved and solution.verdict.error == 1e-4
    windows = len(solution.model.march_history)
    assert f"{windows} time windows" in solution.history[-1]["decision"]
    points, exact = decay().test_data(50)
    values = solution.model.predict(points, verbose=0)
    error = np.linalg.norm(values[:, 0] - exact["u"])
    assert error < 1e-3 * np.linalg.norm(exact["u"])
    judge(1e-4)  # windows in a file are judged alone
    again = tiny_solve(path=path)
    assert again.solved and not again.history
    assert (again.model.predict(points, verbose=0) == values).all()
    judge(0.5)
    third = kp.solve(decay(), model=solution.model, verbose=0)
    assert not third.solved and "keraspinn.march" in third.reason


@pytest.mark.slow
def test_training_continues_where_time_windows_do_not_suffice(judge, monkeypatch):
    def march(problem, network, windows, recipe, **kwargs):
        model = kp.PINNModel(problem, network)
        model.march_history = [{"loss": 1.0}]
        return model

    judge(0.5, 0.4, 0.3, 1e-4)
    stalled(monkeypatch)
    monkeypatch.setattr(strategy, "march", march)
    monkeypatch.setattr(strategy, "DENSE", 0)
    solution = tiny_solve()
    decisions = [row["decision"] for row in solution.history]
    assert sum("time windows" in decision for decision in decisions) == 1
    assert solution.solved and not hasattr(solution.model, "march_history")


@pytest.mark.slow
def test_time_windows_end_at_the_deadline(judge, monkeypatch):
    judge(0.5)
    stalled(monkeypatch)

    def march(problem, network, windows, recipe, **kwargs):
        model = kp.PINNModel(problem, network)
        return recipe.train(model, verbose=0)

    monkeypatch.setattr(strategy, "march", march)
    run = run_of(decay(), progress=[(math.inf, 1.0)], deadline=time.monotonic())
    assert run._march() is False and run.model.network.units == 4


def test_overflow_in_a_time_window_does_not_end_the_training(monkeypatch):
    def march(*args, **kwargs):
        raise FloatingPointError

    monkeypatch.setattr(strategy, "march", march)
    assert run_of(decay(), progress=[(math.inf, 1.0)])._march() is False


def test_an_unsolved_problem_with_a_reentrant_corner_gets_advice_on_its_energy():
    x, y = sp.symbols("x y")
    u = sp.Function("u")(x, y)
    corners = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
    for shape, is_advised in ((corners, True), (corners[:3], False)):
        domain = kp.geometry.Polygon(shape, coordinates=(x, y))
        walls = {"walls": kp.Condition(u, on="boundary")}
        problem = kp.Problem(domain, {"heat": u.diff(x, 2) + u.diff(y, 2) + 1}, walls)
        assert ("energy=" in describe_unsolved(problem, "Late.")) is is_advised


@pytest.mark.parametrize("problem", [energy, measured])
def test_steady_problems_and_measurements_have_no_time_windows(problem, monkeypatch):
    monkeypatch.setattr(strategy, "march", None)
    assert run_of(problem())._march() is False


def test_a_model_of_another_problem_is_refused(solved):
    model = solved[0].model
    for other in (decay(2.0), decay(end=kp.Condition(u - 1, on={t: 2})), energy()):
        with pytest.raises(ValueError, match="Leave out model="):
            kp.solve(other, model=model)


def test_a_training_interrupted_between_verdicts_is_judged(judge):
    judge(0.5, 0.2)

    class Interrupt(keras.callbacks.Callback):
        trainings = 0

        def on_train_begin(self, logs=None):
            self.trainings += 1

        def on_train_batch_end(self, batch, logs=None):
            if self.trainings == 2:
                raise KeyboardInterrupt

    interrupt = Interrupt()
    stage = dataclasses.replace(SGD, callbacks=lambda model: [interrupt])
    solution = tiny_solve(recipe=Recipe([stage]))
    assert solution.verdict.error == 0.2 == solution.history[-1]["error"]


@pytest.mark.parametrize("value", [1.0, math.nan])
def test_a_training_that_overflows_is_not_solved_and_says_why(value, judge):
    """An energy without a minimum, or a gradient that is not finite."""
    judge(0.5)

    class Overflow(keras.callbacks.Callback):
        def on_train_batch_end(self, batch, logs=None):
            for variable in self.model.trainable_variables:
                variable.assign(value * variable)
            raise FloatingPointError("Training stopped: it falls without bound.")

    stage = dataclasses.replace(SGD, callbacks=lambda model: [Overflow()])
    solution = tiny_solve(recipe=Recipe([stage]))
    assert not solution.solved
    assert "without bound" in str(solution)


def test_a_wider_network_keeps_function_and_parameters():
    model = kp.PINNModel(measured(), kp.networks.MLP(4, 2), seed=0)
    model.coefficients["k"].assign(1.25)
    stage = Stage(lambda: keras.optimizers.SGD(0.0), units=6)
    wider, points = stage.prepared(model), np.linspace(0, 2, 7)[:, None]
    values = model.predict(points, verbose=0)
    np.testing.assert_allclose(wider.predict(points, verbose=0), values, atol=1e-6)
    assert wider.network.units == 6
    assert float(keras.ops.convert_to_numpy(wider.coefficients["k"])) == 1.25


@pytest.mark.parametrize("argument", [{"tolerance": 0}, {"max_time": -1}])
def test_arguments_out_of_range_are_refused(argument):
    with pytest.raises(ValueError, match="must be positive"):
        kp.solve(decay(), **argument)


def test_wave_numbers_of_energies_chirps_and_tables():
    v, points = sp.Function("v")(x), np.linspace(0, 1, 801)
    waves = kp.Tabulated(points, 2 + np.cos(80 * np.pi * points))(x)
    noisy = np.random.default_rng(0).normal(points, 0.01)
    for k, expected in (
        (2 + sp.cos(80 * sp.pi * x**2), 40 * np.pi),
        (2 + sp.cos(80 * sp.pi * x), 40 * np.pi),
        (waves, 40 * np.pi),
        (1 + kp.Tabulated(points, noisy)(x), 0.0),  # no waves
        (2 + kp.Tabulated(points, 1 + 0.01 * np.cos(80 * np.pi * points))(x), 0.0),
        (2 + sp.sin(6 * sp.Abs(x - 0.5)), 3.0),
        (2 + sp.cos(3 * sp.atan2(x - 0.5, 0.1)), 0.0),
        (2 + sp.sin(v), 0.0),
    ):
        problem = kp.Problem(
            kp.geometry.Box({x: (0, 1)}),
            energy=kp.integral(k * v.diff(x) ** 2 / 2 - v),
            conditions={"ends": kp.Condition(v, on="boundary", hard=True)},
        )
        assert wave_number(problem) == pytest.approx(expected, rel=0.1, abs=18)


def waves_along_a_rod(length, periods):
    """Return a problem, and its solution as a function of x / length."""
    v, wave = sp.Function("v")(x), 2 * sp.pi * periods * x / length
    solution = sp.sin(wave) + x / length
    domain = kp.geometry.Box({x: (0, length)})
    poisson = sp.Eq(v.diff(x, 2), solution.diff(x, 2))
    ends = kp.Condition(v - solution, on="boundary")
    problem = kp.Problem(domain, {"poisson": poisson}, {"ends": ends})
    return problem, lambda share: np.sin(2 * np.pi * periods * share) + share


def test_frequencies_of_fourier_features_follow_the_length_of_the_domain():
    scales = [
        chosen_network(waves_along_a_rod(length, 20)[0]).layers[0].scale
        for length in (1, 1_000)
    ]
    assert scales[0] == pytest.approx(1_000 * scales[1], rel=1e-3)


@pytest.mark.slow
def test_waves_along_a_long_rod_are_solved():
    problem, exact = waves_along_a_rod(1_000, 20)
    solution = kp.solve(problem, 1e-3, max_time=200, verbose=0)
    shares = np.linspace(0, 1, 1_001)[:, None]
    values = solution.model.predict(1_000 * shares, verbose=0)
    assert solution.solved
    assert np.sqrt(np.mean((values - exact(shares)) ** 2)) < 1e-3


def test_oscillating_source_terms_choose_sines_and_gauss_newton():
    y, wave = sp.Symbol("y"), sp.sin(40 * x) + sp.cos(3 * x)

    def poisson(*coordinates):
        v = sp.Function("v")(*coordinates)
        return kp.Problem(
            kp.geometry.Box(dict.fromkeys(coordinates, (0, 2))),
            {"poisson": sp.Eq(sum(v.diff(c, 2) for c in coordinates), wave)},
            {"ends": kp.Condition(v, on="boundary")},
        )

    assert wave_number(poisson(x)) == pytest.approx(40.0)
    features = chosen_network(poisson(x)).layers[0]
    assert isinstance(features, kp.layers.FourierFeatures) and features.scale == 30.0
    network = chosen_network(poisson(x, y))
    assert type(network) is kp.networks.SIREN
    assert network.get_config()["frequency"] == 16.0
    second = chosen_recipe(poisson(x)).stages[-1]
    assert second.optimizer is kp.optimizers.GaussNewton
    assert second.fit["batch_size"] == 2_000  # more than weights
    assert wave_number(decay()) == 0.0
    (only,) = chosen_recipe(energy()).stages
    assert only.optimizer is kp.optimizers.GaussNewton
    assert type(chosen_network(decay())) is kp.networks.MLP


@pytest.mark.slow
@pytest.mark.parametrize(
    ("problem", "data"), [(energy(), ()), (measured(), ("sensor",))]
)
def test_an_energy_or_measurements_need_a_smaller_estimate(
    judge, monkeypatch, problem, data
):
    monkeypatch.setattr(strategy.reasons, "describe_noise", lambda *_: "")
    run = run_of(problem)
    for error, reason in ((0.4e-3, None), (0.9e-4, "")):
        judge(error, measured=data)
        run._judge()
        assert run._reason(is_late=False, is_stalled=False) == reason


def test_a_loss_that_rises_by_orders_returns_to_the_best_weights(judge, monkeypatch):
    """Points of a new round may show residuals between those of the last."""
    losses, begun, judged = iter((1e-3, 1e-5, 60.0, 1e-6)), [], []

    def train(run, stage, decision, train=strategy.TrainingRun._train):
        begun.append(run.model.get_weights())
        train(run, stage, decision)
        run.history[-1]["loss"] = next(losses)

    def judge_run(run, judge=strategy.TrainingRun._judge):
        judge(run)
        judged.append((run.history[-1]["loss"], run.model.get_weights()))

    monkeypatch.setattr(strategy.TrainingRun, "_train", train)
    monkeypatch.setattr(strategy.TrainingRun, "_judge", judge_run)
    monkeypatch.setattr(strategy.TrainingRun, "_escalated", lambda run, s: (s, "more"))
    monkeypatch.setattr(strategy.TrainingRun, "_seconds_to_verdict", lambda run: 0.0)
    judge(0.5, 0.5, 0.5, 1e-4)
    solution = tiny_solve()
    assert solution.solved
    assert [loss for loss, _ in judged] == [1e-3, 1e-5, 60.0, 1e-6]
    assert solution.history[-1]["decision"].startswith("more")
    for weight, best in zip(begun[3], judged[1][1], strict=True):
        np.testing.assert_array_equal(weight, best)


def test_boundary_condition_of_an_energy_is_made_hard():
    y = sp.Symbol("y")
    v = sp.Function("v")(x, y)
    bracket = kp.geometry.Box({x: (0, 2), y: (0, 2)})
    bracket -= kp.geometry.Box({x: (1, 2), y: (1, 2)})
    density = (v.diff(x) ** 2 + v.diff(y) ** 2) / 2
    clamp = {"clamp": kp.Condition(v, on={y: 2})}
    problem = kp.Problem(bracket, energy=kp.integral(density - v), conditions=clamp)
    assert hardened(problem, []).conditions["clamp"].hard
    laplace = {"laplace": v.diff(x, 2) + v.diff(y, 2) + 1}
    free = {"free": kp.Condition(kp.normal_derivative(v, bracket), on={x: 0})}
    strong = kp.Problem(bracket, laplace, clamp | free)
    assert not hardened(strong, []).conditions["clamp"].hard


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_boundary_condition_is_made_hard_despite_a_warning_by_numpy():
    v = sp.Function("v")(x)
    problem = kp.Problem(
        kp.geometry.Box({x: (0, 1)}),
        {"e": v.diff(x, 2) + sp.exp(800 * x)},  # overflows in a check
        {"ends": kp.Condition(v, on="boundary")},
    )
    assert hardened(problem, []).conditions["ends"].hard


@pytest.mark.parametrize("flux, is_hard", [(1, False), (t, True)])
def test_initial_condition_stays_soft_where_a_flux_is_switched_on_initially(
    flux, is_hard
):
    c = sp.Function("c")(x, t)
    problem = kp.Problem(
        kp.geometry.Box({x: (0, 1)}, time={t: (0, 1)}),
        {"heat": sp.Eq(c.diff(t), c.diff(x, 2))},
        {
            "wall": kp.Condition(sp.Eq(c.diff(x), flux), on={x: 1}),
            "back": kp.Condition(c.diff(x), on={x: 0}),
            "initial": kp.Condition(c, on="initial"),
        },
    )
    assert hardened(problem, []).conditions["initial"].hard == is_hard


def test_conditions_are_made_hard_beside_a_contradiction_that_was_declared():
    c = sp.Function("c")(x, t)
    conditions = {
        "left": kp.Condition(c, on={x: 0}),
        "wall": kp.Condition(sp.Eq(c.diff(x), 1), on={x: 1}),
        "initial": kp.Condition(c, on="initial", hard=True),
    }
    with pytest.warns(UserWarning, match="'wall' contradicts"):
        problem = kp.Problem(
            kp.geometry.Box({x: (0, 1)}, time={t: (0, 1)}),
            {"heat": sp.Eq(c.diff(t), c.diff(x, 2))},
            conditions,
        )
    assert hardened(problem, []).conditions["left"].hard


def test_a_network_is_chosen_for_fields_of_fewer_coordinates():
    c, m = sp.Function("c")(x, t), sp.Function("m")(t)
    problem = kp.Problem(
        kp.geometry.Box({x: (0, 1)}, time={t: (0, 1)}),
        {"heat": sp.Eq(c.diff(t), c.diff(x, 2)), "mass": sp.Eq(m.diff(t), -m)},
        {
            "ends": kp.Condition(c, on="boundary"),
            "initial": kp.Condition([sp.Eq(c, 1), sp.Eq(m, 1)], on="initial"),
        },
    )
    chosen = chosen_network(problem)
    assert set(chosen) == {(c,), (m,)}
    kp.PINNModel(problem, chosen)
