"""Table of the study's results, in the documentation.

python -m examples.energies.table
"""

import json
import pathlib

DOCS = pathlib.Path(__file__).parents[2] / "docs"
RESULTS = DOCS / "results" / "energies.json"
PAGE = DOCS / "energies_measured.md"
BEGIN, END = "<!-- table -->\n", "<!-- end of table -->"
HEAD = ["Problem", "Aim", "Form", "Error", "Reference", "Seeds", "CPU s", "Wall s"]


def precision(reference):
    """Return the error of a reference: the change by the last refinement, if any."""
    return f"{reference['error']:.0e}" if "error" in reference else "exact"


def rows(results):
    """Yield the cells of a row for each problem and form."""
    grouped = {}
    for run in results["runs"].values():
        grouped.setdefault((run["row"], run["form"]), []).append(run)
    order = list(results["aims"])
    for (name, form), runs in sorted(
        grouped.items(), key=lambda item: order.index(item[0][0])
    ):
        aims = results["aims"][name]
        names = [error for error, value in runs[0]["errors"].items() if value]
        shown = {
            error: aims.get(f"{form}: {error}", aims.get(error)) for error in names
        }
        if form == "strong form":
            shown = dict.fromkeys(names)
        yield [
            name + (" (held back)" if runs[0]["held_back"] else ""),
            "; ".join(f"{error} {aim:g}" for error, aim in shown.items() if aim),
            form,
            "; ".join(
                f"{error} " + ", ".join(f"{run['errors'][error]:.1e}" for run in runs)
                for error in names
            )
            or "; ".join(run.get("failed", "")[:60] for run in runs),
            precision(results["references"][name]),
            ", ".join(str(run["seed"]) for run in runs),
            ", ".join(f"{run['cpu_seconds'] or 0:.0f}" for run in runs),
            ", ".join(str(round(run.get("wall_seconds") or 0) or "?") for run in runs),
        ]


def table(results):
    """Return the table in Markdown."""
    lines = [HEAD, ["---"] * len(HEAD), *rows(results)]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def page(text, results):
    """Return a page with the table between its markers."""
    before, rest = text.split(BEGIN)
    return before + BEGIN + table(results) + END + rest.split(END)[1]


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text("utf-8"), json.loads(RESULTS.read_text())))
