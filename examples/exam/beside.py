"""Ten problems by `solve`, by the two stages of the guide, and by DeepXDE.

taskset -c 0 python -m examples.exam.beside

`solve` stops by its error estimate. The time of the others is the first at which the
true error is within the tolerance, which a user cannot know. DeepXDE runs in a separate
virtual environment, which is built first. Records are written after each problem.
"""

import argparse
import json
import pathlib
import platform
import subprocess
import tempfile
import time

import keras
import numpy as np

import keraspinn as kp
from examples.benchmarks.environments import environment, python_of
from examples.exam.__main__ import RECORDS, kept, run, true_errors
from examples.exam.problems import QUESTIONS
from examples.exam.table import BESIDE, TOLERANCE, table_beside, write_page
from keraspinn.recipes.choices import chosen_network

PROBLEMS = (
    *("Poisson_Dirichlet_1d", "Poisson_Neumann_1d", "Euler_beam", "ode_system"),
    *("diffusion_1d", "Laplace_disk", "Helmholtz_Dirichlet_2d", "burgers"),
    *("Klein_Gordon", "Poisson_Robin_1d"),
)


def solved(question):
    """Return CPU seconds and true error of `solve`."""
    record = run(question, TOLERANCE, 600.0, verbose=0)
    return {
        "solved": record["solved"],
        "cpu_seconds": record["cpu_seconds"],
        "error": max(record["errors"].values()),
    }


def by_two_stages(question):
    """Return pairs of CPU seconds and error during `recipes.TwoStage`."""
    keras.utils.set_random_seed(0)
    problem = question.problem()
    began = time.process_time()
    model = kp.PINNModel(problem, chosen_network(problem), seed=0)
    rows, evaluation = [], 0.0
    first, second = kp.recipes.TwoStage().stages
    fit = {**second.fit, "epochs": 1, "steps_per_epoch": 500}
    model = first.train(model, verbose=0).model.astype("float64")
    model.compile(second.optimizer())
    for _ in range(10):
        model.fit(verbose=0, **fit)
        now = time.process_time()
        error = max(true_errors(model, problem, {}).values())
        rows.append([now - began - evaluation, error])
        evaluation += time.process_time() - now
    return rows


def by_deepxde(question, python):
    """Return pairs of CPU seconds and error of DeepXDE, and its versions."""
    points, values = question.problem().test_data()[:2]
    columns = np.stack([np.ravel(v) for v in values.values()], axis=-1)
    with tempfile.TemporaryDirectory() as folder:
        test = pathlib.Path(folder) / "test.npz"
        np.savez(test, points=points, values=columns)
        command = [python, "-m", "examples.exam.deepxde_recipe", question.name, test]
        process = subprocess.run(
            [str(word) for word in command],
            env=environment({"DDE_BACKEND": "pytorch"}),
            stdout=subprocess.PIPE,
            text=True,
            check=True,
        )
    return json.loads(process.stdout.splitlines()[-1])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problems", nargs="*", default=PROBLEMS, choices=PROBLEMS)
    cache = pathlib.Path.home() / ".cache" / "keraspinn" / "benchmarks"
    parser.add_argument("--cache", default=cache, help="folder for environments")
    arguments = parser.parse_args()
    records = kept(BESIDE)
    python = python_of("deepxde_torch.txt", arguments.cache)
    for name in arguments.problems:
        question = QUESTIONS[name]
        print(name, flush=True)
        records[name] = {
            "solve": solved(question),
            "two_stages": by_two_stages(question),
            "deepxde": by_deepxde(question, python),
            "machine": f"{platform.machine()}, one core",
            "versions": {"keraspinn": kp.__version__, "keras": keras.__version__},
        }
        print(table_beside({name: records[name]}).splitlines()[-1], flush=True)
        BESIDE.write_text(json.dumps(records, indent=1) + "\n", "utf-8")
        write_page(kept(RECORDS))


if __name__ == "__main__":
    main()
