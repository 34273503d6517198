"""Time a training step of `keraspinn` beside what else one could use.

    python examples/benchmarks/run.py                      # every stage
    python examples/benchmarks/run.py --stage packages --work helmholtz --models M1 M4

All contestants run on the same work: equal points per term, width, depth, float32 and
Adam, their losses at the start checked against finite differences in float64. Each is a
process in an environment of its own, stopped while another is timed; repeats of all
are interleaved. Results are kept by stage in one JSON file, from which
`python examples/benchmarks/report.py` writes the tables of `docs/speed.md`.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform

import ladder
import stages
from cells import Pool
from entries import ALL, ENTRIES
from work import WORKS

REPOSITORY = pathlib.Path(__file__).parents[2]
STAGES = {
    "environments": stages.environments,
    "packages": stages.packages,
    "third-order": stages.third_order,
    "sweep": stages.sweep,
    "overheads": stages.overheads,
    "ladder": ladder.ladder,
    "memory": ladder.memory,
}


def machine():
    """What the figures were taken on, in words."""
    return f"{os.cpu_count()}-core {platform.machine().replace('_', '-')}"


def store(path, stage, key, record):
    """Put one record of a stage in its place in the file of results."""
    path = pathlib.Path(path)
    known = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    known.setdefault(stage, {})[key] = record
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps(known, indent=1, ensure_ascii=False)
    path.write_text(f"{text}\n", encoding="utf-8")


def parsed(arguments=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--stage", nargs="+", choices=STAGES, default=list(STAGES))
    parser.add_argument("--work", nargs="+", choices=WORKS)
    parser.add_argument("--models", nargs="+", choices=ALL)
    groups = sorted({entry.group for entry in ENTRIES})
    parser.add_argument(
        "--contestants",
        nargs="+",
        metavar="NAME",
        help=f"those whose labels begin so, of {', '.join(groups)}",
    )
    parser.add_argument(
        "--all-contestants",
        action="store_true",
        help="on every work, not on Helmholtz alone",
    )
    for name, value in (("--units", 50), ("--depth", 5), ("--batch", 128)):
        parser.add_argument(name, type=int, default=value, help="not of sweeps")
    parser.add_argument("--repeats", type=int, default=5, help="interleaved turns")
    parser.add_argument("--seconds", type=float, default=0.4, help="length of a turn")
    parser.add_argument("--steps", type=int, help="steps of a turn, instead")
    parser.add_argument(
        "--quick", action="store_true", help="only the smallest sizes and orders"
    )
    parser.add_argument(
        "--output", default=str(REPOSITORY / "docs" / "results" / "speed.json")
    )
    parser.add_argument(
        "--cache",
        default=str(pathlib.Path.home() / ".cache" / "keraspinn" / "benchmarks"),
        help="folder for the contestants' environments, about 8 GB",
    )
    return parser.parse_args(arguments)


def main():
    options = parsed()
    failed = 0
    for stage in options.stage:
        print(f"Stage {stage}", flush=True)
        with Pool(options.cache) as pool:
            for key, record in STAGES[stage](pool, options):
                record.setdefault("versions", pool.versions())
                record |= {
                    "machine": machine(),
                    "date": datetime.date.today().isoformat(),
                }
                store(options.output, stage, key, record)
                show(key, record)
                failures = record.get("failures", {}).values()
                failed += sum("losses at the start" in text for text in failures)
    return 1 if failed else 0


def show(key, record):
    """Print a record's medians."""
    print(key)
    for label, result in record["results"].items():
        if "median_ms" in result:
            print(
                f"  {label:60s} {result['median_ms']:9.3f} ms "
                f"[{result['min_ms']:.3f}, {result['max_ms']:.3f}], first steps after "
                f"{result['first_steps_seconds']:.1f} s"
            )


if __name__ == "__main__":
    raise SystemExit(main())
