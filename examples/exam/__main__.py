"""Exam of `solve`: runs to a tolerance, and records with their true errors.

python -m examples.exam

The records are written after every problem, so that an interrupted exam can be resumed.
Problems named by `--only` run again. The file keeps the first and the last run of each
problem. `--table` only makes the page `docs/exam.md` from the records.
"""

import argparse
import json
import os
import pathlib
import platform
import sys
import time
import warnings

import keras
import numpy as np

import keraspinn as kp
from examples.exam.problems import QUESTIONS
from examples.exam.table import TIGHT, write_page
from keraspinn.declaration.scaling.offsets import CONSTANT, free_shifts

RECORDS = pathlib.Path(__file__).parents[2] / "docs" / "results" / "exam.json"


def run(question, tolerance=1e-3, max_time=300.0, seed=0, verbose=1):
    """Solve one problem; returns a JSON-serializable dict.

    Args:
        question: A `Question`.
        tolerance: Relative L2 error to reach.
        max_time: Seconds of wall time.
        seed: Integer for weights and points.
        verbose: As in `solve`.
    """
    problem = question.problem()
    clocks = time.monotonic, time.process_time
    began = [clock() for clock in clocks]
    solution = kp.solve(problem, tolerance, max_time, seed=seed, verbose=verbose)
    seconds, cpu = (clock() - start for clock, start in zip(clocks, began, strict=True))
    errors = true_errors(solution.model, problem, question.parameters)
    return {
        "solved": bool(solution.solved),
        "errors": errors,
        "estimates": {n: finite(e) for n, e in solution.verdict.errors.items()},
        "reason": solution.reason,
        "rounds": [json_row(row) for row in solution.history],
        "seconds": round(seconds, 1),
        "cpu_seconds": round(cpu, 1),
        "tolerance": tolerance,
        "max_time": max_time,
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "versions": {"keraspinn": kp.__version__, "keras": keras.__version__},
    }


def true_errors(model, problem, parameters):
    """Return relative errors of fields against the reference, and of parameters.

    Fields that are determined only up to a function of time, such as a pressure, have
    no error.
    """
    logs = model.evaluate(*problem.test_data(), verbose=0, return_dict=True)
    end = "_relative_l2"
    errors = {k.removesuffix(end): float(v) for k, v in logs.items() if end in k}
    for name, shift in free_shifts(problem).items():
        if shift != CONSTANT:
            del errors[name]
    for name, true in parameters.items():
        estimate = float(keras.ops.convert_to_numpy(model.coefficients[name]))
        errors[name] = abs(estimate / float(true) - 1)
    return errors


def finite(number):
    """Return a number, or `None` (null in JSON) if it is not finite."""
    return float(number) if np.isfinite(number) else None


def json_row(row):
    return {k: finite(v) if isinstance(v, float) else v for k, v in row.items()}


def chosen(only, shard, done):
    """Return the names of the problems to run, in the order of the exam.

    Args:
        only: List of names; all if empty.
        shard: Text `i/n`, the i-th of n parts, counted from one.
        done: Names of problems that have a record.
    """
    if unknown := [name for name in only if name not in QUESTIONS]:
        raise SystemExit(f"No problem has the names {unknown}. Names: {[*QUESTIONS]}")
    part, parts = map(int, shard.split("/"))
    names = only or [name for name in QUESTIONS if name not in done]
    return [n for n in names if [*QUESTIONS].index(n) % parts == part - 1]


def kept(path):
    """Return the records of a file; the dict is empty without a file."""
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def keep(path, name, record):
    """Add the record of a run to a file."""
    records = kept(path)
    records.setdefault(name, {"first": record})["last"] = record
    records = {n: records[n] for n in QUESTIONS if n in records}
    path.write_text(json.dumps(records, indent=1) + "\n", "utf-8")


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", default=[], metavar="NAME")
    parser.add_argument("--shard", default="1/1", help="i/n: the i-th of n parts")
    parser.add_argument("--max-time", type=float, default=300.0, help="seconds each")
    parser.add_argument("--tolerance", type=float, default=1e-3)
    parser.add_argument("--output", type=pathlib.Path, default=RECORDS)
    parser.add_argument("--table", action="store_true", help="write the page alone")
    options = parser.parse_args(arguments)
    path = options.output
    names = [] if options.table else chosen(options.only, options.shard, kept(path))
    np.seterr(all="ignore")
    for name in names:
        print(name, flush=True)
        keras.backend.clear_session()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                record = run(QUESTIONS[name], options.tolerance, options.max_time)
            except Exception as error:  # the other problems still run
                reason = f"{type(error).__name__}: {error}"
                record = {"solved": False, "errors": {}, "reason": reason}
        print(json.dumps({k: v for k, v in record.items() if k != "rounds"}))
        sys.stdout.flush()
        keep(path, name, record)
    if path.resolve() in (RECORDS, TIGHT):
        write_page(kept(RECORDS))


if __name__ == "__main__":
    main()
