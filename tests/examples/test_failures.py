"""Page of failures and the records that it is made from."""

import dataclasses
import json
import pathlib

import numpy as np
import pytest

from examples import failures, runaway

DOCS = pathlib.Path(__file__).parents[2] / "docs"
RECORDS = json.loads((DOCS / "results" / "failures.json").read_text("utf-8"))["records"]


def test_page_has_the_tables():
    page = (DOCS / "diagnostics_measured.md").read_text("utf-8").splitlines()
    missing = [row for row in failures.tables(RECORDS) if row not in page]
    assert not missing
    assert list(RECORDS) == list(failures.FAILURES)


@pytest.mark.parametrize("name", RECORDS)
def test_failures_are_mended(name):
    failed, mended = RECORDS[name]
    # Single precision costs a few digits, and no more.
    least = 0.05 if name == "float32" else 1e-3
    assert mended["trusted"] and mended["error"] < least * failed["error"]


def test_diagnostics_tell_causes_apart():
    """Check the page's second table: rows of all causes and of no others."""

    def with_sign(sign):
        return [name for name, (failed, _) in RECORDS.items() if sign(failed)]

    def loss(record):
        return list(record["losses"].values())[-1]

    def small(record):
        return loss(record) < 1e-6

    assert with_sign(lambda r: small(r) and r["misfit"] > 1) == ["scales"]
    assert with_sign(lambda r: r["misfit"] < 1e-3 and r["estimate"] > 0.1) == [
        "missing condition"
    ]
    assert with_sign(lambda r: r["loss elsewhere"] > 1e3 * loss(r)) == [
        "too few points"
    ]
    assert with_sign(  # the second stage leaves the loss where it was
        lambda r: r["losses"].get("SSBroyden", 0) > r["losses"]["Adam"] / 2
    ) == ["wrong sign"]


def test_makes_a_record(monkeypatch):
    monkeypatch.setattr(failures, "ADAM", 10)
    monkeypatch.setattr(failures, "POINTS", 20)
    short = dataclasses.replace(failures.FAILURES["float32"], steps=10)
    made = failures.record(short)
    assert set(made["losses"]) == {"Adam", "SSBroyden"}
    assert np.isfinite([made["error"], made["estimate"], made["misfit"]]).all()


def test_literal_rule_diverges():
    for alpha in (0.1, 0.9):
        literal = runaway.weights("literal", alpha, updates=10)
        assert (literal[1:] / literal[:-1]).min() > 1 + alpha
        weighted = runaway.weights("weighted", alpha)
        assert weighted[-1] == pytest.approx(weighted[-2], rel=1e-2)
