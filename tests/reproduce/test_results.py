import dataclasses
import json

import pytest

from keraspinn.reproduce import Results, Training

FIRST = Training("helmholtz", "M1", exclude=("bias",))
SECOND = dataclasses.replace(FIRST, seed=1)


def record(training, error=0.5):
    return {**dataclasses.asdict(training), "errors": {"u": error}, "seconds": 1.0}


def test_only_what_is_missing_is_left(tmp_path):
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


def test_a_record_cut_short_is_none(tmp_path):
    results = Results(tmp_path / "results.jsonl")
    results.append(record(FIRST))
    with results.path.open("a") as file:
        file.write(json.dumps(record(SECOND))[:40])
    assert list(results.records()) == [FIRST]
    results.append(record(SECOND))
    assert set(results.records()) == {FIRST, SECOND}


def test_other_damage_is_told(tmp_path):
    results = Results(tmp_path / "results.jsonl")
    results.path.write_text("nonsense\n" + json.dumps(record(FIRST)) + "\n")
    with pytest.raises(ValueError, match="Line 1 of .* is not JSON"):
        results.records()
