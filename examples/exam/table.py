"""Page of the exam, made from its records."""

import json
import pathlib
import re
import statistics

from examples.exam.problems import QUESTIONS

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "exam.md"
# Records of runs with a tolerance of 1e-6.
TIGHT = PAGE.parent / "results" / "exam_1e-6.json"

# Records of the comparison with the two stages of the guide and DeepXDE.
BESIDE = PAGE.parent / "results" / "exam_beside.json"

# Relative L2 error to reach in that comparison.
TOLERANCE = 1e-3

EXPLANATION = """\
`python -m examples.exam.beside` runs ten problems one after another. Numbers are the
processor's seconds on one core. `solve` ends by its own estimate. For the others the
time is the first at which the true error is within 1e-3, which a user cannot know.
DeepXDE runs Adam, 15,000 steps at a rate of 1e-3, and L-BFGS, in single precision, with
the networks and points of its demonstrations, on PyTorch."""


def result(record):
    """Return "right", "wrong" or "not solved" for the record of a run."""
    if not record["solved"]:
        return "not solved"
    return "right" if worst(record) <= record["tolerance"] else "wrong"


def worst(record):
    """Return the largest true error of a run, infinite if it failed."""
    return max(record["errors"].values(), default=float("inf"))


def counts(records, run="last"):
    """Return the numbers of runs that are right, wrong and not solved, a dict.

    Args:
        records: Dict from names to records.
        run: "first" or "last" run of each problem.
    """
    numbers = dict.fromkeys(("right", "wrong", "not solved"), 0)
    for record in records.values():
        numbers[result(record[run])] += 1
    return numbers


def groups(records):
    """Return the records in three groups, a dict from headings to dicts."""

    def group(solvable, held_back):
        return {
            name: record
            for name, record in records.items()
            if QUESTIONS[name].solvable is solvable
            and QUESTIONS[name].held_back is held_back
        }

    return {
        "Problems": group(True, False),
        "Held back": group(True, True),
        "Not determined to the tolerance": group(False, False),
    }


def summary(records):
    """Return the counts as a table in Markdown."""
    rows = ["| | Problems | Solved and right | Solved and wrong | Not solved |"]
    rows += ["|---|---|---|---|---|"]
    for title, members in groups(records).items():
        for run in ("first", "last"):
            numbers = len(members), *counts(members, run).values()
            cells = " | ".join(map(str, numbers))
            rows.append(f"| {title}, {run} run | {cells} |")
    return "\n".join(rows)


def medians(records):
    """Return a sentence on the time of problems that are solved."""
    solved = [r["last"] for r in records.values() if r["last"]["solved"]]
    wall = statistics.median(r["seconds"] for r in solved)
    cpu = statistics.median(r.get("cpu_seconds", r["seconds"]) for r in solved)
    return (
        f"The median of the {len(solved)} last runs that are solved took {wall:.0f} s, "
        f"and {cpu:.0f} s of the processor; few had a core alone."
    )


def table(records):
    """Return the table of records in Markdown, a row for each problem."""
    rows = ["| Problem | First run | Last run | True error | Seconds |"]
    rows += ["|---|---|---|---|---|"]
    for name, record in records.items():
        first, last = record["first"], record["last"]
        error, seconds = worst(last), last.get("seconds", float("nan"))
        cells = [name, result(first), result(last), f"{error:.1e}", f"{seconds:.0f}"]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def reached(rows):
    """Return the first time with an error within the tolerance, or `None`."""
    return next((seconds for seconds, error in rows if error <= TOLERANCE), None)


def table_beside(records):
    """Return the table of the comparison in Markdown, a row for each problem."""
    lines = ["| Problem | `solve` | error | Two stages | last error "]
    lines[0] += "| DeepXDE | last error |"
    lines += ["|---|---|---|---|---|---|---|"]
    for name, record in records.items():
        ours = record["solve"]
        cells = [name, f"{ours['cpu_seconds']:.0f}", f"{ours['error']:.1e}"]
        cells[1] += "" if ours["solved"] else " (not solved)"
        for rows in (record["two_stages"], record["deepxde"]["rows"]):
            seconds = reached(rows)
            cells += ["–" if seconds is None else f"{seconds:.0f}"]
            cells += [f"{rows[-1][1]:.1e} after {rows[-1][0]:.0f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def page(text, records, tight, beside):
    """Return a page with the tables of the records between its markers.

    Args:
        text: Text of the page.
        records: Dict from names of problems to the records of the exam.
        tight: Records with a smaller tolerance.
        beside: Records of the comparison with other trainings.
    """
    tables = [summary(records), medians(records)]
    for title, members in groups(records).items():
        if members:
            tables += [f"## {title}", table(members)]
    tables += ["## A tolerance of 1e-6", table(tight)]
    tables += [
        "## Beside the two stages of the guide and DeepXDE",
        EXPLANATION,
        table_beside(beside),
    ]
    made = "\n\n".join(tables)
    pattern = re.compile(r"(?<=<!-- tables -->\n)(.*)", re.DOTALL)
    return pattern.sub(lambda _: f"\n{made}\n", text)


def write_page(records):
    """Write the tables into the page."""
    tight, beside = (json.loads(p.read_text("utf-8")) for p in (TIGHT, BESIDE))
    text = page(PAGE.read_text("utf-8"), records, tight, beside)
    PAGE.write_text(text, "utf-8")
