"""Training on several devices, in separate programs: devices are set up once."""

import json
import os
import pathlib
import socket
import subprocess
import sys

import numpy as np
import pytest

import keraspinn

HERE = pathlib.Path(__file__).parent
PACKAGE = pathlib.Path(keraspinn.__file__).parents[1]
TIMEOUT = 300  # seconds; a hang ends as a failure


def start(program, *arguments):
    environment = os.environ | {"PYTHONPATH": str(PACKAGE), "CUDA_VISIBLE_DEVICES": ""}
    return subprocess.Popen(
        [sys.executable, HERE / program, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )


def output(process):
    try:
        out, err = process.communicate(timeout=TIMEOUT)
    finally:
        process.kill()
    return process.returncode, out, err


@pytest.fixture(scope="module")
def mirrored():
    code, out, err = output(start("mirrored.py"))
    assert code == 0, err
    return json.loads(out.splitlines()[-1])


@pytest.mark.parametrize(
    "name", ["Adam", "clipnorm", "global_clipnorm", "decay and averages"]
)
def test_two_replicas_equal_one_of_twice_the_batch(mirrored, name):
    (weights, loss), (shared, shared_loss), equal = mirrored["given"][name]
    assert equal is True
    np.testing.assert_allclose(shared, weights, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(shared_loss, loss, rtol=1e-4)


def test_evaluation_and_prediction_do_not_depend_on_devices(mirrored):
    one, two = mirrored["evaluated"]
    for single, shared in zip(one, two, strict=True):
        np.testing.assert_allclose(shared, single, rtol=1e-4, atol=1e-6)


def test_replicas_stay_equal_fused_and_eagerly(mirrored):
    fused, eager = mirrored["fused"], mirrored["eager"]
    assert fused[1:] == [20, True] and eager[1:] == [20, True]
    np.testing.assert_allclose(fused[0], eager[0], rtol=1e-4, atol=1e-6)


def test_nonfinite_step_stops_all_replicas(mirrored):
    assert "Training stopped at iteration" in mirrored["stopped"]
    assert mirrored["stopped at"] < 5
    assert (
        "the values of the coefficients (c = -1)"
        in mirrored["stopped with a coefficient"]
    )


def free_port():
    """Return a free port whose successor is free."""
    for _ in range(100):
        with socket.socket() as first, socket.socket() as second:
            first.bind(("localhost", 0))
            port = first.getsockname()[1]
            try:
                second.bind(("localhost", port + 1))
            except (OSError, OverflowError):
                continue
            return port
    raise RuntimeError("no two free ports in a row")


def run_workers(directory, killed_after):
    port = free_port()
    workers = [
        start("worker.py", rank, port, directory, killed_after) for rank in range(2)
    ]
    return [output(worker) for worker in workers]


def test_lost_worker_raises_and_training_resumes(mirrored, tmp_path):
    """Train on two workers, whose numbers equal those of two devices of one machine."""
    (code, _, error), (lost, _, _) = run_workers(tmp_path / "backup", killed_after=2)
    assert lost == -9
    assert code not in (0, -9), "the remaining worker must end with an error"
    assert "Collective ops is aborted" in error or "UNAVAILABLE" in error, error
    assert (tmp_path / "backup").is_dir()

    results = []
    for code, out, error in run_workers(tmp_path / "backup", killed_after=-1):
        assert code == 0, error
        results.append(json.loads(out.splitlines()[-1]))
    assert results[0] == results[1]
    weights, steps, predicted = results[0]
    assert steps == 20 and predicted == [25, 1]
    np.testing.assert_allclose(weights, mirrored["fused"][0], rtol=1e-4, atol=1e-6)
