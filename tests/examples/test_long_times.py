"""References and table of the study of long times."""

import dataclasses

import numpy as np
import pytest

from examples.long_times import __main__ as study
from examples.long_times.case import ode
from examples.long_times.spectral import evolution


def test_fourier_series_agree_with_a_travelling_decaying_wave():
    truth = evolution(
        "u",
        lambda ik: 0.1 * ik**2,
        lambda u, ik: -2 * ik * np.fft.fft(u),
        np.sin,
        (0, 2 * np.pi),
        1.0,
        32,
        400,
    )
    points, fields, error = truth()
    exact = np.exp(-0.1 * points[:, 1]) * np.sin(points[:, 0] - 2 * points[:, 1])
    np.testing.assert_allclose(fields["u"], exact, atol=1e-9)
    assert error < 1e-8


def test_integrators_state_their_error():
    points, fields, error = ode(
        lambda t, y: [y[1], -y[0]], [1, 0], 5, ["u"], columns=[0]
    )()
    np.testing.assert_allclose(fields["u"], np.cos(points[:, 0]), atol=1e-9)
    assert error < 1e-8


def test_every_problem_has_a_file():
    files = {
        path.stem for path in study.pathlib.Path(study.__file__).parent.glob("*.py")
    }
    assert {*study.NAMES} <= files
    others = {"__init__", "__main__", "case", "cavity", "spectral"}
    assert files - {*study.NAMES} == others


def test_the_table_holds_the_first_and_the_last_run():
    def run(error):
        return {"error": error, "windows": 10, "cpu_seconds": 68}

    seeds = {"0": {"first": run(1e-3), "last": run(2e-5)}}
    seeds["1"] = {"first": run(3e-5), "last": run(3e-5)}
    one = {"0": {"first": run(0.5), "last": run(0.5)}}
    table = study.table({"pendulum": {"windows": seeds, "one interval": one}})
    (row,) = (line for line in table.splitlines() if "Pendulum" in line)
    for cell in ("**2.0e-05**", "1.0e-03", "3.0e-05", "5.0e-01", "68 s"):
        assert f" {cell} " in row


def test_the_page_shows_the_record():
    assert f"\n{study.table(study.read())}\n" in study.PAGE.read_text("utf-8")


def test_a_failed_run_is_shown_as_one():
    assert study.shown({"failure": "The window from 0 to 1 ..."}) == "stopped"


def test_one_interval_ends_with_its_cpu_time():
    callback = study.StopAfter(0.0)
    callback.set_model(type("Model", (), {"stop_training": False})())
    callback.on_epoch_end(0)
    assert callback.model.stop_training


@pytest.mark.slow
def test_a_continuation_is_recorded_like_windows(monkeypatch):
    case = dataclasses.replace(
        study.case_of("cavity_1000"), units=4, depth=1, steps=5, points=20
    )
    points = np.array([[0.25, 0.5], [0.5, 0.75]])
    ones = dict.fromkeys(case.compared, np.ones(2))
    case = dataclasses.replace(case, truth=lambda: (points, ones, 0.01))
    monkeypatch.setattr(study, "case_of", lambda name: case)
    monkeypatch.setattr(study, "ADAM_STEPS", 5)
    record = study.record_of("cavity_1000", 0)
    assert record["windows"] == 3 and record["optimizer"] == "Adam, SSBroyden"
    assert record["errors"].keys() == {"speed", "u", "v"}
