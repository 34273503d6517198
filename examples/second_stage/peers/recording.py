"""Command line and records of the programs for other packages."""

import argparse
import importlib.metadata
import json
import time

import numpy as np

from examples.second_stage.peers.statements import STATEMENTS

# CPU seconds between two copies of the weights.
PERIOD = 1.0

# Number of points on each side with a condition.
SIDE = 200


class Recorder:
    """Copies of weights during training, whose errors are computed after it.

    Args:
        seconds: CPU seconds of the training.
    """

    def __init__(self, seconds):
        self._seconds, self._kept = seconds, []
        self._cpu, self._wall = time.process_time(), time.perf_counter()

    @property
    def over(self):
        """Return whether the time is over."""
        return time.process_time() - self._cpu >= self._seconds

    def keep(self, stage, steps, weights):
        """Keep weights once in `PERIOD`, and when the time is over.

        Args:
            stage: Name of the stage.
            steps: Number of steps in the stage.
            weights: Function without arguments that returns a copy of the weights.
        """
        cpu = time.process_time() - self._cpu
        if self.over or not self._kept or cpu > self._kept[-1][2] + PERIOD:
            wall = time.perf_counter() - self._wall
            self._kept.append((stage, steps, cpu, wall, weights()))

    def tell(self, error, packages):
        """Print versions and the trace, a line of JSON for each copy of the weights.

        Args:
            error: Function from weights to the relative L2 error.
            packages: Names of packages whose versions are printed.
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
    """Return the options, with the statement and the test points of the problem."""
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
    options = parser.parse_args()
    options.statement = STATEMENTS[options.problem]()
    with np.load(options.test) as data:
        options.test = data["points"], data["values"]
    return options
