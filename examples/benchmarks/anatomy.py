"""Measure the matrix products and the rest of a training step of `keraspinn`.

    python examples/benchmarks/anatomy.py --work helmholtz cavity-streamfunction

Prints for each work and model the time of a step in the compiled loop, that of its
matrix products timed alone with NumPy, and how many products and how many other loops
XLA made of it; then the time under plain gradient descent, which a cheaper update of
Adam's could not beat. Medians of turns taken alternately.
"""

import argparse
import collections
import os
import pathlib
import re
import statistics
import tempfile
import time

DUMP = pathlib.Path(tempfile.mkdtemp())
COMPILED = "*cpu_after_optimizations.txt"
GIVEN = os.environ.get("XLA_FLAGS", "")
os.environ["XLA_FLAGS"] = f"{GIVEN} --xla_dump_to={DUMP} --xla_dump_hlo_as_text"

import entries  # noqa: E402
import keras  # noqa: E402
import work  # noqa: E402
from contestants.keraspinn_fit import Fit  # noqa: E402
from contestants.numpy_products import Products  # noqa: E402
from protocol import Task  # noqa: E402


def instructions(files):
    """Number of each kind of instruction in the loop that XLA made of the steps."""
    text = max(files, key=lambda file: file.stat().st_size).read_text("utf-8")
    counts, name = {}, None
    for line in text.splitlines():
        if opening := re.match(r"(?:ENTRY )?%?([\w.\-]+) \(.*{", line):
            name = opening[1]
            counts[name] = collections.Counter()
        elif found := re.search(r" = (?:\([^=]*\)|\S+) ([\w\-]+)\(", line):
            counts[name][found[1]] += 1
    bodies = re.findall(r" while\(.*body=%?([\w.\-]+)", text)
    return max((counts[name] for name in bodies), key=lambda own: own.total())


def timed(run, steps):
    """Milliseconds a step."""
    began = time.perf_counter()
    run(steps)
    return 1000 * (time.perf_counter() - began) / steps


def anatomy(name, model, options):
    """A row: milliseconds a step and of its products, numbers of instructions."""
    known = set(DUMP.glob(COMPILED))
    own = work.find(name)
    task = Task(
        problem=name,
        work=own,
        model=model,
        gated=work.is_gated(model),
        units=options.units,
        depth=options.depth,
        batch=options.batch,
        parameters=work.initial_parameters(own, model, options.units, options.depth),
        options=entries.FIT | {"verbose": 0},
    )
    fit, products, descent = Fit(task), Products(task), Fit(task)
    fit.run(options.steps)  # compiled here
    counts = instructions(set(DUMP.glob(COMPILED)) - known)
    descent.model.compile(keras.optimizers.SGD(1e-6))
    descent.run(options.steps)
    turns = [
        [timed(each.run, options.steps) for each in (fit, products, descent)]
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
