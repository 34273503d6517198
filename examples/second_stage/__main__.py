"""Adam for seconds, then an optimizer of the second order for minutes.

python -m examples.second_stage burgers --seconds 300 --results results.jsonl

Adam takes 2,000 steps of 300 points on a cosine from 3e-3, with the annealing of λ
unless `--weights one` says otherwise; the optimizer goes on with the λ that stand then.
Gauss and Newton's takes twice the points, and twice again, when ten steps no longer
lessen the loss by much. All is in double precision, scales are found from the
declaration, and errors are relative L2 on 100 × 100 points. A line is added to the
results for each run.

Adam and SOAP as the `--optimizer` take 40,000 steps on such a cosine instead.
"""

import argparse
import dataclasses
import itertools
import json
import os
import pathlib
import platform
import time

import keras
from keras.optimizers import schedules

import keraspinn as kp
from examples.second_stage.problems import CASES
from examples.second_stage.ratio_rule import RatioRule

NETWORKS = {"plain": kp.networks.MLP, "gated": kp.networks.ModifiedMLP}
FIRST_ORDER = {"Adam": keras.optimizers.Adam, "SOAP": kp.optimizers.SOAP}
# Steps of a fit, after which errors are taken.
SECOND_ORDER = {"SSBroyden": 250, "BFGS": 250, "LBFGS": 250}
GAUSS_NEWTON = {"GaussNewton": 10, "RatioRule": 10}
SECOND_ORDER |= GAUSS_NEWTON
# A fit that leaves more of the loss than this is followed by one on twice the points,
# which take as long as they are many, up to so many times those at first.
LEFT, LARGEST = 0.7, 4


def stages(optimizer, case, problem):
    """Name, optimizer, batch size, steps of a fit, and number of fits of each stage."""
    if optimizer in FIRST_ORDER:
        rate = schedules.CosineDecay(3e-3, 40_000)
        return [(optimizer, FIRST_ORDER[optimizer](rate), 300, 2000, 20)]
    faces = 1 if problem.domain.dimension == 1 else case.faces
    sizes = dict.fromkeys(problem.terms, faces) | {"residual": case.points}
    if "through" in sizes:
        sizes["through"] = 20  # each is an integral, and all say the same
    adam = keras.optimizers.Adam(schedules.CosineDecay(3e-3, 2000))
    is_ours = hasattr(kp.optimizers, optimizer)
    second = getattr(kp.optimizers, optimizer)() if is_ours else RatioRule()
    return [
        ("Adam", adam, 300, 2000, 1),
        (optimizer, second, sizes, SECOND_ORDER[optimizer], 10**6),
    ]


def train(model, case, optimizer, annealed, seconds, clock=False):
    """Train in stages until the time is over; returns the trace, a list of dicts.

    The time is that of the processor, or by the `clock`.
    """
    problem, trace = model.problem, []
    data = problem.test_data()
    callbacks = [kp.callbacks.LearningRateAnnealing()] if annealed else []
    wall, cpu = time.perf_counter(), time.process_time()
    for name, method, sizes, steps, fits in stages(optimizer, case, problem):
        model.compile(method)
        times, before = 1, float("inf")
        for fit in itertools.count(1):
            run = {"batch_size": sizes, "steps_per_epoch": steps, "verbose": 0}
            history = model.fit(callbacks=callbacks, **run).history
            spent = time.perf_counter() - wall, time.process_time() - cpu
            logs = model.evaluate(*data, verbose=0, return_dict=True)
            trace.append(
                {
                    "stage": name,
                    "steps": fit * steps,
                    "times_points": times,
                    "seconds": round(spent[0], 1),
                    "cpu_seconds": round(spent[1], 1),
                    "loss": float(history["loss"][-1]),
                    **{k: float(v) for k, v in logs.items() if k.endswith("_l2")},
                }
            )
            print(json.dumps(trace[-1]), flush=True)
            if fit == fits or spent[0 if clock else 1] >= seconds:
                break
            last, before = before, trace[-1]["loss"]
            if name in GAUSS_NEWTON and before > LEFT * last and times < LARGEST:
                times, before = 2 * times, float("inf")
                sizes = {term: 2 * size for term, size in sizes.items()}
        callbacks = []
    return trace


def run(name, optimizer, network, units, weights, seed, seconds, clock=False):
    """Train one case; returns its record, a dict that is JSON."""
    case = CASES[name]
    case = dataclasses.replace(case, units=units or case.units)
    keras.utils.set_random_seed(seed)
    problem = case.problem()
    layers = NETWORKS[network](case.units, case.depth, outputs=len(problem.fields))
    model = kp.PINNModel(problem, layers, seed=seed)
    return {
        "problem": name,
        "optimizer": optimizer,
        "network": network,
        "size": f"{case.units}x{case.depth}",
        "weights": weights,
        "seed": seed,
        "points": case.points,
        "held_back": case.held_back,
        "trace": train(model, case, optimizer, weights == "annealed", seconds, clock),
        "loss_weights": {
            k: float(keras.ops.convert_to_numpy(v))
            for k, v in model.loss_weights.items()
        },
        "cores": len(os.sched_getaffinity(0)),
        "machine": f"{platform.machine()}, {platform.processor() or 'CPU'}",
        "device": device(),
        "versions": {"keraspinn": kp.__version__, "keras": keras.__version__},
    }


def device():
    """Name of the device that JAX computes on, or `None` on TensorFlow."""
    if keras.backend.backend() != "jax":
        return None
    import jax

    return jax.local_devices()[0].device_kind


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problems", nargs="+", choices=CASES)
    parser.add_argument(
        "--optimizer", default="SSBroyden", choices=[*SECOND_ORDER, *FIRST_ORDER]
    )
    parser.add_argument("--network", default="plain", choices=NETWORKS)
    parser.add_argument("--units", type=int, help="of a layer, if not the case's own")
    parser.add_argument("--weights", default="annealed", choices=["annealed", "one"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=300.0, help="of the processor")
    parser.add_argument("--clock", action="store_true", help="seconds by the clock")
    parser.add_argument("--results", type=pathlib.Path)
    given = parser.parse_args()
    keras.config.set_dtype_policy("float64")
    for name in given.problems:
        print(name, flush=True)
        network = given.network, given.units
        how = given.weights, given.seed, given.seconds, given.clock
        record = run(name, given.optimizer, *network, *how)
        if given.results:
            with given.results.open("a", encoding="utf-8") as file:
                file.write(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
