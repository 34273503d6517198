import dataclasses

import keras
import numpy as np
import pytest

import keraspinn as kp
from examples.reproduction import Training, train
from examples.reproduction.__main__ import main, parser, trainings
from examples.reproduction.training import MODELS, PROTOCOLS, build, train_together


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("model", MODELS)
def test_protocols_are_settings_of_public_classes(model, protocol):
    training = Training("helmholtz", model, 6, 2, seed=7, **PROTOCOLS[protocol])
    built, callbacks = build(training)
    assert built.seed == 7
    kernels = built.network.head.kernel_initializer
    assert isinstance(kernels, keras.initializers.GlorotNormal) != training.untruncated
    if training.untruncated:
        assert kernels.distribution == "untruncated_normal"
    gated = hasattr(built.network, "gates")
    assert gated == (model in ("M3", "M4"))
    assert bool(callbacks) == (model in ("M2", "M4"))
    assert built.network.standardize == training.standardize
    rate = built.optimizer.learning_rate
    assert float(rate) == pytest.approx(training.learning_rate)
    if gated:
        assert built.network.gate_input == training.gate_input
        drawn = bool(built.network.encoder_u.bias.numpy().any())
        assert drawn == training.encoder_biases == (protocol == "authors")
    if callbacks:
        rule = callbacks[0].rule
        assert (rule.alpha, rule.layers) == (training.alpha, training.layers)
        assert ("bias" in rule.exclude) == ("bias" in training.exclude)
        assert ("encoder" in rule.exclude) == (gated and "encoder" in training.exclude)


def test_authors_protocol_trains_a_plain_network():
    """Leave out encoders, which a plain network does not have."""
    training = Training("poisson-1", "M2", 4, 1, steps=2, **PROTOCOLS["authors"])
    assert np.isfinite(train(training)["errors"]["u"])


def test_training_is_recorded_and_reproducible():
    training = Training("poisson-2", "M2", 4, 1, seed=3, steps=40, batch_size=8)
    first, second = train(training), train(training)
    assert first["errors"] == second["errors"] and np.isfinite(first["errors"]["u"])
    assert first["weights"]["boundary_weight"] == second["weights"]["boundary_weight"]
    assert first["steps"] == 40
    packages = {"keraspinn", "keras", keras.config.backend(), "python"}
    assert packages < first["versions"].keys()


def test_second_stage_continues_the_first():
    training = Training("poisson-2", "M2", 8, 1, steps=200, second_steps=100)
    record, first = (
        train(training),
        train(dataclasses.replace(training, second_steps=0)),
    )
    assert record["errors"]["u"] < 0.1 * first["errors"]["u"]
    (weights,), (stood,) = record["weights"].values(), first["weights"].values()
    assert weights == [*stood, stood[-1]]
    (trace,), (begun,) = record["error_traces"].values(), first["error_traces"].values()
    assert trace[: len(begun)] == begun and len(trace) > len(begun)


def test_trials_of_an_ensemble_equal_those_trained_alone():
    first = Training("poisson-2", "M2", 4, 1, seed=3, steps=40, batch_size=8)
    pair = [first, dataclasses.replace(first, seed=4)]
    alone, together = [train(training) for training in pair], train_together(pair)
    for one, record in zip(alone, together, strict=True):
        assert record.pop("members") == 2 and record.keys() == one.keys()
        assert record["seed"] == one["seed"]
        for name in ("errors", "error_traces", "weights"):
            assert record[name].keys() == one[name].keys()
            for key, value in one[name].items():
                assert record[name][key] == pytest.approx(value, rel=1e-3)


def test_stopped_member_has_no_record(monkeypatch):
    first = Training("poisson-2", "M1", 4, 1, seed=3, steps=2, batch_size=8)
    monkeypatch.setattr(kp.Ensemble, "stopped", [1])
    record, error = train_together([first, dataclasses.replace(first, seed=4)])
    assert record["seed"] == 3 and isinstance(error, FloatingPointError)


