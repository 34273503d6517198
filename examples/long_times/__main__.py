"""Problems with long times, trained in windows and in one interval.

python -m examples.long_times pendulum lorenz --seeds 0 1 2

Without names, all problems are trained. Each run is a separate process, which adds a
record to `docs/results/long_times.json` when it ends. The file keeps the first and the
last run. The table of `docs/long_times_measured.md` is made from it. With `--causal`,
points have causal weights.
"""

import argparse
import dataclasses
import importlib
import json
import pathlib
import platform
import re
import subprocess
import sys
import time

import keras
import numpy as np

import keraspinn as kp
from examples.samplers.causal import Causal

DOCS = pathlib.Path(__file__).parents[2] / "docs"
PAGE, RECORDS = DOCS / "long_times_measured.md", DOCS / "results" / "long_times.json"
NAMES = [
    "advection",
    "pendulum",
    "van_der_pol",
    "lotka_volterra",
    "robertson",
    "lorenz",
    "wave",
    "kdv",
    "allen_cahn",
    "burgers",
    "kuramoto_sivashinsky",
    "kuramoto_sivashinsky_long",
    "kuramoto_sivashinsky_chaotic",
    "heat_2d_lt",
    "wave_2d_ms",
    "gray_scott",
    "duffing",
    "fisher_kpp",
    "heated_rod",
    "quenched_square",
    "cavity_1000",
    "cavity_3200",
]
# Steps of Adam before a continuation.
ADAM_STEPS = 2_000
# Number of steps between two checks of the CPU time, in training of one interval.
EPOCH = 50


class StopAfter(keras.callbacks.Callback):
    """Callback that stops `fit` after an epoch if its CPU time in seconds is over."""

    def __init__(self, seconds):
        super().__init__()
        self.until = time.process_time() + seconds

    def on_epoch_end(self, epoch, logs=None):
        if time.process_time() > self.until:
            self.model.stop_training = True


def case_of(name):
    return importlib.import_module(f"examples.long_times.{name}").CASE


def recipe(case, seconds=None, causal=False):
    """Return the recipe of a window or a continuation, or for some CPU time."""
    if seconds is None and case.values:
        return kp.recipes.TwoStage(ADAM_STEPS, case.steps, points=case.points)
    if seconds is None:
        (stage,) = kp.recipes.OneStage(case.steps, case.points, case.sampler).stages
        return kp.recipes.Recipe([weighted(stage, causal, 1)])
    began = time.process_time()
    fit = {"steps_per_epoch": EPOCH, "epochs": 10**6, "batch_size": case.points}
    second = kp.recipes.Stage(
        kp.optimizers.SSBroyden,
        fit,
        "float64",
        callbacks=lambda _: [StopAfter(seconds - (time.process_time() - began))],
    )
    first = kp.recipes.TwoStage().stages[0]
    stages = weighted(first, causal, 10), weighted(second, causal, EPOCH)
    return kp.recipes.Recipe(stages)


def weighted(stage, causal, every):
    """Return a stage, with causal weights if asked for."""
    if not causal:
        return stage
    points = {"x": {"residual": Causal(every)}}
    return dataclasses.replace(stage, fit=stage.fit | points)


