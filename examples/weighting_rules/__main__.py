"""Comparison of weighting rules on six problems, in a first and a second stage.

python -m examples.weighting_rules helmholtz wave --rules fixed ntk --seeds 0 1

Each run is a separate process. `docs/results/weighting_rules.json` keeps the first and
the last record of each. `--table` only writes the tables of `docs/weighting_rules.md`.
"""

import argparse
import json
import pathlib
import subprocess
import sys

from examples.weighting_rules.problems import PROBLEMS
from examples.weighting_rules.rules import RULES
from examples.weighting_rules.table import write_page

ROOT = pathlib.Path(__file__).parents[2]
RECORDS = ROOT / "docs" / "results" / "weighting_rules.json"
MODULE = "examples.weighting_rules.training"


def run(name, rule, seed):
    """Train in a new process; return its record, or `None` if it failed."""
    command = [sys.executable, "-m", MODULE, name, rule, str(seed)]
    process = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    return None if process.returncode else json.loads(process.stdout.splitlines()[-1])


def keep(records, name, rule, seed, record):
    """Add a record, in the order of problems and rules; return the records."""
    runs = records.setdefault(name, {}).setdefault(rule, {})
    runs.setdefault(str(seed), {"first": record})["last"] = record
    return {
        problem: {r: records[problem][r] for r in RULES if r in records[problem]}
        for problem in PROBLEMS
        if problem in records
    }


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="PROBLEM", help=", ".join(PROBLEMS))
    parser.add_argument("--rules", nargs="+", choices=RULES, default=[*RULES])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--table", action="store_true", help="write the page alone")
    options = parser.parse_args(arguments)
    if unknown := set(options.names) - set(PROBLEMS):
        parser.error(f"no problem {sorted(unknown)}; the problems are {[*PROBLEMS]}")
    records = json.loads(RECORDS.read_text("utf-8")) if RECORDS.exists() else {}
    failed = []
    for name in () if options.table else options.names or PROBLEMS:
        for rule in options.rules:
            for seed in options.seeds:
                record = run(name, rule, seed)
                print(name, rule, seed, json.dumps(record), flush=True)
                if record is None:
                    failed.append(f"{name} {rule} {seed}")
                    continue
                records = keep(records, name, rule, seed, record)
                RECORDS.write_text(json.dumps(records, indent=1) + "\n", "utf-8")
    write_page(records)
    if failed:
        raise SystemExit(f"These runs failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