def test_seeds_and_the_test_grid(monkeypatch):
    training = Training("poisson-2", "M1", 4, 1, seed=3, steps=2, batch_size=8)
    other = dataclasses.replace(training, seed=4)
    one, again, two = (
        build(settings)[0].network.get_weights()[0]
        for settings in (training, training, other)
    )
    assert (one == again).all() and (one != two).all()
    sizes, test_data = [], kp.Problem.test_data

    def counted(problem, size):
        sizes.append(size)
        return test_data(problem, size)

    monkeypatch.setattr(kp.Problem, "test_data", counted)
    train(training)
    assert sizes == [100]  # the paper's points a coordinate


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
    assert (only.schedule, only.rule, only.one_mean) == ("cosine", "literal", True)
    assert only.gate_input and only.exclude == ("bias",)


def test_settings_of_the_studies():
    made = wanted("stiffness", "--trials", "1")
    assert {training.model for training in made} == {"M1", "M3"}
    assert all(training.hessian_every for training in made) and len(made) == 4
    made = wanted("ablation", "--trials", "1", "--protocol", "best")
    changed = {training for training in made if training.schedule != "cosine"}
    assert len(made) == 2 * 2 * 9 and not changed
    # α = 0.1 is the protocol's, and M2 has no gate to act on the input.
    assert len(set(made)) == 2 * (7 + 8)
    (only,) = wanted("stiffness", "--models=M1", "--trials=1", "--hessian-every=5")[:1]
    assert only.hessian_every == 5
    made = wanted("cavity-psi-p", "--protocol", "authors", "--models", "M2", "M2")
    assert {(each.layers, each.boundary_weight) for each in made} == {("largest", 0.5)}
    assert len(made) == 3


def test_best_protocol_differs_from_its_first_stage():
    """Assign records from before the second stage to the first stage's protocol."""
    best = wanted("klein-gordon", "--trials", "1", "--protocol", "best")
    cosine = wanted("klein-gordon", "--trials", "1", "--protocol", "cosine")
    assert {(one.units, one.depth, one.second_steps) for one in best} == {(30, 3, 5000)}
    assert {(one.units, one.depth, one.second_steps) for one in cosine} == {(50, 5, 0)}
    options = ["--protocol", "best", "--second-steps", "0", "--architectures", "50x5"]
    assert wanted("klein-gordon", "--trials", "1", *options) == cosine


def test_fields_without_effect_make_no_new_training():
    plain = Training("helmholtz", "M1")
    other = {"alpha": 0.1, "gate_input": True, "corner_width": 0, "boundary_weight": 7}
    assert dataclasses.replace(plain, **other) == plain
    annealed = dataclasses.replace(plain, model="M2", **other)
    assert (annealed.alpha, annealed.gate_input) == (0.1, False)
    cavity = dataclasses.replace(plain, problem="cavity-psi-p", **other)
    assert (cavity.alpha, cavity.corner_width, cavity.boundary_weight) == (0.9, 0, 7)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("problem", "burgers", "`problem` must be one of helmholtz, "),
        ("model", "M5", "`model` must be one of M1, M2, M3, M4. Received: model='M5'"),
        ("layers", "all", "`layers` must be one of pooled, averaged, largest"),
        ("units", 0, "`units` must be at least 1. Received: units=0"),
        ("seed", -1, "`seed` must be at least 0"),
        ("steps", 1500, "`steps` must be a number up to 1,000 or a multiple"),
    ],
)
def test_rejects_impossible_trainings(field, value, message):
    with pytest.raises(ValueError, match=message):
        dataclasses.replace(Training("helmholtz", "M2"), **{field: value})


def test_command_with_wrong_numbers_trains_nothing(monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["reproduce", "poisson", "--steps", "1500"])
    with pytest.raises(SystemExit):
        main()
    assert "`steps` must be a number up to 1,000" in capsys.readouterr().err


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


def test_schedules_have_the_length_of_a_training():
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
