"""Comparison of verdicts with true errors, on problems that fail or converge.

python -m examples.verdicts --output docs/results/verdicts.json

Each case has a verdict after Adam, and another after its second-order optimizer if it
has one. True errors are those against a closed form or a classical solver. Without
names, all problems run that the output file has no record of. `--models FOLDER` keeps
trained models, so that a later run skips the training.
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

# Number of points in a step of Adam.
POINTS = 300
# Number of steps of an epoch of the second stage, which has the same points.
STEPS = 500
# Largest ratio of an error and its estimate, either way, for a right estimate.
FACTOR = 3.0
# True error above which no verdict may trust, and one below which few may distrust.
WRONG, RIGHT = 0.1, 1e-3


def run(name, seed=0, share=1.0, folder=None):
    """Train one case; returns a list of records, one for each stage.

    Args:
        name: Name of the case.
        seed: Seed of weights and points.
        share: Fraction of the steps.
        folder: Optional folder of trained models.
    """
    case, records, model = CASES[name], [], None
    for stage in ("Adam", "second")[: 1 + bool(case.second)]:
        path = folder and folder / f"{name}-{stage}-{seed}.keras"
        if path and path.exists():
            model, seconds = kp.load_model(path), None
        else:
            began = time.perf_counter()
            train = adam if stage == "Adam" else second
            model = train(case, seed, share, model)
            seconds = round(time.perf_counter() - began, 1)
            if path:
                model.save(path)
        records.append(record(name, stage, model, seconds, seed))
    return records


def adam(case, seed, share, _):
    """Return a new model after the first stage."""
    keras.utils.set_random_seed(seed)
    problem = case.problem()
    if case.unscaled:
        problem = problem.with_scales(None)
    network = kp.networks.MLP(case.units, case.depth, outputs=len(problem.fields))
    model = kp.PINNModel(problem, network, seed=seed)
    for weight in model.loss_weights.values():
        weight.assign(case.weight)
    steps = max(int(share * case.adam), 1)
    schedule = keras.optimizers.schedules.CosineDecay(3e-3, steps)
    model.compile(keras.optimizers.Adam(schedule))
    rule = [kp.callbacks.LearningRateAnnealing(rule=case.rule)] if case.rule else []
    options = {"epochs": 1, "verbose": 0, "callbacks": rule}
    model.fit(batch_size=POINTS, steps_per_epoch=steps, **options)
    return model


def second(case, seed, share, model):
    """Return the model after the second stage, in float64."""
    model = model.astype("float64")
    model.compile(case.optimizer(resample_every=STEPS))
    epochs = max(int(share * case.second) // STEPS, 1)
    model.fit(steps_per_epoch=min(STEPS, case.second), epochs=epochs, verbose=0)
    return model


def record(name, stage, model, seconds, seed):
    """Return the verdict and the true errors, a JSON-serializable dict."""
    case = CASES[name]
    logs = model.evaluate(*model.problem.test_data(), verbose=0, return_dict=True)
    end = "_relative_l2"
    errors = {k.removesuffix(end): v for k, v in logs.items() if k.endswith(end)}
    for parameter, value in case.parameters.items():
        trained = float(keras.ops.convert_to_numpy(model.coefficients[parameter]))
        errors[parameter] = abs(trained / value - 1)
    began = time.perf_counter()
    verdict = kp.diagnostics.verdict(model)
    return {
        "problem": name,
        "stage": stage,
        "seed": seed,
        "steps": case.adam + case.second * (stage != "Adam"),
        "version": kp.__version__,
        "held_back": case.held_back,
        "loss": float(logs["loss"]),
        "errors": errors,
        "estimates": verdict.errors,
        "misfits": verdict.misfits,
        "left": verdict.left,
        "slack": verdict.slack,
        "trusted": verdict.trusted,
        "decided": verdict.decided,
        "words": str(verdict),
        "seconds": seconds,
        "seconds_of_the_verdict": round(time.perf_counter() - began, 1),
    }


def summary(records):
    """Return the counts that the study reports, a dict."""
    trusted = [r for r in records if r["trusted"]]
    distrusted = [r for r in records if not r["trusted"]]
    pairs = [
        (estimate, r["errors"][field])
        for r in records
        for field, estimate in r["estimates"].items()
        if estimate is not None and np.isfinite(estimate)
    ]
    near = [1 / FACTOR < estimate / error < FACTOR for estimate, error in pairs]
    return {
        "trainings": len(records),
        "trusted and wrong": sum(largest(r) > WRONG for r in trusted),
        "distrusted and right": sum(largest(r) < RIGHT for r in distrusted),
        "estimates": len(near),
        "estimates within a factor of three": sum(near),
    }


def largest(row):
    return max(row["errors"].values())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problems", nargs="*", help=", ".join(CASES))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--share", type=float, default=1.0, help="fraction of the steps"
    )
    parser.add_argument("--output", type=pathlib.Path)
    parser.add_argument("--models", type=pathlib.Path, help="folder of trained models")
    arguments = parser.parse_args()
    np.seterr(all="ignore")
    done = {r["problem"] for r in kept(arguments.output)}
    for name in arguments.problems or [name for name in CASES if name not in done]:
        records = run(name, arguments.seed, arguments.share, arguments.models)
        print(*map(json.dumps, records), sep="\n", flush=True)
        if arguments.output:
            write(arguments.output, name, records)
    print(json.dumps(summary(kept(arguments.output))))


def kept(path):
    """Return the records of a file; the list is empty without a file."""
    return (
        json.loads(path.read_text("utf-8"))["records"] if path and path.exists() else []
    )


def write(path, name, records):
    """Replace the records of a problem in a file."""
    records = [old for old in kept(path) if old["problem"] != name] + records
    records = [
        r | {"estimates": {n: finite(e) for n, e in r["estimates"].items()}}
        for r in records
    ]
    order = list(CASES)
    made = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "versions": {"keraspinn": kp.__version__, "keras": keras.__version__},
        "summary": summary(records),
        "records": sorted(records, key=lambda record: order.index(record["problem"])),
    }
    path.write_text(json.dumps(made, indent=1) + "\n", "utf-8")


def finite(number):
    """Return a number, or `None` (null in JSON) if it is not finite."""
    return float(number) if number is not None and np.isfinite(number) else None


if __name__ == "__main__":
    main()
