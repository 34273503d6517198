"""The table of docs/second_stage.md, from the records.

python -m examples.second_stage.table docs/results/second_stage.jsonl
"""

import json
import pathlib
import sys

MARKS = 1e-3, 1e-4, 1e-5, 1e-6


def error(line):
    """The largest relative error of the fields."""
    return max(v for k, v in line.items() if k.endswith("relative_l2"))


def seconds_to(trace, mark):
    """Seconds of the processor until the error is below the mark, or `None`."""
    return next((e["cpu_seconds"] for e in trace if error(e) < mark), None)


def row(record):
    """A line of the table."""
    trace = record["trace"]
    reached = [seconds_to(trace, mark) for mark in MARKS]
    times = ["" if s is None else f"{s:.0f}" for s in reached]
    least = min(trace, key=error)
    cells = [
        record["problem"],
        record["size"] if record["network"] == "plain" else f"gated {record['size']}",
        record["optimizer"],
        f"{error(trace[0]):.1e}",
        *times,
        f"**{error(trace[-1]):.1e}** / {trace[-1]['cpu_seconds']:.0f}",
        f"{error(least):.1e}",
    ]
    return f"| {' | '.join(cells)} |"


def main():
    records = map(json.loads, pathlib.Path(sys.argv[1]).read_text("utf-8").splitlines())
    marks = [f"s to {mark:.0e}" for mark in MARKS]
    names = ["Problem", "Network", "Optimizer", "After Adam", *marks]
    names += ["At the end / s", "Least"]
    print(f"| {' | '.join(names)} |\n|{'---|' * len(names)}")
    for record in records:
        print(row(record))


if __name__ == "__main__":
    main()
