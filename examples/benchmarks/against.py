"""Comparison of step times between this checkout and another.

    git worktree add /tmp/before REVISION
    python examples/benchmarks/against.py /tmp/before

The models are M1 and M4 with 50 units × 5 hidden layers and 128 points in each batch,
trained by `fit` with the fused loop. A process for each checkout compiles first. Then
the two take turns, in an order that alternates. The memory layout of a process changes
its time by several per cent, so pairs of processes are started several times. The
program prints the smallest time of a step of each, and the quartiles of the ratios.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parents[2]
WORKER = """
import sys, time
import keras
import keraspinn as kp

def problem(name):
    if name == "helmholtz":
        return kp.problems.helmholtz()
    return kp.problems.lid_driven_cavity(corner_width=0)

name, kind, units, depth = sys.argv[1], sys.argv[2], *map(int, sys.argv[3:])
network = {"M1": kp.networks.MLP, "M4": kp.networks.ModifiedMLP}[kind]
problem = problem(name)
outputs = {"helmholtz": 1, "cavity": 2}[name]
model = kp.PINNModel(problem, network(units, depth, outputs=outputs), seed=0)
model.compile(keras.optimizers.Adam(1e-3))
annealing = kp.callbacks.LearningRateAnnealing(alpha=0.9)
callbacks = [annealing] if kind == "M4" else []
for line in sys.stdin:
    steps = int(line)
    began = time.perf_counter()
    model.fit(steps_per_epoch=steps, callbacks=callbacks, verbose=0)
    print("took", time.perf_counter() - began, flush=True)
"""


class Worker:
    """Process that trains with one checkout on request."""

    def __init__(self, folder, case, size):
        environment = {"PYTHONPATH": str(folder), "TF_CPP_MIN_LOG_LEVEL": "3"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", WORKER, *case, *map(str, size)],
            cwd=folder,
            env={**os.environ, **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def fit(self, steps):
        """Return the seconds that `fit` takes for `steps`."""
        print(steps, file=self.process.stdin, flush=True)
        for line in self.process.stdout:
            if line.startswith("took "):
                return float(line.split()[1])
        raise RuntimeError("a worker ended; its error stands above")

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def compare(other, case, size, steps, pairs, rounds):
    """Return the smallest milliseconds a step of both, and quartiles of the ratios."""
    times = [[], []]
    for _ in range(pairs):
        workers = [Worker(folder, case, size) for folder in (HERE, other)]
        for worker in workers:
            worker.fit(100)  # compiles
        for turn in range(rounds):
            for number in (0, 1) if turn % 2 else (1, 0):
                times[number].append(1000 * workers[number].fit(steps) / steps)
        for worker in workers:
            worker.close()
    ratios = [here / there for here, there in zip(*times, strict=True)]
    return min(times[0]), min(times[1]), statistics.quantiles(ratios, n=4)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("other", type=pathlib.Path, help="folder of the checkout")
    parser.add_argument("--steps", type=int, default=2000, help="of a fit")
    parser.add_argument("--pairs", type=int, default=3, help="of processes, a case")
    parser.add_argument("--rounds", type=int, default=5, help="of each pair")
    parser.add_argument("--units", type=int, default=50)
    parser.add_argument("--depth", type=int, default=5)
    arguments = parser.parse_args()
    size = arguments.units, arguments.depth
    for problem in ("helmholtz", "cavity"):
        for model in ("M1", "M4"):
            here, there, (low, median, high) = compare(
                arguments.other.resolve(),
                (problem, model),
                size,
                arguments.steps,
                arguments.pairs,
                arguments.rounds,
            )
            print(
                f"{problem:9} {model}: {here:.3f} ms here, {there:.3f} there; "
                f"ratio {median:.3f} (quartiles {low:.3f} to {high:.3f})",
                flush=True,
            )


if __name__ == "__main__":
    main()
