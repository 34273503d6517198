"""Programs for problems of PINNacle; their errors are compared with its best.

python -m examples.pinnacle burgers_1d_c --output docs/results/pinnacle.json

Without names, all programs run, each in a separate process. The output file keeps the
first and the last run of each program. The table of `docs/pinnacle.md` shows
`docs/results/pinnacle.json`.
"""

import argparse
import ast
import json
import math
import pathlib
import platform
import re
import runpy
import subprocess
import sys
import time

import keras
import numpy as np

import keraspinn as kp

PROGRAMS = pathlib.Path(__file__).parent
DOCS = PROGRAMS.parent.parent / "docs"
PAGE, RECORDS = DOCS / "pinnacle.md", DOCS / "results" / "pinnacle.json"

# Hao et al., arXiv 2306.08827: the least relative L2 error of eleven methods.
BEST = {
    "burgers_1d_c": 1.4e-2,
    "poisson_2d_c": 1.2e-2,
    "poisson_2d_cg": 1.4e-2,
    "poisson_3d_cg": 9.5e-2,
    "poisson_2d_ms": 5.9e-1,
    "heat_2d_cg": 2.4e-2,
    "ns_2d_c": 3.6e-2,
    "ns_2d_cg": 8.2e-2,
    "wave_1d_c": 9.8e-2,
    "poisson_nd": 4.7e-4,
    "heat_nd": 1.2e-4,
    "poisson_inverse": 2.5e-2,
    "heat_inverse": 5.3e-2,
}


def source(name):
    return (PROGRAMS / f"{name}.py").read_text("utf-8")


def text(name):
    """Return the title and the text of a program's docstring."""
    title, _, rest = ast.get_docstring(ast.parse(source(name))).partition("\n")
    return title.rstrip("."), rest.strip()


def relative_error(model, problem):
    """Return the relative L2 error of all fields together, as PINNacle defines it."""
    points, values = problem.test_data()
    expressions = problem.reference_expressions
    true = np.stack([values[name] for name in expressions], axis=1)
    predicted = [model.predict_expression(e, points) for e in expressions.values()]
    errors = np.stack(predicted, axis=1) - true
    return float(np.linalg.norm(errors) / np.linalg.norm(true))


def shape(network):
    """Return units and depth of a network of the package or of Keras layers."""
    network = getattr(network, "networks", [network])[0]
    if hasattr(network, "units"):
        return f"{network.units}x{network.depth}"
    layers = [k for k in network.layers if isinstance(k, keras.layers.Dense)]
    return f"{layers[0].units}x{len(layers) - 1}"


def record_of(variables, seconds, cpu_seconds):
    """Return the record of one run, from the variables of the program."""
    model, problem, network = (
        variables["model"],
        variables["problem"],
        variables["model"].network,
    )
    errors, second = variables["error"].items(), variables["second"]
    fields = {k: float(v) for k, v in errors if k.endswith("_relative_l2")}
    return {
        "error": relative_error(model, problem),
        "fields": {k.removesuffix("_relative_l2"): v for k, v in fields.items()},
        "steps": {
            "Adam": variables["adam"],
            **({type(model.optimizer).__name__: second} if second else {}),
        },
        "network": shape(network),
        "parameters": int(network.count_params()),
        "seed": variables["seed"],
        "seconds": round(seconds),
        "cpu_seconds": round(cpu_seconds),
        "machine": f"{platform.machine()}, {platform.processor() or 'CPU'}",
        "versions": {
            "keraspinn": kp.__version__,
            "keras": keras.__version__,
            "python": platform.python_version(),
            keras.backend.backend(): version_of_backend(),
        },
    }


def version_of_backend():
    return sys.modules[keras.backend.backend()].__version__


def table(records):
    """Return the table of records as Markdown."""
    rows = ["| Problem | Best there | Here | First run | Network | Steps | Minutes |"]
    rows += ["|---|---|---|---|---|---|---|"]
    for name in (name for name in BEST if name in records):
        first, last = records[name]["first"], records[name]["last"]
        path = f"../examples/pinnacle/{name}.py"
        units, depth = last["network"].split("x")
        cells = [
            f"{text(name)[0]} ({{download}}`program <{path}>`)",
            f"{BEST[name]:.1e}",
            f"**{last['error']:.1e}**",
            "the same" if first == last else f"{first['error']:.1e}",
            f"{units} × {depth}",
            " + ".join(f"{number:,}" for number in last["steps"].values()),
            str(math.ceil(last["cpu_seconds"] / 60)),
        ]
        rows.append("| " + " | ".join(cells) + " |")
    return "\n".join(rows)


def write_page():
    """Replace the table of the page."""
    rows = table(json.loads(RECORDS.read_text("utf-8")))
    page = PAGE.read_text("utf-8")
    pattern = re.compile(r"\| Problem .*?\n\n", re.DOTALL)
    PAGE.write_text(pattern.sub(lambda _: rows + "\n\n", page, count=1), "utf-8")


def run(name, output, figures):
    """Run a program in this process; write its record and its figure."""
    began, cpu_began = time.perf_counter(), time.process_time()
    variables = runpy.run_path(str(PROGRAMS / f"{name}.py"), run_name="__main__")
    seconds, cpu_seconds = time.perf_counter() - began, time.process_time() - cpu_began
    record = record_of(variables, seconds, cpu_seconds)
    print(json.dumps(record))
    if figures is not None:
        figure = figures / f"pinnacle_{name}.png"
        variables["figure"].savefig(figure, dpi=80, bbox_inches="tight")
    if output is None:
        return
    records = json.loads(output.read_text("utf-8")) if output.exists() else {}
    records.setdefault(name, {"first": record})["last"] = record
    output.write_text(json.dumps(dict(sorted(records.items())), indent=1) + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", choices=[[], *BEST], metavar="name")
    parser.add_argument("--output", type=pathlib.Path)
    parser.add_argument("--figures", type=pathlib.Path, help="a folder for pictures")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.here:
        run(arguments.names[0], arguments.output, arguments.figures)
        return
    output = ["--output", str(arguments.output)] if arguments.output else []
    output += ["--figures", str(arguments.figures)] if arguments.figures else []
    for name in arguments.names or BEST:
        print(name, flush=True)
        command = [sys.executable, "-m", "examples.pinnacle", "--here", name]
        subprocess.run([*command, *output], check=True)
    if arguments.output and arguments.output.resolve() == RECORDS:
        write_page()


if __name__ == "__main__":
    main()
