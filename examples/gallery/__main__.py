"""Programs of the gallery: their runs, records, pages and notebooks.

python -m examples.gallery kovasznay beam_si

Without names, all programs run, each in a separate process. `docs/gallery/` keeps the
figure of each program and a record with its errors, equations, printed lines by
notebook cell, and seconds. The seconds include compilation; they are the smaller of
wall time and CPU time, because the core may be shared. A sketch of the domain is kept
too. `--declarations` renews sketches and equations without training.
"""

import argparse
import ast
import base64
import contextlib
import io
import json
import linecache
import math
import pathlib
import platform
import re
import subprocess
import sys
import time
from itertools import chain

import matplotlib

import keraspinn as kp

PROGRAMS = pathlib.Path(__file__).parent
PAGES = PROGRAMS.parent.parent / "docs" / "gallery"
RECORDS = PAGES / "results.json"
# Largest number of characters of a LaTeX equation: longer ones do not fit on a page. A
# program with such equations has a file of rows, `kirsch.tex`, in their place.
LONGEST = 180
# Largest number of lines of output on a page.
MOST_PRINTED = 20
# Beginning of the last paragraph of a program's docstring.
ADAPT = "To adapt it, "
# Order of the pages. Programs that are not named here come last.
SUBJECTS = {
    "Heat": "fin heat_rod hot_side plate_with_hole two_materials l_shape",
    "Mechanics": "oscillator vibration beam_si cantilever bracket kirsch thin_plate",
    "Flow": "obstacle kovasznay parametric_reynolds cavity flow_rate",
    "Waves": "wave helmholtz klein_gordon",
    "Long times": "long_time breather",
    "Layers, fronts and transport": "parametric_layer burgers allen_cahn "
    "periodic_advection",
    "Unknowns": "mass_spring unknown_diffusivity unknown_field eigenvalue",
    "Trust, save, extend": "ensemble_band resume own_network own_rule",
}


def subjects():
    """Return the names of programs by subject, a dict."""
    named = {subject: line.split() for subject, line in SUBJECTS.items()}
    programs = sorted(path.stem for path in PROGRAMS.glob("[a-z]*.py"))
    others = [name for name in programs if name not in {*chain(*named.values())}]
    return named | ({"Further": others} if others else {})


def names():
    """Return the names of programs in the order of their pages."""
    return [*chain(*subjects().values())]


def text(name):
    """Return the title and the text of a program's docstring."""
    docstring = ast.get_docstring(ast.parse(source(name)))
    title, _, rest = docstring.partition("\n")
    return title.rstrip("."), rest.strip()


def parts(words):
    """Split the text of a program into its description and advice on changes."""
    about, _, change = words.partition(ADAPT)
    return about.strip(), f"{change[0].upper()}{change[1:]}"


def source(name):
    return (PROGRAMS / f"{name}.py").read_text("utf-8")


def first_line(name):
    """Return the number of the first line of code, which `:lines:` begins with."""
    return ast.parse(source(name)).body[0].end_lineno + 2


def run(name):
    """Run a program in this process, cell by cell; write its figure and its record."""
    clocks = time.perf_counter, time.process_time
    began = [clock() for clock in clocks]
    matplotlib.rcParams.update({"savefig.dpi": 110, "savefig.bbox": "tight"})
    variables, printed = {"__name__": "__main__"}, []
    with contextlib.chdir(PROGRAMS):  # programs read tables in this folder
        for number, cell in enumerate(cells(name)):
            file = f"{name}, cell {number}"  # TensorFlow reads the lines of functions
            linecache.cache[file] = len(cell), None, cell.splitlines(True), file
            with contextlib.redirect_stdout(io.StringIO()) as lines:
                exec(compile(cell, file, "exec"), variables)
            printed.append(lines.getvalue())
    seconds = min(clock() - start for clock, start in zip(clocks, began, strict=True))
    (PROGRAMS / f"{name}.png").replace(PAGES / f"{name}.png")
    if (film := PROGRAMS / f"{name}.gif").exists():
        film.replace(PAGES / film.name)
    (PAGES / f"{name}.txt").write_text("".join(printed), "utf-8")
    records = read_records()
    records[name] = {
        **declaration(name, variables.get("problem")),
        "errors": {k: float(f"{v:.2g}") for k, v in shown(variables["error"]).items()},
        "printed": [text.count("\n") for text in printed],
        "seconds": round(seconds),
        "machine": f"{platform.machine()}, {platform.system()}",
        "version": kp.__version__,
    }
    write_records(records)


