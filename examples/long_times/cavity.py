"""Lid-driven cavity at high Reynolds numbers, by continuation."""

import functools
import itertools

import numpy as np
import sympy as sp

import keraspinn as kp
from examples.cavity_solver import lid_driven_cavity
from examples.long_times.case import Case
from examples.second_stage.cavity import compared_points, velocity

# Cells a side of the grids that Richardson's extrapolation combines.
CELLS = 128, 256, 384


def case(reynolds, aim):
    """Return the case of a Reynolds number, reached in steps from 100.

    Args:
        reynolds: List of Reynolds numbers from 100 to that of the case.
        aim: Relative L2 error to reach.
    """
    number = kp.Parameter("Re", reynolds[0])
    problem = kp.problems.lid_driven_cavity(number)
    u, v = velocity(problem)
    return Case(
        f"Cavity, Re = {reynolds[-1]}",
        aim,
        problem,
        functools.partial(truth, reynolds[-1]),
        units=30,
        depth=3,
        steps=1_500,
        points={"residual": 3_000, "boundary": 800},
        values={number: reynolds},
        compared={"speed": sp.sqrt(u**2 + v**2), "u": u, "v": v},
    )


def truth(reynolds):
    """Return points, speed and velocity there, and the error of these values.

    The error is the change by the finest grid.
    """
    points = compared_points()
    flows = [lid_driven_cavity(reynolds, n).at(points) for n in CELLS]
    velocities = [
        n**2 * np.stack([f["u"], f["v"]]) for n, f in zip(CELLS, flows, strict=True)
    ]
    pairs = zip(itertools.pairwise(velocities), itertools.pairwise(CELLS), strict=True)
    before, best = ((b - a) / (n**2 - m**2) for (a, b), (m, n) in pairs)
    error = np.linalg.norm(best - before) / np.linalg.norm(best)
    u, v = best
    return points, {"speed": np.hypot(u, v), "u": u, "v": v}, float(error)
