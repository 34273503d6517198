"""Our optimizers and other packages', one after another on the same core.

taskset -c 0 python -m examples.second_stage.peers --seconds 120

Each problem is trained by all before the next begins, but for what the results hold
already. Ours are the runs of `python -m examples.second_stage`; other packages have
virtual environments of their own, which are built first.
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
# A name in the table: module, requirements and options.
PEERS = {
    "DeepXDE, L-BFGS": ("deepxde_lbfgs", "deepxde_torch.txt", ("--weight", "100")),
    "jinns, natural gradient": ("jinns_natural", "jinns_step.txt", ("--adam", "0")),
    "jinns, after Adam": ("jinns_natural", "jinns_step.txt", ()),
}
HERE = "examples.second_stage"


def train_ours(problem, optimizer, given):
    """Adds a record to the results."""
    command = [sys.executable, "-m", HERE, problem, "--optimizer", optimizer]
    command += ["--seconds", str(given.seconds), "--seed", str(given.seed)]
    subprocess.run([*command, "--results", str(given.results)], check=True)


def train_theirs(problem, name, python, test, given):
    """Adds a record like ours to the results."""
    case = CASES[problem]
    module, _, options = PEERS[name]
    command = [python, "-m", f"{HERE}.peers.{module}", problem, str(test), *options]
    sizes = {"units": case.units, "depth": case.depth, "points": case.points}
    for option, value in {
        **sizes,
        "seconds": given.seconds,
        "seed": given.seed,
    }.items():
        command += [f"--{option}", str(value)]
    variables = environment({"DDE_BACKEND": "pytorch"})
    ended = subprocess.run(command, env=variables, stdout=subprocess.PIPE, text=True)
    print(ended.stdout, flush=True)
    lines = [json.loads(line) for line in ended.stdout.splitlines() if line[:1] == "{"]
    if ended.returncode:
        print(f"{name} failed on {problem}: no record", flush=True)
        return
    versions, *trace = lines
    record = {
        "problem": problem,
        "optimizer": name,
        "network": "plain",
        "size": f"{case.units}x{case.depth}",
        "weights": "fixed",
        "seed": given.seed,
        "points": case.points,
        "held_back": case.held_back,
        "trace": trace,
        "cores": len(os.sched_getaffinity(0)),
        "machine": f"{platform.machine()}, {platform.processor() or 'CPU'}",
        **versions,
    }
    with given.results.open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")


def held(results):
    """Problem, optimizer and seed of each record."""
    lines = results.read_text("utf-8").splitlines() if results.exists() else []
    names = "problem", "optimizer", "seed"
    return {tuple(json.loads(line)[name] for name in names) for line in lines}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problems", nargs="*", default=list(STATEMENTS))
    every = [*OURS, *PEERS]
    parser.add_argument("--optimizers", nargs="+", choices=every, default=every)
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
    given = parser.parse_args()
    keras.config.set_dtype_policy("float64")
    pythons = {name: python_of(PEERS[name][1], given.cache) for name in PEERS}
    for problem in given.problems:
        points, values = CASES[problem].problem().test_data()[:2]
        (values,) = values.values()
        with tempfile.TemporaryDirectory() as folder:
            test = pathlib.Path(folder) / "test.npz"
            np.savez(test, points=points, values=np.ravel(values))
            for optimizer in given.optimizers:
                if (problem, optimizer, given.seed) in held(given.results):
                    continue
                if optimizer in OURS:
                    train_ours(problem, optimizer, given)
                else:
                    python = pythons[optimizer]
                    train_theirs(problem, optimizer, python, test, given)


if __name__ == "__main__":
    main()
