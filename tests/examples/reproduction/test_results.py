import dataclasses
import json
import pathlib
import subprocess
import sys

import pytest

from examples.reproduction import Results, Training

ROOT = pathlib.Path(__file__).parents[3]
FIRST = Training("helmholtz", "M2", exclude=("bias",))
SECOND = dataclasses.replace(FIRST, seed=1)


def record(training, error=0.5):
    return {**dataclasses.asdict(training), "errors": {"u": error}, "seconds": 1.0}


def test_only_missing_trainings_are_left(tmp_path):
    results = Results(tmp_path / "kept" / "results.jsonl")
    assert results.missing([FIRST, SECOND]) == [FIRST, SECOND]
    results.append(record(FIRST))
    assert results.missing([FIRST, SECOND]) == [SECOND]
    assert results.records()[FIRST]["errors"] == {"u": 0.5}


def test_the_last_record_of_a_training_counts(tmp_path):
    results = Results(tmp_path / "results.jsonl")
    results.append(record(FIRST))
    results.append(record(FIRST, 0.25))
    assert results.records()[FIRST]["errors"]["u"] == 0.25


def test_truncated_record_is_ignored(tmp_path):
    results = Results(tmp_path / "results.jsonl")
    results.append(record(FIRST))
    with results.path.open("a") as file:
        file.write(json.dumps(record(SECOND))[:40])
    assert list(results.records()) == [FIRST]
    short = dataclasses.replace(SECOND, exclude=())
    results.append(record(short))
    assert set(results.records()) == {FIRST, short}
    # Complete but for its last character, the next record would truncate it.
    results.path.write_text(json.dumps(record(FIRST)))
    assert not results.records()


@pytest.mark.parametrize(
    "line", ["nonsense", "3", "[]", '{"a": 1}', '{"problem": "helmholtz"}']
)
def test_other_damage_raises(tmp_path, line):
    results = Results(tmp_path / "results.jsonl")
    results.path.write_text(f"\n{line}\n{json.dumps(record(FIRST))}\n")
    with pytest.raises(ValueError, match="Line 2 of .* is no record of a training"):
        results.records()


def test_older_records_have_default_fields(tmp_path):
    older = record(FIRST)
    del older["one_mean"], older["dtype"]
    results = Results(tmp_path / "results.jsonl")
    results.append(older)
    assert list(results.records()) == [FIRST]


APPEND = """
import sys
from examples.reproduction import Results
for place in range(100):
    Results(sys.argv[1]).append({"from": sys.argv[2], "place": place})
"""


def test_two_commands_may_append(tmp_path):
    path = tmp_path / "results.jsonl"
    commands = [
        subprocess.Popen([sys.executable, "-c", APPEND, str(path), name], cwd=ROOT)
        for name in "ab"
    ]
    assert [command.wait(300) for command in commands] == [0, 0]
    records = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(records) == 200
