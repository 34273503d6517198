"""Commands that kill trainings and draw random problems, in short runs."""

import json
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).parents[2] / "examples" / "reliability"


def run(tmp_path, name, *arguments):
    output = tmp_path / "record.json"
    command = [sys.executable, str(FOLDER / name), "--output", str(output)]
    subprocess.run(
        [*command, *arguments], cwd=tmp_path, check=True, capture_output=True
    )
    return json.loads(output.read_text())


def test_killed_trainings_resume(tmp_path):
    arguments = ("--kills", "3", "--trainings", "inverse", "--epochs", "6")
    special = ("--full", "1", "--second", "1")
    record = run(tmp_path, "kills.py", *arguments, *special, "--busy", "0")
    assert record["kills"] == 3 and record["trainings"] >= 1
    assert record["killed on a full disk"] == record["second processes refused"] == 1
    assert record["trainings"] == record["trainings whose end is equal to the bit"]


def test_random_problems_have_known_outcomes(tmp_path):
    record = run(tmp_path, "declarations.py", "--problems", "3")
    assert record["problems"] >= 3 and sum(record["outcomes"].values()) >= 3
