"""Times of a training step of `keraspinn` and of alternatives.

    python examples/benchmarks/run.py                      # every stage
    python examples/benchmarks/run.py --stage packages --work helmholtz --models M1 M4

All contestants run on the same work: equal points per term, width, depth, float32 and
Adam. Their initial losses are checked against finite differences in float64. Each is a
process in a separate environment, which is suspended while another is timed. Repeats of
all are interleaved. One JSON file has the results by stage. From it,
`python examples/benchmarks/report.py` writes the tables of `docs/speed.md`.
"""

import argparse
import datetime
import json
import os
import pathlib
import platform
import re
import signal
import sys

import ladder
import stages
from cells import Pool
from entries import ALL, ALL_ENTRIES
from work import WORKS

PUBLISHED = pathlib.Path(__file__).parents[2] / "docs" / "results" / "speed.json"
STAGES = {
    "environments": stages.environments,
    "packages": stages.packages,
    "backends": stages.backends,
    "third-order": stages.third_order,
    "sweep": stages.sweep,
    "overheads": stages.overheads,
    "ladder": ladder.ladder,
    "memory": ladder.memory,
}
ON_A_CARD = {"accelerator": stages.accelerator}


def machine():
    """Describe the machine of the measurements."""
    path = pathlib.Path("/proc/cpuinfo")  # only Linux has the name of the processor
    text = path.read_text("utf-8") if path.exists() else ""
    name = re.search(r"^model name\s*: (.+)", text, re.MULTILINE)
    name = f" ({name[1].strip()})" if name else ""
    return f"{os.cpu_count()}-core {platform.machine().replace('_', '-')}{name}"


def stored(path):
    """Return the content of the file of results; the dict is empty without a file."""
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}


def store(path, stage, key, record):
    """Add the record of a stage to the file of results."""
    known = stored(path)
    known.setdefault(stage, {})[key] = record
    text = json.dumps(known, indent=1, ensure_ascii=False)
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = path.with_suffix(".new")
    whole.write_text(f"{text}\n", encoding="utf-8")
    whole.replace(path)


def positive(text):
    """Convert a text to a positive integer."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"write a number from 1, not {text!r}")
    return int(text)


def parsed(arguments=None):
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--stage", nargs="+", choices=STAGES | ON_A_CARD, default=list(STAGES)
    )
    parser.add_argument("--work", nargs="+", choices=WORKS)
    parser.add_argument("--models", nargs="+", choices=ALL)
    groups = sorted({entry.group for entry in ALL_ENTRIES})
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
        parser.add_argument(name, type=positive, default=value, help="not of sweeps")
    parser.add_argument(
        "--batches", nargs="+", type=int, choices=stages.CARD_BATCHES, help="on a GPU"
    )
    parser.add_argument("--repeats", type=positive, default=5, help="interleaved turns")
    parser.add_argument("--seconds", type=float, default=1.0, help="length of a turn")
    parser.add_argument("--steps", type=positive, help="steps of a turn, instead")
    parser.add_argument(
        "--timeout", type=float, default=600, help="seconds to build, or to begin"
    )
    parser.add_argument(
        "--quick", action="store_true", help="only the smallest sizes and orders"
    )
    parser.add_argument(
        "--installed", action="store_true", help="all run in this environment"
    )
    parser.add_argument("--output", type=pathlib.Path, default=PUBLISHED)
    parser.add_argument(
        "--cache",
        default=str(pathlib.Path.home() / ".cache" / "keraspinn" / "benchmarks"),
        help="folder for the contestants' environments, about 8 GB",
    )
    options = parser.parse_args(arguments)
    for name in options.contestants or ():
        if not any(entry.label.startswith(name) for entry in ALL_ENTRIES):
            parser.error(f"no contestant's label begins with {name!r}")
    names = "contestants", "models", "units", "depth", "batch", "batches", "steps"
    parts = [
        f"--{name}"
        for name in names
        if getattr(options, name) != parser.get_default(name)
    ]
    parts += ["--quick"] * options.quick
    if parts and options.output == PUBLISHED:
        parser.error(
            f"{PUBLISHED.name} holds every contestant at full size: with "
            f"{', '.join(parts)} name another file by --output"
        )
    return options


def main():
    options = parsed()
    stored(options.output)  # raises before any measurement if it cannot be read
    # A killed command must not leave suspended processes behind.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    failed = 0
    for stage in options.stage:
        print(f"Stage {stage}", flush=True)
        with Pool(options.cache, options.installed) as pool:
            for key, record in (STAGES | ON_A_CARD)[stage](pool, options):
                if not record["results"] and not record["failures"]:
                    continue  # the options select no entry of this stage
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
    """Print the medians of a record."""
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
