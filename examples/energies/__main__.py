"""Energies and materials, compared with strong forms at equal network and CPU time.

python -m examples.energies "box cantilever" --seeds 0 1 2 --results results.json

The forms of a row are trained one after another, in double precision. The first form
has a fixed number of steps: Gauss–Newton on the energy, or `SSBroyden` with a field for
each material. The others have the CPU time of the first. References are closed forms,
or finite-element solutions by scikit-fem on refined meshes. The file of results is read
and written at every run, so that several programs can share it. Runs that it contains
are skipped unless `--again` is set. Without names, all rows are run.
"""

import argparse
import json
import os
import pathlib
import platform
import time
import traceback

import keras

import keraspinn as kp
from examples.energies import elastic, held_back, other

CASES = elastic.CASES | other.CASES | held_back.CASES
# Number of steps between two checks of the CPU time, by optimizer.
STEPS_PER_CHECK = {"GaussNewton": 10, "SSBroyden": 100}
# Limit on the number of steps of forms that train for some CPU time.
MOST_STEPS = 10**6


def network(case, form, problem):
    """Return the network of a form, or a dict with a network for each field."""
    if form.by_fields:
        return {f: kp.networks.MLP(case.units, case.depth) for f in problem.fields}
    return kp.networks.MLP(case.units, case.depth, outputs=len(problem.fields))


def train(case, form, seed, seconds):
    """Train a form for its steps, or for some CPU seconds; returns model and record."""
    wall, cpu = time.perf_counter(), time.process_time()
    problem = form.problem()
    keras.utils.set_random_seed(seed)  # programs of the gallery set another seed
    model = kp.PINNModel(problem, network(case, form, problem), seed=seed)
    if form.adam:
        schedule = keras.optimizers.schedules.CosineDecay(3e-3, form.adam)
        model.compile(keras.optimizers.Adam(schedule))
        model.fit(batch_size=300, steps_per_epoch=form.adam, verbose=0)
    model = model.astype("float64")
    model.compile(form.optimizer())
    period, steps, history = STEPS_PER_CHECK[form.optimizer.__name__], 0, {}
    while steps < (form.steps or MOST_STEPS):
        if form.steps is None and time.process_time() - cpu > seconds:
            break
        history = model.fit(
            batch_size=form.points, steps_per_epoch=period, verbose=0
        ).history
        steps += period
    record = {
        "steps": [form.adam, steps],
        "optimizer": form.optimizer.__name__,
        "loss": float(history["loss"][-1]) if history else None,
        "wall_seconds": round(time.perf_counter() - wall, 1),
        "cpu_seconds": round(time.process_time() - cpu, 1),
    }
    return model, record


def run(name, form_name, seed, reference, seconds):
    """Return the record of one run, also of one that fails."""
    case = CASES[name]
    form = case.forms[form_name]
    record = {"row": name, "form": form_name, "seed": seed, "version": kp.__version__}
    record["network"] = [case.units, case.depth]
    record["held_back"] = case.held_back
    try:
        model, trained = train(case, form, seed, seconds)
    except FloatingPointError as error:
        return record | {"failed": str(error), "errors": {}, "cpu_seconds": None}
    errors = case.measure(model, reference)
    record |= trained | {
        "errors": {k: v and float(f"{v:.2e}") for k, v in errors.items()}
    }
    if model.problem.energy is not None:
        gap = kp.diagnostics.energy_gap(model)
        record["energy_gap"] = float(f"{gap.relative:.2e}")
    return record


def main():
    """Run the rows and write their records."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("rows", nargs="*", metavar="ROW", help=", ".join(CASES))
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    parser.add_argument("--forms", nargs="+", help="all of a row's if not given")
    parser.add_argument("--again", action="store_true", help="run these once more")
    parser.add_argument("--results", type=pathlib.Path, default="energies.json")
    arguments = parser.parse_args()
    path = arguments.results

    def read():
        results = json.loads(path.read_text()) if path.exists() else {}
        return {"references": {}, "runs": {}} | results

    def write(kind, key, value):
        results = read()
        results[kind][key] = value
        results["machine"] = f"{platform.machine()}, {os.cpu_count()} cores, shared"
        results["aims"] = {name: case.aims for name, case in CASES.items()}
        text = json.dumps(results, indent=1, ensure_ascii=False) + "\n"
        part = path.with_name(f"{path.name}.{os.getpid()}")
        part.write_text(text)
        part.replace(path)

    for seed in arguments.seeds:
        for name in arguments.rows or CASES:
            if name not in read()["references"]:
                write("references", name, CASES[name].reference())
            first, *_ = CASES[name].forms
            for form in arguments.forms or CASES[name].forms:
                key, results = f"{name} | {form} | {seed}", read()
                if form not in CASES[name].forms:
                    continue
                if key in results["runs"] and not arguments.again:
                    continue
                before = results["runs"].get(f"{name} | {first} | {seed}", {})
                seconds = before.get("cpu_seconds") or 60.0
                reference = results["references"][name]
                try:
                    record = run(name, form, seed, reference, seconds)
                except Exception:  # the other rows still run
                    traceback.print_exc()
                    continue
                write("runs", key, record)
                print(key, record["errors"], record.get("cpu_seconds"), flush=True)


if __name__ == "__main__":
    main()
