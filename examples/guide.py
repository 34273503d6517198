"""Printed lines and figures of the landing page and the guide, by their own code.

python -m examples.guide declare domains

Without names, all pages of `CHAINS` run, otherwise the chains of the named ones.
`docs/guide/printed/` keeps the printed lines that a page includes, named by page and
number of the block of code, and the figures of pages. The README repeats the lines of
the landing page, `index`.
"""

import argparse
import contextlib
import io
import linecache
import pathlib
import re
import tempfile

import matplotlib

import keraspinn as kp

GUIDE = pathlib.Path(__file__).parents[1] / "docs" / "guide"
PRINTED = GUIDE / "printed"
# Pages that run one after another, as each continues the one before.
CHAINS = [
    ["index"],
    ["declare", "conditions", "networks", "train", "look", "ensembles"],
    ["data"],
    ["domains"],
    ["materials"],
    ["energies"],
    ["solve"],
    ["long_times"],
    ["not_converging"],
]
# Functions of the variables that a page leaves.
FIGURES = {
    "index": lambda left: kp.plot.field(
        left["solution"].model, left["u"], label="temperature"
    ),
    "declare": lambda left: kp.plot.domain(left["plate"]),
    "domains": lambda left: kp.plot.domain(left["problem"]),
    "solve": lambda left: kp.plot.field(left["solution"].model, left["u"]),
    "look": lambda left: left["figure"],
}
# Name in a block that continues another page.
APART = "through_side"


def text(page):
    folder = GUIDE.parent if page == "index" else GUIDE
    return (folder / f"{page}.md").read_text("utf-8")


def blocks(page):
    """Return the Python blocks of a page, in order."""
    return re.findall(r"```python\n(.*?)```", text(page), re.DOTALL)


def as_shown(output):
    """Return the lines that a terminal shows: a progress bar overwrites its line."""
    plain = re.sub(r"\x1b\[[\d;]*m|\x08", "", output)
    lines = (re.split(r"\r(?=.)", line)[-1].strip("\r") for line in plain.split("\n"))
    return "\n".join(line.rstrip() for line in lines)


def run(*pages):
    """Run pages, and yield the name, the printed lines and the variables of each.

    The lines are a dict with an entry for each block that prints, by its number.
    """
    variables = {}
    with tempfile.TemporaryDirectory() as folder:
        for page in pages:
            printed = {}
            for number, code in enumerate(blocks(page), 1):
                if APART in code:
                    continue
                file = f"{page}, block {number}"  # TensorFlow reads lines of functions
                linecache.cache[file] = len(code), None, code.splitlines(True), file
                lines = io.StringIO()
                with contextlib.chdir(folder), contextlib.redirect_stdout(lines):
                    exec(compile(code, file, "exec"), variables)
                if lines.getvalue():
                    printed[number] = as_shown(lines.getvalue())
            yield page, printed, variables


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="*", metavar="page")
    chosen = parser.parse_args().pages
    matplotlib.use("Agg")
    for chain in CHAINS:
        if chosen and not set(chosen) & set(chain):
            continue
        for page, printed, variables in run(*chain):
            print(page, flush=True)
            for number, lines in printed.items():
                if (path := PRINTED / f"{page}_{number}.txt").name in text(page):
                    path.write_text(lines, "utf-8")
            if page in FIGURES:
                figure = FIGURES[page](variables)
                figure.savefig(PRINTED / f"{page}.png", dpi=80, bbox_inches="tight")


if __name__ == "__main__":
    main()
