import dataclasses
import math

from examples.reproduction import Training, ablation, stiffness
from examples.reproduction.tables import PAPER, table, timings


def record(model, seed, error, **changes):
    training = Training("helmholtz", model, 50, 3, seed, **changes)
    return {**dataclasses.asdict(training), "errors": {"u": error}, "seconds": 10}


def test_means_deviations_and_the_papers_figure():
    records = [record("M4", 0, 3e-3), record("M4", 1, 5e-3), record("M1", 0, 0.2)]
    assert table(records, ["helmholtz"]).splitlines() == [
        "| problem | network | M1 | M4 |",
        "| --- | --- | --- | --- |",
        "| helmholtz | 50 × 3 | 2.00e-01 (1.06e-01, × 1.89) | "
        "4.00e-03 ± 1.4e-03 (3.87e-03, × 1.03) |",
    ]
    records[0]["seconds"], records[1]["seconds"] = 20, 30
    assert timings(records, ["helmholtz"]).splitlines()[2:] == [
        "| helmholtz | 50 × 3 | 10 s (× 1.00) | – | – | 25 s (× 2.50) |"
    ]
    assert "| 25 s |" in timings(records[:2], ["helmholtz"])


def test_row_for_each_reading():
    pairs = [("weighted", record("M2", seed, 1e-2)) for seed in (0, 1)]
    pairs.append(("literal", record("M2", 0, 1.0)))
    pairs.append(("literal", record("M4", 0, 0.5)))
    assert ablation.table(pairs).splitlines() == [
        "| reading | helmholtz M2 | helmholtz M4 |",
        "| --- | --- | --- |",
        "| weighted | 1.00e-02 ± 0.0e+00 | – |",
        "| literal | 1.00e+00 | 5.00e-01 |",
    ]


def test_stiffness_of_the_second_half():
    traces = {"M1": [9.0, 9.0, 300.0, 100.0, 200.0], "M3": [0.0, 50.0]}
    records = [
        record(model, 0, 0.1) | {"eigenvalues": trace}
        for model, trace in traces.items()
    ]
    assert stiffness.table(records).splitlines() == [
        "| problem | network | M1 | M3 | M1 / M3 (about 3) |",
        "| --- | --- | --- | --- | --- |",
        "| helmholtz | 50 × 3 | 2.00e+02 | 5.00e+01 | 4.0 |",
    ]
    assert stiffness.table([records[0]]).endswith("| 2.00e+02 | – |")
    assert "helmholtz" not in stiffness.table(
        [record("M1", 0, 1) | {"eigenvalues": []}]
    )


def test_nonfinite_errors_are_counted_apart():
    records = [record("M4", seed, e) for seed, e in enumerate((math.nan, 3e-3, 5e-3))]
    assert "4.00e-03 ± 1.4e-03, 1 not finite |" in table(records, ["helmholtz"])
    assert "| –, 1 not finite |" in table(records[:1], ["helmholtz"])


def test_readings_of_several_networks_are_columns():
    pairs = [("weighted", record("M2", 0, 1e-2))]
    pairs.append(("weighted", record("M2", 0, 1e-3) | {"units": 100}))
    header, _, row = ablation.table(pairs).splitlines()
    assert header == "| reading | helmholtz M2 100 × 3 | helmholtz M2 50 × 3 |"
    assert row == "| weighted | 1.00e-03 | 1.00e-02 |"


def test_the_paper_says_m4_is_best():
    for rows in PAPER["helmholtz"].values():
        m1, m2, m3, m4 = rows
        assert m1 > m2 > m4 and m1 > m3 > m4
