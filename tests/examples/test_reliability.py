"""The commands that kill trainings and fuzz files, with little to do."""

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


def test_kills(tmp_path):
    arguments = ("--kills", "2", "--trainings", "inverse", "--epochs", "4")
    record = run(tmp_path, "kills.py", *arguments, "--busy", "0", "--seed", "1")
    assert record["kills"] == 2 and record["trainings"] >= 1
    assert record["trainings"] == record["trainings whose end is equal to the bit"]


def test_fuzz(tmp_path):
    record = run(tmp_path, "fuzz.py", "--files", "20", "--no-attacks")
    assert record["files"] == 20 and record["code run"] == 0
    assert set(record["outcomes"]) <= {"refused", "loaded"}
