"""Trains problems that fail and others that converge, and asks for a verdict of each.

python -m examples.verdicts --output docs/results/verdicts.json

Those that converge are asked twice, after Adam and after SSBroyden. What a verdict
estimates stands beside the true error, from a closed form or a classical solver. With
names of problems, only these are run, and their records replaced.
"""

import argparse
import json
import os
import pathlib
import platform
import time

import keras
import numpy as np

import keraspinn as kp
from examples.verdicts.problems import CASES

POINTS = 300
STEPS = 500
"""Steps of an epoch of SSBroyden, for which points are held."""


def run(name, seed=0, share=1.0):
    """Train one case; returns a list of records, one for each stage.

    Args:
        name: Name of the case.
        seed: Integer that weights and points follow from.
        share: Which part of the steps to take.
    """
    case = CASES[name]
    keras.utils.set_random_seed(seed)
    problem = case.problem().with_scales(None)
    network = kp.networks.MLP(case.units, case.depth, outputs=len(problem.fields))
    model = kp.PINNModel(problem, network, seed=seed)
    for weight in model.loss_weights.values():
        weight.assign(case.weight)
    steps = max(int(share * case.adam), 1)
    schedule = keras.optimizers.schedules.CosineDecay(3e-3, steps)
    model.compile(keras.optimizers.Adam(schedule))
    rule = [kp.callbacks.LearningRateAnnealing(rule=case.rule)] if case.rule else []
    began = time.perf_counter()
    quiet = {"epochs": 1, "verbose": 0, "callbacks": rule}
    model.fit(batch_size=POINTS, steps_per_epoch=steps, **quiet)
    seconds = time.perf_counter() - began
    records = [record(name, "Adam", model, seconds)]
    if case.broyden:
        model = model.astype("float64")
        model.compile(kp.optimizers.SSBroyden(resample_every=STEPS))
        began = time.perf_counter()
        epochs = max(int(share * case.broyden) // STEPS, 1)
        model.fit(steps_per_epoch=STEPS, epochs=epochs, verbose=0)
        seconds += time.perf_counter() - began
        records.append(record(name, "SSBroyden", model, seconds))
    return records


def record(name, stage, model, seconds):
    """What the verdict says and what is true, a dict that is JSON."""
    logs = model.evaluate(*model.problem.test_data(), verbose=0, return_dict=True)
    began = time.perf_counter()
    verdict = kp.diagnostics.verdict(model)
    end = "_relative_l2"
    return {
        "problem": name,
        "stage": stage,
        "held_back": CASES[name].held_back,
        "loss": float(logs["loss"]),
        "errors": {k.removesuffix(end): v for k, v in logs.items() if k.endswith(end)},
        "estimates": verdict.errors,
        "misfits": verdict.misfits,
        "left": verdict.left,
        "trusted": verdict.trusted,
        "decided": verdict.decided,
        "seconds": round(seconds, 1),
        "seconds_of_the_verdict": round(time.perf_counter() - began, 1),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problems", nargs="*", help=", ".join(CASES))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--share", type=float, default=1.0, help="part of the steps")
    parser.add_argument("--output", type=pathlib.Path)
    given = parser.parse_args()
    np.seterr(all="ignore")
    for name in given.problems or CASES:
        records = run(name, given.seed, given.share)
        print(*map(json.dumps, records), sep="\n", flush=True)
        if given.output:
            write(given.output, given.seed, name, records)


def write(path, seed, name, records):
    """Put the records of a problem in place of those that a file holds of it."""
    kept = json.loads(path.read_text("utf-8"))["records"] if path.exists() else []
    records = [old for old in kept if old["problem"] != name] + records
    order = list(CASES)
    made = {
        "seed": seed,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "versions": {"keraspinn": kp.__version__, "keras": keras.__version__},
        "records": sorted(records, key=lambda record: order.index(record["problem"])),
    }
    path.write_text(json.dumps(made, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
