"""Adam for seconds, then an optimizer of the second order for minutes.

python -m examples.second_stage helmholtz --minutes 5 --results results.jsonl

In float64, on points that the optimizer's own sampler draws; errors are relative L2 on
100 × 100 points, taken every 500 steps. A line is added to the results for each run.
"""

import argparse
import json
import pathlib
import platform
import time

import keras
import numpy as np

import keraspinn as kp
from examples.second_stage.problems import CASES

ADAM_STEPS, ADAM_POINTS = 2000, 300


def run(name, optimizer, seed, minutes, points=3000, steps=500):
    """Train one case; returns its record, a dict that is JSON."""
    case = CASES[name]
    keras.utils.set_random_seed(seed)
    problem = case.problem()
    network = kp.networks.MLP(case.units, case.depth, outputs=len(problem.fields))
    model = kp.PINNModel(problem, network, seed=seed)
    for weight in model.loss_weights.values():
        weight.assign(case.weight)
    data, trace, began = problem.test_data(), [], time.perf_counter()

    def note(stage, history):
        logs = model.evaluate(*data, verbose=0, return_dict=True)
        errors = {k: float(v) for k, v in logs.items() if k.endswith("relative_l2")}
        seconds = round(time.perf_counter() - began, 1)
        loss = float(history.history["loss"][-1])
        trace.append({"stage": stage, "seconds": seconds, "loss": loss, **errors})
        print(json.dumps(trace[-1]), flush=True)
        return seconds

    schedule = keras.optimizers.schedules.CosineDecay(3e-3, ADAM_STEPS)
    model.compile(keras.optimizers.Adam(schedule))
    quiet = {"verbose": 0, "epochs": 1}
    sizes = ADAM_POINTS, ADAM_STEPS
    note("Adam", model.fit(batch_size=sizes[0], steps_per_epoch=sizes[1], **quiet))
    model.compile(getattr(kp.optimizers, optimizer)())
    sizes = dict.fromkeys(problem.conditions, case.conditions) | {"residual": points}
    if problem.domain.dimension == 1:
        sizes |= dict.fromkeys(problem.conditions, 1)
    while note(optimizer, model.fit(batch_size=sizes, steps_per_epoch=steps, **quiet)):
        if trace[-1]["seconds"] >= 60 * minutes:
            break
    return {
        "problem": name,
        "optimizer": optimizer,
        "seed": seed,
        "network": f"{case.units}x{case.depth}",
        "weight": case.weight,
        "points": points,
        "machine": f"{platform.machine()}, {platform.processor() or 'CPU'}",
        "versions": {"keraspinn": kp.__version__, "keras": keras.__version__},
        "trace": trace,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problems", nargs="+", choices=CASES)
    parser.add_argument("--optimizer", default="SSBroyden")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=5.0)
    parser.add_argument("--points", type=int, default=3000)
    parser.add_argument("--steps", type=int, default=500, help="steps of a fit")
    parser.add_argument("--results", type=pathlib.Path)
    given = parser.parse_args()
    keras.config.set_dtype_policy("float64")
    np.seterr(all="ignore")
    for name in given.problems:
        print(name, flush=True)
        what = name, given.optimizer, given.seed, given.minutes
        record = run(*what, given.points, given.steps)
        if given.results:
            with given.results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
