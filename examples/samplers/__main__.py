"""Comparison of samplers on six problems, in a first and a second stage.

python -m examples.samplers burgers wave --samplers uniform r3 --seeds 0 1

Without names, all problems and samplers are run. Each run is a separate process.
`docs/results/samplers.json` keeps the first and the last record of each. `--missing`
skips runs that have a record. `--table` only writes the tables of `docs/samplers.md`.
`--trial` takes a few steps of each run and writes nothing.
"""

import argparse
import concurrent.futures
import json
import multiprocessing
import pathlib
import sys
import traceback

from examples.samplers.problems import PROBLEMS
from examples.samplers.table import write_page
from examples.samplers.training import SAMPLERS, STEPS, run

DOCS = pathlib.Path(__file__).parents[2] / "docs"
RECORDS = DOCS / "results" / "samplers.json"
PAGE = DOCS / "samplers.md"

# Numbers of steps of a trial, larger than the period of both stages.
TRIAL = 110, 110


def run_apart(*arguments):
    """Return the record of a run in a new process.

    Args:
        *arguments: Arguments of `run`.
    """
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context) as pool:
        return pool.submit(run, *arguments).result()


def main(arguments=None):
    """Run the program; returns the number of runs that failed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problems", nargs="*", metavar="PROBLEM")
    parser.add_argument("--samplers", nargs="+", choices=SAMPLERS, default=[*SAMPLERS])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--missing", action="store_true", help="runs without a record")
    parser.add_argument("--trial", action="store_true", help="few steps, no record")
    parser.add_argument("--table", action="store_true", help="write the page alone")
    options = parser.parse_args(arguments)
    if unknown := set(options.problems) - set(PROBLEMS):
        parser.error(f"problems are {', '.join(PROBLEMS)}. Received: {unknown}")
    records = json.loads(RECORDS.read_text("utf-8")) if RECORDS.exists() else {}
    tasks = [
        (problem, sampler, seed)
        for seed in options.seeds
        for problem in options.problems or PROBLEMS
        for sampler in options.samplers
    ]
    failures = 0
    for problem, sampler, seed in () if options.table else tasks:
        entries = records.setdefault(problem, {}).setdefault(sampler, {})
        if options.missing and str(seed) in entries:
            continue
        steps = TRIAL if options.trial else STEPS
        try:
            record = run_apart(problem, sampler, seed, steps)
        except Exception:
            traceback.print_exc()
            failures += 1
            continue
        print(problem, sampler, seed, json.dumps(record), flush=True)
        if not options.trial:
            entries.setdefault(str(seed), {"first": record})["last"] = record
            RECORDS.write_text(json.dumps(records, indent=1) + "\n", "utf-8")
    if not options.trial:
        write_page(records, PAGE)
    return failures


if __name__ == "__main__":
    sys.exit(main())
