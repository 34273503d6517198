"""Shared data of the programs: holes of Heat 2d-CG, and tables of references."""

import pathlib

import numpy as np

TABLES = pathlib.Path(__file__).parent / "tables"

# Centres of holes with radius 1.
LARGE = [(-4, -3), (4, -3), (-4, 3), (4, 3), (-4, -9), (4, -9), (-4, 9), (4, 9)]
LARGE += [(0, 0), (0, 6), (0, -6)]
# Centres of holes with radius 0.4.
SMALL = [(-3.2, -6), (-3.2, 6), (3.2, -6), (3.2, 6), (-3.2, 0), (3.2, 0)]


def table(name):
    """Return points `(n, d)` of a table, and the values of each field, `(n,)`."""
    numbers = np.loadtxt(TABLES / f"{name}.csv", delimiter=",")
    with (TABLES / f"{name}.csv").open(encoding="utf-8") as file:
        names = file.readline().strip("# \n").split(",")
    dimension = sum(name in "xyzt" for name in names)
    return numbers[:, :dimension], *numbers[:, dimension:].T
