"""Reference solutions by finite elements, and their differences on two meshes.

python -m examples.pinnacle.references

solves each problem on two meshes and writes the finer solution to `tables/`. The
relative difference of the two is in `docs/results/pinnacle_references.json`.
`--data DIR` also compares with the files in PINNacle's folder `ref/`. The program
needs scikit-fem: `pip install ".[examples]"`.
"""

import argparse
import dataclasses
import json
import pathlib
from collections.abc import Callable

import numpy as np
from scipy.stats import qmc

from examples.pinnacle.common import TABLES
from examples.pinnacle.references import balls, blocks, flow
from examples.pinnacle.references import heat_and_poisson as plane
from examples.pinnacle.references.meshes import grid

RECORDS = pathlib.Path(__file__).parents[3] / "docs/results/pinnacle_references.json"


@dataclasses.dataclass(frozen=True)
class Case:
    """Problem with a reference by finite elements.

    Args:
        solver: Function of an element size and points `(n, d)` that returns the values
            of each field, at one time of `times` after another.
        sizes: Element sizes of the two meshes, the finer one last.
        points: Points of the table `(n, d)`.
        header: Names of the columns.
        file: Name of PINNacle's file without its suffix, or `None`.
        singular: Points with an unbounded field, which no comparison includes.
        times: Times of the table, if the problem has time.
        digits: Significant digits in the table.
    """

    solver: Callable
    sizes: tuple
    points: np.ndarray
    header: str = "x,y,u"
    file: str | None = None
    singular: tuple = ()
    times: np.ndarray | None = None
    digits: int = 6

    def kept(self, points):
        """Return whether each point `(n, d)` is not singular."""
        return np.array([tuple(p) not in self.singular for p in points])


SQUARE = grid(41, 41, 0.5, 0.5, []) + 0.5
CHANNEL = grid(81, 41, 2, 1, []) + (2, 1)
CUBE = np.round(qmc.Halton(3, seed=0).random(4500), 4)
CASES = {
    "poisson_2d_c": Case(
        plane.poisson_2d_c,
        (0.016, 0.008),
        grid(41, 41, 0.5, 0.5, plane.EQUAL),
        file="poisson1_cg_data",
    ),
    "poisson_2d_cg": Case(
        plane.poisson_2d_cg,
        (0.032, 0.016),
        grid(41, 41, 1, 1, plane.UNEQUAL),
        file="poisson_boltzmann2d",
    ),
    "heat_2d_cg": Case(
        plane.heat_2d_cg,
        (0.3, 0.15),
        grid(25, 37, 8, 12, plane.HEATED),
        "x,y,t,u",
        times=plane.TIMES,
    ),
    "ns_2d_c": Case(
        flow.ns_2d_c,
        (1 / 32, 1 / 64),
        SQUARE,
        "x,y,u,v,p",
        "lid_driven_a4",
        singular=((0.0, 1.0), (1.0, 1.0)),
    ),
    "ns_2d_cg": Case(
        flow.ns_2d_cg,
        (1 / 24, 1 / 48),
        CHANNEL[(CHANNEL[:, 0] >= 2) | (CHANNEL[:, 1] <= 1)],
        "x,y,u,v,p",
        "ns_0_obstacle",
        singular=((2.0, 1.0),),
        digits=4,
    ),
    "poisson_3d_cg": Case(
        balls.poisson_3d_cg,
        (1 / 16, 1 / 32),
        CUBE[~balls.inside(CUBE)],
        "x,y,z,u",
        digits=4,
    ),
    "poisson_2d_ms": Case(
        blocks.poisson_2d_ms,
        (1 / 4, 1 / 8),
        grid(51, 51, blocks.HALF, blocks.HALF, []),
        digits=4,
    ),
}


def apart(fields, others):
    """Return the relative L2 difference of all fields together."""
    fields, others = np.concatenate(fields), np.concatenate(others)
    return float(np.linalg.norm(fields - others) / np.linalg.norm(others))


def solve(case, data=None):
    """Return the table of a case and the record of its differences."""
    points = case.points[case.kept(case.points)]
    coarse, fine = case.sizes
    theirs = np.empty((0, points.shape[1]))
    if data and case.file:
        theirs = np.loadtxt(data / f"{case.file}.dat", comments="%")
        theirs = theirs[case.kept(theirs[:, : points.shape[1]])]
    everywhere = np.concatenate([points, theirs[:, : points.shape[1]]])
    values = case.solver(fine, everywhere)
    count = len(values[0]) - len(theirs)
    ours, values = [v[count:] for v in values], [v[:count] for v in values]
    record = {"size": fine, "apart": apart(case.solver(coarse, points), values)}
    if len(theirs):
        record["from PINNacle's"] = apart(ours, list(theirs[:, points.shape[1] :].T))
    if case.times is not None:
        points = np.concatenate(
            [np.c_[points, 0 * points[:, :1] + t] for t in case.times]
        )
    return np.column_stack([points, *values]), record


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="name")
    parser.add_argument("--data", type=pathlib.Path, help="PINNacle's folder ref/")
    arguments = parser.parse_args()
    records = json.loads(RECORDS.read_text("utf-8")) if RECORDS.exists() else {}
    for name in arguments.names or CASES:
        numbers, record = solve(CASES[name], arguments.data)
        records.setdefault(name, {}).update(record)
        print(name, records[name], flush=True)
        TABLES.mkdir(exist_ok=True)
        digits, header = f"%.{CASES[name].digits}g", CASES[name].header
        np.savetxt(TABLES / f"{name}.csv", numbers, digits, ",", header=header)
    RECORDS.write_text(json.dumps(records, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
