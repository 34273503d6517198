"""The page of the exam, made from its record."""

import pathlib
import re

from examples.exam.problems import QUESTIONS

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "exam.md"


def result(record):
    """Return "right", "wrong" or "not solved" for the record of a run."""
    if not record["solved"]:
        return "not solved"
    return "right" if worst(record) <= record["tolerance"] else "wrong"


def worst(record):
    """Return the largest true error of a run, infinite if it failed."""
    return max(record["errors"].values(), default=float("inf"))


def counts(records, run="last"):
    """Return how many runs are right, wrong and not solved, a dict.

    Args:
        records: Dict from names to records.
        run: "first" or "last" run of each problem.
    """
    found = dict.fromkeys(("right", "wrong", "not solved"), 0)
    for record in records.values():
        found[result(record[run])] += 1
    return found


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
            found = counts(members, run)
            numbers = " | ".join(str(n) for n in (len(members), *found.values()))
            rows.append(f"| {title}, {run} run | {numbers} |")
    return "\n".join(rows)


def table(records):
    """Return a row for each problem, in Markdown."""
    rows = ["| Problem | First run | Last run | True error | Seconds |"]
    rows += ["|---|---|---|---|---|"]
    for name, record in records.items():
        first, last = record["first"], record["last"]
        error, seconds = worst(last), last.get("seconds", float("nan"))
        cells = [name, result(first), result(last), f"{error:.1e}", f"{seconds:.0f}"]
        rows.append(f"| {' | '.join(cells)} |")
    return "\n".join(rows)


def page(text, records):
    """Return a page with the tables of the records between its markers."""
    tables = [summary(records)]
    for title, members in groups(records).items():
        if members:
            tables += [f"## {title}", table(members)]
    made = "\n\n".join(tables)
    place = re.compile(r"(?<=<!-- tables -->\n)(.*)", re.DOTALL)
    return place.sub(lambda _: f"\n{made}\n", text)


def write_page(records):
    """Put the tables into the page."""
    PAGE.write_text(page(PAGE.read_text("utf-8"), records), "utf-8")
