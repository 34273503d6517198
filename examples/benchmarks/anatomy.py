"""Matrix products and other parts of a training step of `keraspinn`.

    python examples/benchmarks/anatomy.py --work helmholtz cavity-streamfunction

For each work and model the program prints the time of a step in the compiled loop, the
time of its matrix products alone with NumPy, and the numbers of products and of other
loops in the program of XLA. The last column is the time with plain gradient descent, a
lower bound for cheaper updates than Adam's. Times are medians of alternating turns.
"""

import argparse
import collections
import os
import pathlib
import re
import statistics
import tempfile
import time

# Folder in which XLA writes its programs.
DUMP = pathlib.Path(tempfile.mkdtemp())
COMPILED = "*cpu_after_optimizations.txt"
FLAGS = os.environ.get("XLA_FLAGS", "")
os.environ["XLA_FLAGS"] = f"{FLAGS} --xla_dump_to={DUMP} --xla_dump_hlo_as_text"

import entries  # noqa: E402
import keras  # noqa: E402
import work  # noqa: E402
from contestants.keraspinn_fit import Fit  # noqa: E402
from contestants.numpy_products import Products  # noqa: E402
from protocol import Task  # noqa: E402


def instructions(files):
    """Count the instructions in XLA's loop over the steps, by kind."""
    text = max(files, key=lambda file: file.stat().st_size).read_text("utf-8")
    counts, name = {}, None
    for line in text.splitlines():
        if opening := re.match(r"(?:ENTRY )?%?([\w.\-]+) \(.*{", line):
            name = opening[1]
            counts[name] = collections.Counter()
        elif instruction := re.search(r" = (?:\([^=]*\)|\S+) ([\w\-]+)\(", line):
            counts[name][instruction[1]] += 1
    bodies = re.findall(r" while\(.*body=%?([\w.\-]+)", text)
    return max((counts[name] for name in bodies), key=lambda kinds: kinds.total())


def timed(run, steps):
    """Return the milliseconds a step."""
    began = time.perf_counter()
    run(steps)
    return 1000 * (time.perf_counter() - began) / steps


def anatomy(name, model, options):
    """Return a row with times of a step and its products, and instruction counts."""
    known = set(DUMP.glob(COMPILED))
    problem = work.find(name)
    task = Task(
        problem=name,
        work=problem,
        model=model,
        gated=work.is_gated(model),
        units=options.units,
        depth=options.depth,
        batch=options.batch,
        parameters=work.initial_parameters(
            problem, model, options.units, options.depth
        ),
        options=entries.FIT | {"verbose": 0},
    )
    fit, products, descent = Fit(task), Products(task), Fit(task)
    fit.run(options.steps)  # compiles
    counts = instructions(set(DUMP.glob(COMPILED)) - known)
    descent.model.compile(keras.optimizers.SGD(1e-6))
    descent.run(options.steps)
    turns = [
        [timed(part.run, options.steps) for part in (fit, products, descent)]
        for _ in range(options.repeats)
    ]
    step, alone, plain = map(statistics.median, zip(*turns, strict=True))
    return (
        f"{name:22s} {model} {step:8.3f} {alone:9.3f} {alone / step:6.0%} "
        f"{counts['dot']:9d} {counts['fusion']:6d} {plain:8.3f}"
    )


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--work", nargs="+", choices=work.WORKS, default=[*work.WORKS])
    parser.add_argument("--models", nargs="+", default=["M1", "M4"])
    for option, value in (("units", 50), ("depth", 5), ("batch", 128)):
        parser.add_argument(f"--{option}", type=int, default=value)
    parser.add_argument("--steps", type=int, default=2000, help="of a turn")
    parser.add_argument("--repeats", type=int, default=5, help="turns")
    options = parser.parse_args()
    header = "ms a step  products  share  how many  loops  descent"
    print(f"{'':25s}{header}")
    for name in options.work:
        for model in options.models:
            print(anatomy(name, model, options), flush=True)


if __name__ == "__main__":
    main()
