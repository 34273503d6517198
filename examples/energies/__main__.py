"""Energies and materials, beside the strong form with the same network and time.

python -m examples.energies "box cantilever" --seeds 0 1 2 --results results.json

Each row is trained in its forms, one after the other: Gauss–Newton steps on the energy,
or `SSBroyden` on a field for each material, a fixed number of steps; then the others
for as much CPU time as the first. All is in double precision. References are closed
forms, or finite elements by scikit-fem that this program refines. The results are
written after every run, into the file as it is then, so several programs may share one;
runs that it holds are skipped unless `--again`. Without names all rows are run.
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
SOME_STEPS = {"GaussNewton": 10, "SSBroyden": 100}
MOST_STEPS = 10**6


def network(case, form, problem):
    """Return the networks of a form, the same in each of them."""
    if form.by_fields:
        return {f: kp.networks.MLP(case.units, case.depth) for f in problem.fields}
    return kp.networks.MLP(case.units, case.depth, outputs=len(problem.fields))


def train(case, form, seed, seconds):
    """Train a form for its steps, or for some CPU seconds; returns model and record."""
    wall, cpu = time.perf_counter(), time.process_time()
    problem = form.problem()
    keras.utils.set_random_seed(seed)  # a program of the gallery sets another
    model = kp.PINNModel(problem, network(case, form, problem), seed=seed)
    if form.adam:
        schedule = keras.optimizers.schedules.CosineDecay(3e-3, form.adam)
        model.compile(keras.optimizers.Adam(schedule))
        model.fit(batch_size=300, steps_per_epoch=form.adam, verbose=0)
    model = model.astype("float64")
    model.compile(form.optimizer())
    some, taken, history = SOME_STEPS[form.optimizer.__name__], 0, {}
    while taken < (form.steps or MOST_STEPS):
        if form.steps is None and time.process_time() - cpu > seconds:
            break
        how = {"batch_size": form.points, "steps_per_epoch": some, "verbose": 0}
        history = model.fit(**how).history
        taken += some
    record = {
        "steps": [form.adam, taken],
        "optimizer": form.optimizer.__name__,
        "loss": float(history["loss"][-1]) if history else None,
        "wall_seconds": round(time.perf_counter() - wall, 1),
        "cpu_seconds": round(time.process_time() - cpu, 1),
    }
    return model, record


def run(name, form_name, seed, reference, seconds):
    """Return the record of one run; a failure is a record too."""
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
                except Exception:  # the other rows are worth their time
                    traceback.print_exc()
                    continue
                write("runs", key, record)
                print(key, record["errors"], record.get("cpu_seconds"), flush=True)


if __name__ == "__main__":
    main()
