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
    assert float(rate) == pytest.approx(1e-3)
    if gated:
        assert built.network.gate_input == training.gate_input
    if callbacks:
        assert callbacks[0].rule.alpha == training.alpha


def test_a_training_leaves_a_record_and_repeats():
    training = Training("poisson-2", "M2", 4, 1, seed=3, steps=40, batch_size=8)
    first, second = train(training), train(training)
    assert first["errors"] == second["errors"] and np.isfinite(first["errors"]["u"])
    assert first["weights"]["boundary_weight"] == second["weights"]["boundary_weight"]
    assert first["steps"] == 40 and first["versions"]["keraspinn"]


def test_command_line_makes_the_trainings_of_a_table():
    arguments = parser().parse_args(["helmholtz", "--trials", "2", "--seed", "5"])
    wanted = trainings(arguments)
    assert len(wanted) == len(set(wanted)) == 9 * 4 * 2
    assert {training.seed for training in wanted} == {5, 6}
    options = ["--models", "M4", "--trials", "1", "--alpha", "0.1"]
    options += ["--protocol", "paper", "--schedule", "cosine"]
    arguments = parser().parse_args(["klein-gordon", *options])
    (only,) = trainings(arguments)
    assert (only.alpha, only.standardize, only.units) == (0.1, False, 50)
    assert (only.schedule, only.corner_width) == ("cosine", 0.0)


def test_schedules_are_told_how_long_a_training_is():
    short = Training("poisson-1", "M1", 4, 1, steps=10, schedule="cosine")
    rate = build(short)[0].optimizer.get_config()["learning_rate"]
    assert rate["class_name"] == "CosineDecay"
    assert rate["config"]["decay_steps"] == 10
