import dataclasses

from keraspinn.reproduce import Results, Training
from keraspinn.reproduce.pool import run, shares

GOOD = Training("poisson-1", "M1", 4, 1, steps=20, batch_size=8)


def test_a_failure_does_not_lose_the_others(tmp_path, capfd):
    bad = dataclasses.replace(GOOD, batch_size=0)
    later = dataclasses.replace(GOOD, seed=1)
    results = Results(tmp_path / "results.jsonl")
    run([bad, GOOD, later], results, workers=2)
    assert set(results.records()) == {GOOD, later}
    printed = capfd.readouterr().out
    assert "seed 0: ValueError: `batch_size` must" in printed and "3/3" in printed


def test_workers_share_the_cores():
    assert shares([0, 1, 2, 3], 1) == [[0, 1, 2, 3]]
    assert shares([0, 1, 2, 3, 4], 2) == [[0, 2, 4], [1, 3]]
    assert shares([0, 3], 3) == [[0], [3], [0]]
    assert shares([], 2) == [[], []]  # where the system does not tell
