"""Our optimizers and those of other packages, one after another on the same core.

taskset -c 0 python -m examples.second_stage.peers --seconds 120

All optimizers train a problem before the next problem begins. Runs that have a record
are skipped. Our runs are those of `python -m examples.second_stage`. Other packages run
in separate virtual environments, which are built first.
"""

import argparse
import json
import os
import pathlib
import platform
import subprocess
import sys
import tempfile

import keras
import numpy as np

from examples.benchmarks.environments import environment, python_of
from examples.second_stage.peers.statements import STATEMENTS
from examples.second_stage.problems import CASES

OURS = ("Adam", "SOAP", "LBFGS", "SSBroyden", "GaussNewton")
# Module, requirements and options, by name in the table.
PEERS = {
    "DeepXDE, L-BFGS": ("deepxde_lbfgs", "deepxde_torch.txt", ("--weight", "100")),
    "jinns, natural gradient": ("jinns_natural", "jinns_step.txt", ("--adam", "0")),
    "jinns, after Adam": ("jinns_natural", "jinns_step.txt", ()),
}
HERE = "examples.second_stage"


def train_ours(problem, optimizer, options):
    """Train with one of our optimizers, which adds a record to the results."""
    command = [sys.executable, "-m", HERE, problem, "--optimizer", optimizer]
    command += ["--seconds", str(options.seconds), "--seed", str(options.seed)]
    subprocess.run([*command, "--results", str(options.results)], check=True)


def train_theirs(problem, name, python, test, options):
    """Train with another package, and add a record to the results."""
    case = CASES[problem]
    module, _, extra = PEERS[name]
    command = [python, "-m", f"{HERE}.peers.{module}", problem, str(test), *extra]
    sizes = {"units": case.units, "depth": case.depth, "points": case.points}
    for option, value in {
        **sizes,
        "seconds": options.seconds,
        "seed": options.seed,
    }.items():
        command += [f"--{option}", str(value)]
    variables = environment({"DDE_BACKEND": "pytorch"})
    process = subprocess.run(command, env=variables, stdout=subprocess.PIPE, text=True)
    print(process.stdout, flush=True)
    lines = [
        json.loads(line) for line in process.stdout.splitlines() if line[:1] == "{"
    ]
    if process.returncode:
        print(f"{name} failed on {problem}: no record", flush=True)
        return
    versions, *trace = lines
    record = {
        "problem": problem,
        "optimizer": name,
        "network": "plain",
        "size": f"{case.units}x{case.depth}",
        "weights": "fixed",
        "seed": options.seed,
        "points": case.points,
        "held_back": case.held_back,
        "trace": trace,
        "cores": len(os.sched_getaffinity(0)),
        "machine": f"{platform.machine()}, {platform.processor() or 'CPU'}",
        **versions,
    }
    with options.results.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")


def held(results):
    """Return the problem, optimizer and seed of each record."""
    lines = results.read_text("utf-8").splitlines() if results.exists() else []
    names = "problem", "optimizer", "seed"
    return {tuple(json.loads(line)[name] for name in names) for line in lines}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problems", nargs="*", default=list(STATEMENTS))
    optimizers = [*OURS, *PEERS]
    parser.add_argument(
        "--optimizers", nargs="+", choices=optimizers, default=optimizers
    )
    parser.add_argument("--seconds", type=float, default=120.0, help="of the processor")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--results",
        type=pathlib.Path,
        default=pathlib.Path("docs/results/second_stage_peers.jsonl"),
    )
    parser.add_argument(
        "--cache",
        default=pathlib.Path.home() / ".cache" / "keraspinn" / "benchmarks",
        help="folder for virtual environments",
    )
    options = parser.parse_args()
    keras.config.set_dtype_policy("float64")
    pythons = {name: python_of(PEERS[name][1], options.cache) for name in PEERS}
    for problem in options.problems:
        points, values = CASES[problem].problem().test_data()[:2]
        (values,) = values.values()
        with tempfile.TemporaryDirectory() as folder:
            test = pathlib.Path(folder) / "test.npz"
            np.savez(test, points=points, values=np.ravel(values))
            for optimizer in options.optimizers:
                if (problem, optimizer, options.seed) in held(options.results):
                    continue
                if optimizer in OURS:
                    train_ours(problem, optimizer, options)
                else:
                    python = pythons[optimizer]
                    train_theirs(problem, optimizer, python, test, options)


if __name__ == "__main__":
    main()
