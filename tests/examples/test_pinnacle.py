"""Programs of the PINNacle problems: their length, records and runs of fewer steps."""

import json
import re

import matplotlib
import numpy as np
import pytest

from examples.pinnacle import __main__ as pinnacle
from examples.pinnacle.common import table

matplotlib.use("Agg")
RECORDS = json.loads(pinnacle.RECORDS.read_text("utf-8"))


@pytest.mark.parametrize("name", pinnacle.BEST)
def test_program_is_short(name):
    assert len(pinnacle.source(name).splitlines()) < 60


@pytest.mark.parametrize("name", RECORDS)
def test_record_is_of_its_program(name):
    source = pinnacle.source(name)
    record = RECORDS[name]["last"]
    steps = re.search(r"^seed, adam, second = 0, (\d+), (\d+)$", source, re.MULTILINE)
    assert list(record["steps"].values()) == [int(n) for n in steps.groups()]
    shape = r"units(?:=|, depth = )(\d+), (?:depth=)?(\d+)"
    units, depth = re.search(shape, source).groups()
    assert record["network"] == f"{units}x{depth}"
    assert int(units) <= 100 and int(depth) <= 5
    assert sum(record["steps"].values()) <= 20_000


def test_page_has_the_records():
    assert pinnacle.table(RECORDS) in pinnacle.PAGE.read_text("utf-8")


@pytest.mark.parametrize("name", ["poisson_2d_c", "ns_2d_c"])
def test_programs_run(name):
    program = re.sub(
        r"seed, adam, second = 0, \d+, \d+",
        "seed, adam, second = 0, 2, 8",
        pinnacle.source(name),
    )
    left = {}
    exec(compile(program, name, "exec"), left)
    record = pinnacle.record_of(left, 1.0, 1.0)
    assert record["steps"] == {"Adam": 2, "SSBroyden": 8}
    assert 0 < record["error"] < 10
    assert left["figure"].axes


def test_error_is_of_all_fields_together():
    """Compute the error as PINNacle does: large fields count more than small ones."""

    class Model:
        def predict_expression(self, expression, points):
            return {"u": np.array([3.0, 0.0]), "v": np.array([0.0, 1.0])}[expression]

    class Problem:
        def __init__(self):
            self.reference_expressions = {"u": "u", "v": "v"}

        def test_data(self):
            values = {"u": np.array([3.0, 4.0]), "v": np.array([0.0, 0.0])}
            return np.zeros((2, 1)), values

    error = pinnacle.relative_error(Model(), Problem())
    assert error == pytest.approx(np.sqrt(17) / 5)


def test_tables_have_a_column_for_each_coordinate_and_field():
    points, u, v, p = table("ns_2d_c")
    assert points.shape == (41**2 - 2, 2) and len(u) == len(v) == len(p) == len(points)
    lid = points[:, 1] == 1
    np.testing.assert_allclose(
        u[lid], 4 * points[lid, 0] * (1 - points[lid, 0]), atol=1e-4
    )
    assert np.abs(v[lid]).max() < 1e-4