def read_records():
    return json.loads(RECORDS.read_text("utf-8")) if RECORDS.exists() else {}


def write_records(records):
    records = json.dumps(dict(sorted(records.items())), indent=1, ensure_ascii=False)
    RECORDS.write_text(records + "\n", "utf-8")


def declared(name):
    """Run a program as far as its problem; return this, or `None` without one."""
    program = ast.parse(source(name))
    ends = [n + 1 for n, line in enumerate(program.body) if assigns(line, "problem")]
    if not ends:
        return None
    program.body = program.body[: ends[0]]
    variables = {"__name__": "__main__"}
    with contextlib.chdir(PROGRAMS):
        exec(compile(program, f"{name}.py", "exec"), variables)
    return variables["problem"]


def assigns(line, name):
    targets = line.targets if isinstance(line, ast.Assign) else []
    return any(isinstance(target, ast.Name) and target.id == name for target in targets)


def declaration(name, problem):
    """Save a sketch of a domain; return a dict with the equations as lines of LaTeX."""
    if problem is None:
        return {}
    if sketched := problem.domain.dimension <= 3:
        figure = kp.plot.domain(problem)
        figure.savefig(PAGES / f"{name}_domain.png", dpi=80, bbox_inches="tight")
    rows = problem._repr_latex_().splitlines()[1:-1]
    return {"equations": rows, "sketched": sketched}


def mathematics(name, record):
    """Return the paragraphs of a page that state its problem."""
    if "equations" not in record:
        return []
    rows = record["equations"]
    if (written := PROGRAMS / f"{name}.tex").exists():
        rows = written.read_text("utf-8").splitlines()
    rows = " \\\\\n".join(row.removesuffix(r" \\") for row in rows)
    text = [f"$$\n\\begin{{aligned}}\n{rows}\n\\end{{aligned}}\n$$"]
    if record["sketched"]:
        image = f"{name}_domain.png\n:alt: The domain and its conditions"
        text += [f"```{{image}} {image}\n```"]
    return text


def shown(error):
    """Return relative errors, by the names of the quantities."""
    known = {k: v for k, v in error.items() if not k.endswith(("loss", "_weight"))}
    return {k.removesuffix("_relative_l2"): v for k, v in known.items()}


def first_sentence(words):
    """Return the first sentence of a text on one line."""
    return re.split(r"(?<=\.)\s", " ".join(words.split()))[0]


def phrase(record):
    """Return errors and time of a record as a phrase."""
    errors = ", ".join(f"{k} {size(v)}" for k, v in record["errors"].items())
    return f"Relative error {errors}; {minutes(record)} min"


def size(error):
    """Return an error as text with a minus sign: a hyphen would allow a line break."""
    return f"{error:.1e}".replace("-", "−")


def minutes(record):
    """Return the time of a run in minutes, rounded up."""
    return math.ceil(record["seconds"] / 60)


def sentence(record):
    """Return errors, time, machine and version of a record as a sentence."""
    machine = f"on a two-core machine, with keraspinn {record['version']}"
    return f"{phrase(record)} {machine}."


def output(printed, record):
    """Return the paragraphs of a page with a program's printed lines.

    Keras's log has all terms on one line: loss and unknown parameters are shown.
    """
    kept = {"loss", *record["errors"]}

    def short(line):
        if not re.match(r"\d+/\d+ - ", line):
            return line
        fields = line.split(" - ")
        return " - ".join(
            field
            for field in fields
            if ": " not in field or field.split(": ")[0] in kept
        )

    lines = printed.splitlines()
    shown = [*map(short, lines)][-MOST_PRINTED:]
    remarks = [f"The last {MOST_PRINTED} lines."] if len(lines) > len(shown) else []
    if shown != lines[-MOST_PRINTED:]:
        remarks += ["The log is shortened to time and loss."]
    block = "\n".join(["```{code-block} text", ":class: output", "", *shown, "```"])
    return [" ".join(remarks), block] if remarks else [block]


