import dataclasses
import os
import pathlib
import signal
import subprocess
import sys
import time

from examples.reproduction import Results, Training
from examples.reproduction.pool import run, shares, trials

ROOT = pathlib.Path(__file__).parents[3]
GOOD = Training("poisson-1", "M1", 4, 1, steps=20, batch_size=8)


def test_failed_training_does_not_lose_the_others(tmp_path, capfd):
    bad = dataclasses.replace(GOOD, model="M2", exclude=("kernel", "bias"))
    later = dataclasses.replace(GOOD, seed=1)
    results = Results(tmp_path / "results.jsonl")
    assert run([bad, GOOD, later], results, workers=2) == 1
    assert set(results.records()) == {GOOD, later}
    printed = capfd.readouterr().out
    assert "M2 4x1 seed 0: ValueError: " in printed and "3/3" in printed


def test_interrupted_command_stops_and_resumes(tmp_path):
    results = Results(tmp_path / "results.jsonl")
    command = [sys.executable, "-m", "examples.reproduction", "poisson"]
    command += ["--results", str(results.path), "--workers", "1", "--trials", "1"]
    process = subprocess.Popen(
        [*command, "--architectures", "4x1", "--steps", "2000"],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
        # In the background, children of shells ignore the signal.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    while not results.path.exists():  # the first record
        assert process.poll() is None
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    printed, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Stopped. The same command goes on from here." in printed
    assert results.records()


def test_workers_share_the_cores():
    assert shares([0, 1, 2, 3], 1) == [[0, 1, 2, 3]]
    assert shares([0, 1, 2, 3, 4], 2) == [[0, 2, 4], [1, 3]]
    assert shares([0, 3], 3) == [[0], [3], [0]]
    assert shares([], 2) == [[], []]  # where the system does not tell


def test_trials_differ_in_the_seed_alone():
    seeds = [dataclasses.replace(GOOD, seed=seed) for seed in (0, 1, 2, 5)]
    other = dataclasses.replace(GOOD, units=5, seed=1)
    watched = [dataclasses.replace(one, hessian_every=10) for one in seeds[:2]]
    watched += [dataclasses.replace(one, second_steps=10) for one in seeds[:2]]
    tasks = trials([seeds[2], *watched, other, seeds[3], *seeds[:2]])
    alone = [other, seeds[3], *watched]
    assert set(tasks) == {tuple(seeds[:3]), *((one,) for one in alone)}
    assert len(tasks) == 7
