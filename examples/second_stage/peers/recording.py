"""Command line and records of another package's program."""

import argparse
import importlib.metadata
import json
import time

import numpy as np

from examples.second_stage.peers.statements import STATEMENTS

PERIOD = 1.0

SIDE = 200
"""Points on each side that has a condition."""


class Recorder:
    """Weights on the way, for errors that are taken when the training is over.

    Args:
        seconds: Seconds of the processor that the training may take.
    """

    def __init__(self, seconds):
        self._seconds, self._kept = seconds, []
        self._cpu, self._wall = time.process_time(), time.perf_counter()

    @property
    def over(self):
        """A flag: the time is over."""
        return time.process_time() - self._cpu >= self._seconds

    def keep(self, stage, steps, weights):
        """Keep weights if there are none of the last second, or when it is over.

        Args:
            weights: Function without arguments that returns a copy of them.
        """
        cpu = time.process_time() - self._cpu
        if self.over or not self._kept or cpu > self._kept[-1][2] + PERIOD:
            wall = time.perf_counter() - self._wall
            self._kept.append((stage, steps, cpu, wall, weights()))

    def tell(self, error, packages):
        """Print versions and the trace, a line of JSON for each of the weights.

        Args:
            error: Function from weights to the relative L2 error.
            packages: Names of those whose versions matter.
        """
        versions = {name: importlib.metadata.version(name) for name in packages}
        print(json.dumps({"versions": versions}), flush=True)
        for stage, steps, cpu, wall, weights in self._kept:
            line = {
                "stage": stage,
                "steps": steps,
                "seconds": round(wall, 1),
                "cpu_seconds": round(cpu, 1),
                "u_relative_l2": float(error(weights)),
            }
            print(json.dumps(line), flush=True)


def relative_l2(values, exact):
    return np.linalg.norm(np.ravel(values) - exact) / np.linalg.norm(exact)


def parsed():
    """The command line, with the statement and the points to take errors at."""
    parser = argparse.ArgumentParser()
    parser.add_argument("problem", choices=STATEMENTS)
    parser.add_argument("test", help=".npz of `points` and `values`")
    parser.add_argument("--units", type=int, required=True)
    parser.add_argument("--depth", type=int, required=True)
    parser.add_argument("--points", type=int, required=True, help="inside")
    parser.add_argument("--weight", type=float, default=1.0, help="of the conditions")
    parser.add_argument("--adam", type=int, default=2000, help="steps before")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=300.0, help="of the processor")
    given = parser.parse_args()
    given.statement = STATEMENTS[given.problem]()
    with np.load(given.test) as data:
        given.test = data["points"], data["values"]
    return given