def record_of(name, seed, seconds=None, causal=False):
    """Train a case and return its record.

    Args:
        name: Name of the case.
        seed: Integer for weights and points.
        seconds: CPU time of one interval, or `None` for windows.
        causal: Whether points have causal weights.
    """
    case = case_of(name)
    keras.utils.set_random_seed(seed)
    clock, cpu = time.perf_counter(), time.process_time()
    is_one = seconds is not None
    windows = 1 if is_one else case.windows
    record = {"windows": windows, "units": case.units, "depth": case.depth}
    record |= {"steps": case.steps, "points": case.points, "optimizer": "GaussNewton"}
    if is_one or case.values:
        record["optimizer"] = "Adam, SSBroyden"
    how = {"recipe": recipe(case, seconds, causal), "seed": seed}
    try:
        if case.values:
            values = {p: v[-1:] if is_one else v for p, v in case.values.items()}
            model = kp.continuation(case.problem, values, case.network(), **how)
            history = model.continuation_history
        else:
            model = kp.march(case.problem, case.network(), windows=windows, **how)
            history = model.march_history
        record["windows"] = len(history)
        record["loss"] = max(row["loss"] for row in history)
    except ValueError as failure:
        record["failure"] = str(failure)
        model = None
    record["seconds"] = round(time.perf_counter() - clock)
    record["cpu_seconds"] = round(time.process_time() - cpu)
    if model is not None:
        points, truth, reference_error = case.truth()
        fields = zip(case.problem.field_names, case.problem.fields, strict=True)
        expressions, errors = case.compared or dict(fields), {}
        for field, known in truth.items():
            predicted = np.ravel(model.predict_expression(expressions[field], points))
            error = np.linalg.norm(predicted - known) / np.linalg.norm(known)
            errors[field] = float(error)
        record |= {"errors": errors, "error": max(errors.values())}
        record["reference_error"] = reference_error
    return record | {
        "machine": f"{platform.machine()}, {platform.processor() or 'CPU'}, shared",
        "version": kp.__version__,
        "keras": keras.__version__,
        "backend": keras.backend.backend(),
    }


def kept(name, way, seed, record):
    """Add a record to the file; the first record of a run remains."""
    records = read()
    entry = records.setdefault(name, {}).setdefault(way, {}).setdefault(str(seed), {})
    entry.setdefault("first", record)
    entry["last"] = record
    RECORDS.write_text(json.dumps(records, indent=1) + "\n", "utf-8")


def read():
    return json.loads(RECORDS.read_text("utf-8")) if RECORDS.exists() else {}


def shown(record):
    return f"{record['error']:.1e}" if "error" in record else "stopped"


def table(records):
    """Return the table of records as Markdown."""
    lines = [
        "| Problem | Aim | Windows | Error | First run | Seeds | One interval | CPU | "
        "Wall |"
    ]
    lines += ["|---|---|---|---|---|---|---|---|---|"]
    for name in NAMES:
        case, runs = case_of(name), records.get(name, {}).get("windows", {})
        title = case.title + (" (held back)" if case.held_back else "")
        if not runs:
            lines.append(
                f"| {title} | {case.aim:.0e} | – | not run | – | – | – | – | – |"
            )
            continue
        seed = min(runs)
        last, first = runs[seed]["last"], runs[seed]["first"]
        others = [shown(r["last"]) for s, r in sorted(runs.items()) if s != seed]
        one = records[name].get("one interval", {}).get(seed)
        cells = [
            title,
            f"{case.aim:.0e}",
            str(last["windows"]),
            f"**{shown(last)}**",
            "the same" if last == first else shown(first),
            ", ".join(others) or "–",
            shown(one["last"]) if one else "–",
            f"{last['cpu_seconds']} s",
            f"{last['seconds']} s",
        ]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines)


def write_page():
    """Replace the table of the page."""
    page = PAGE.read_text("utf-8")
    pattern = re.compile(r"\| Problem \| Aim .*?\n\n", re.DOTALL)
    rows = table(read()) + "\n\n"
    PAGE.write_text(pattern.sub(lambda _: rows, page, count=1), "utf-8")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="name")
    parser.add_argument("--seeds", nargs="*", type=int, default=[0])
    parser.add_argument("--one-interval", action="store_true")
    parser.add_argument("--causal", action="store_true")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    way = "one interval" if arguments.one_interval else "windows"
    way += ", causal weights" * arguments.causal
    if arguments.here:
        (name,), (seed,) = arguments.names, arguments.seeds
        seconds = None
        if arguments.one_interval:
            seconds = read()[name]["windows"][str(seed)]["last"]["cpu_seconds"]
        record = record_of(name, seed, seconds, arguments.causal)
        print(json.dumps(record), flush=True)
        kept(name, way, seed, record)
        return
    for name in arguments.names or NAMES:
        for seed in arguments.seeds:
            command = [sys.executable, "-m", "examples.long_times", "--here", name]
            command += ["--seeds", str(seed)]
            command += ["--one-interval"] * arguments.one_interval
            subprocess.run(command + ["--causal"] * arguments.causal)
    write_page()


if __name__ == "__main__":
    main()