def write_pages():
    """Write the pages of programs that have run, and their index."""
    records = read_records()
    done = [name for name in names() if name in records]
    for name in done:
        title, words = text(name)
        about, change = parts(words)
        film = PAGES / f"{name}.gif"
        picture = film.name if film.exists() else f"{name}.png"
        page = [f"# {title}", f"![{title}]({picture})", about]
        page += [f"*{sentence(records[name])}*"]
        if stated := mathematics(name, records[name]):
            page += ["## Problem", *stated]
        program = f"{{literalinclude}} ../../examples/gallery/{name}.py"
        page += ["## Program", f"```{program}\n:lines: {first_line(name)}-\n```"]
        files = f"../../examples/gallery/{name}.py", f"{name}.ipynb"
        page += [f"{{download}}`Program <{files[0]}>` · "]
        page[-1] += f"{{download}}`notebook <{files[1]}>`"
        if (PROGRAMS / f"{name}.csv").exists():
            table = f"../../examples/gallery/{name}.csv"
            page[-1] += f" · {{download}}`table <{table}>`"
        if (printed := PAGES / f"{name}.txt").exists():
            page += ["## Output", *output(printed.read_text("utf-8"), records[name])]
        page += ["## Change this for your problem", change]
        (PAGES / f"{name}.md").write_text("\n\n".join(page) + "\n", "utf-8")
        notebook = json.dumps(
            as_notebook(name, records[name]), indent=1, ensure_ascii=False
        )
        (PAGES / f"{name}.ipynb").write_text(notebook + "\n", "utf-8")
    index = ["# Gallery", "Each page is one program with its figure, error and time."]
    for subject, members in subjects().items():
        index += [f"## {subject}", "```{rst-class} thumbnails\n```", "| | |\n|---|---|"]
        for name in filter(done.__contains__, members):
            title, words = text(name)
            summary = f"{first_sentence(words)} *{phrase(records[name])}.*"
            card = f"[**{title}**]({name}.md). {summary}"
            index[-1] += f"\n| ![{title}]({name}.png) | {card} |"
    toctree = "\n".join(done)
    index += [f"```{{toctree}}\n:hidden:\n\n{toctree}\n```"]
    (PAGES / "index.md").write_text("\n\n".join(index) + "\n", "utf-8")
    front = PAGES.parent / "capabilities.md"
    front.write_text(with_figures(front.read_text("utf-8"), records), "utf-8")


def with_figures(page, records):
    """Return the page of capabilities with the current errors and times."""

    def filled(line):
        linked = re.findall(r"gallery/(\w+)\.md", line)
        if not linked or not line.startswith("| "):
            return line
        figures = [
            f"{size(max(records[name]['errors'].values()))}, "
            f"{minutes(records[name])} min"
            for name in linked
        ]
        return "|".join([*line.split("|")[:3], f" {'; '.join(figures)} |"])

    return "\n".join(map(filled, page.split("\n")))


def cells(name):
    """Return the paragraphs of a program; the first has all imports."""
    code = source(name).split('"""', 2)[2].strip() + "\n"
    return re.split(r"\n\n+(?=\S)(?!import|from)", code)


def as_notebook(name, record):
    """Return a program as an executed notebook, with a cell for each paragraph."""
    title, words = text(name)
    printed = (PAGES / f"{name}.txt").read_text("utf-8").splitlines(keepends=True)

    def cell(kind, content, **further):
        lines = content.splitlines(keepends=True)
        return {"cell_type": kind, "metadata": {}, "source": lines, **further}

    executed = []
    pairs = zip(cells(name), record["printed"], strict=True)
    for number, (code, count) in enumerate(pairs, 1):
        lines, printed = printed[:count], printed[count:]
        stream = {"output_type": "stream", "name": "stdout", "text": lines}
        outputs = [stream] if lines else []
        executed.append(
            cell("code", code, id=f"c{number}", execution_count=number, outputs=outputs)
        )
    png = base64.b64encode((PAGES / f"{name}.png").read_bytes()).decode()
    executed[-1]["source"] += ["figure"]
    executed[-1]["outputs"] += [
        {
            "output_type": "execute_result",
            "execution_count": len(executed),
            "data": {"image/png": png},
            "metadata": {},
        }
    ]
    return {
        "cells": [
            cell("markdown", f"# {title}\n\n{words}\n", id="words"),
            *executed,
        ],
        "metadata": {"language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*")
    parser.add_argument("--declarations", action="store_true", help="train nothing")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.here:
        run(arguments.names[0])
        return
    if arguments.declarations:
        records = read_records()
        for name in filter(records.__contains__, arguments.names or names()):
            records[name] |= declaration(name, declared(name))
        write_records(records)
        write_pages()
        return
    for name in arguments.names or names():
        print(name, flush=True)
        command = [sys.executable, "-m", "examples.gallery", "--here", name]
        subprocess.run(command, check=True)
    write_pages()


if __name__ == "__main__":
    main()
