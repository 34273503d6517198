"""Tables and plots of `docs/speed.md`, made from the results of the benchmarks.

    python examples/benchmarks/report.py

The program replaces the text between `<!-- table NAME -->` and `<!-- end -->`. The
marker `<!-- table NAME@FILE -->` takes the results from a file in `docs/results`.
"""

import argparse
import json
import pathlib
import re

import tables

DOCS = pathlib.Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"(<!-- table (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)


def read(path):
    """Return the content of a file of results."""
    return json.loads(path.read_text(encoding="utf-8"))


def rendered(text, results, folder=DOCS / "results"):
    """Return the page with all tables replaced."""

    def block(match):
        name, _, file = match[2].partition("@")
        chosen = read(folder / file) if file else results
        return f"{match[1]}\n{tables.TABLES[name](chosen)}\n\n{match[3]}"

    return BLOCK.sub(block, text)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--results", default=str(DOCS / "results" / "speed.json"))
    parser.add_argument("--page", default=str(DOCS / "speed.md"))
    parser.add_argument(
        "--plots", default=str(DOCS / "results"), help="folder for the plots"
    )
    options = parser.parse_args()
    results = pathlib.Path(options.results)
    if not results.exists():
        parser.error(f"there is no {results}: make it with run.py --output {results}")
    results = read(results)
    page = pathlib.Path(options.page)
    page.write_text(rendered(page.read_text("utf-8"), results), encoding="utf-8")
    import plots

    plots.draw(results, pathlib.Path(options.plots))


if __name__ == "__main__":
    main()
