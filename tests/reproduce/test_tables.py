import dataclasses

from keraspinn.reproduce import Training
from keraspinn.reproduce.tables import PAPER, table


def record(model, seed, error, **changes):
    training = Training("helmholtz", model, 50, 3, seed, **changes)
    return {**dataclasses.asdict(training), "errors": {"u": error}, "seconds": 10}


def test_means_deviations_and_the_papers_figure():
    records = [record("M4", 0, 3e-3), record("M4", 1, 5e-3), record("M1", 0, 0.2)]
    records.append(record("M4", 2, 1.0, steps=10))
    lines = table(records, ["helmholtz"], 40_000).splitlines()
    assert lines[2:] == [
        "| helmholtz | 50 × 3 | M1 | 1 | 2.00e-01 | 1.06e-01 | 1.89 | 10 |",
        "| helmholtz | 50 × 3 | M4 | 2 | 4.00e-03 ± 1.4e-03 | 3.87e-03 | 1.03 | 10 |",
    ]


def test_the_paper_says_m4_is_best():
    for rows in PAPER["helmholtz"].values():
        m1, m2, m3, m4 = rows
        assert m1 > m2 > m4 and m1 > m3 > m4
