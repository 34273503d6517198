"""Table of the comparison's records, in the documentation.

python -m examples.windows.table
"""

import json
import pathlib

DOCS = pathlib.Path(__file__).parents[2] / "docs"
RESULTS = DOCS / "results" / "windows.jsonl"
PAGE = DOCS / "windows.md"
BEGIN, END = "<!-- table -->\n", "<!-- end of table -->"
HEAD = ["Problem", "Network", "Weights", "Seed", "Steps", "Error", "CPU s", "Code"]


def records():
    """Return the records, a list of dicts."""
    return [json.loads(line) for line in RESULTS.read_text("utf-8").splitlines()]


def cells(record):
    """Return the cells of a record's row."""
    counts = (record["splits"] or {}).values()
    windows = " × ".join(map(str, counts)) + " windows"
    adam, *more = (steps for steps, *_ in record["trace"])
    return [
        record["problem"],
        windows if counts else "one `MLP`",
        str(record["weights"]),
        str(record["seed"]),
        " + ".join(map(str, (adam, sum(more)))),
        f"{record['error']:.1e}",
        f"{record['cpu_seconds']:.0f}",
        f"`{record['code'].partition(',')[0]}`",
    ]


def table(runs):
    """Return the table in Markdown, sorted by problem."""
    rows = [cells(run) for run in sorted(runs, key=lambda run: run["problem"])]
    lines = [HEAD, ["---"] * len(HEAD), *rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def page(text, runs):
    """Return a page with the table between its markers."""
    before, rest = text.split(BEGIN)
    return before + BEGIN + "\n" + table(runs) + "\n" + END + rest.split(END)[1]


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text("utf-8"), records()), "utf-8")
