import dataclasses

import numpy as np
import pytest

from keraspinn.reproduce import Training, train
from keraspinn.reproduce.__main__ import parser, trainings
from keraspinn.reproduce.training import MODELS, PROTOCOLS, build


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("model", MODELS)
def test_protocols_are_settings_of_public_classes(model, protocol):
    training = Training("helmholtz", model, 6, 2, **PROTOCOLS[protocol])
    built, callbacks = build(training)
    gated = hasattr(built.network, "gates")
    assert gated == (model in ("M3", "M4"))
    assert bool(callbacks) == (model in ("M2", "M4"))
    assert built.standardize == training.standardize
    rate = built.optimizer.learning_rate
    assert float(rate) == pytest.approx(training.learning_rate)
    if gated:
        assert built.network.gate_input == training.gate_input
    if callbacks:
        assert callbacks[0].rule.alpha == training.alpha


def test_a_training_leaves_a_record_and_repeats():
    training = Training("poisson-2", "M2", 4, 1, seed=3, steps=40, batch_size=8)
    first, second = train(training), train(training)
    assert first["errors"] == second["errors"] and np.isfinite(first["errors"]["u"])
    assert first["weights"]["boundary_weight"] == second["weights"]["boundary_weight"]
    assert first["steps"] == 40
    assert {"keraspinn", "keras", "tensorflow", "python"} < first["versions"].keys()


def wanted(*options):
    pairs = trainings(parser().parse_args(options))
    return [training for _, training in pairs]


def test_command_line_makes_the_trainings_of_a_table():
    made = wanted("helmholtz", "--trials", "2", "--seed", "5")
    assert len(made) == len(set(made)) == 9 * 4 * 2
    assert {training.seed for training in made} == {5, 6}
    options = ["--models", "M4", "--trials", "1", "--alpha", "0.1", "--gate-input"]
    options += ["--protocol", "paper", "--schedule", "cosine", "--exclude", "bias"]
    (only,) = wanted("klein-gordon", *options)
    assert (only.alpha, only.standardize, only.units) == (0.1, False, 50)
    assert (only.schedule, only.corner_width) == ("cosine", 0.0)
    assert only.gate_input and only.exclude == ("bias",)


def test_settings_of_the_studies():
    made = wanted("stiffness", "--trials", "1")
    assert {training.model for training in made} == {"M1", "M3"}
    assert all(training.hessian_every for training in made) and len(made) == 4
    made = wanted("ablation", "--trials", "1", "--protocol", "best")
    changed = {training for training in made if training.schedule != "cosine"}
    assert len(made) == 2 * 2 * 9 and not changed
    assert len(set(made)) == 2 * 2 * 8  # α = 0.1 is what the protocol has


def test_one_mean_makes_one_block_of_the_boundary():
    training = Training("klein-gordon", "M2", 4, 1, one_mean=True)
    conditions = build(training)[0].problem.conditions
    assert conditions["boundary"].on == "boundary" and len(conditions) == 2
    cavity = build(dataclasses.replace(training, problem="cavity-u-v-p"))[0]
    assert list(cavity.problem.conditions) == ["boundary"]


def test_stiffness_and_precision_are_recorded():
    training = Training("helmholtz-1-1", "M1", 4, 1, steps=20, batch_size=8)
    training = dataclasses.replace(training, hessian_every=10, dtype="float64")
    model, _ = build(training)
    assert model.compute_dtype == model.network.compute_dtype == "float64"
    assert train(training)["eigenvalues"][0] > 0


def test_schedules_are_told_how_long_a_training_is():
    short = Training("poisson-1", "M1", 4, 1, steps=10, schedule="cosine")
    rate = build(short)[0].optimizer.get_config()["learning_rate"]
    assert rate["class_name"] == "CosineDecay"
    assert rate["config"]["decay_steps"] == 10


@pytest.mark.parametrize("option", ["--workers", "--trials"])
def test_numbers_of_a_command_are_positive(option, capsys):
    for number in ("0", "-1", "2.5"):
        with pytest.raises(SystemExit):
            parser().parse_args(["poisson", f"{option}={number}"])
        assert f"write a number from 1, not '{number}'" in capsys.readouterr().err
