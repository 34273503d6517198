"""Euler–Bernoulli beam, clamped at one end, trained with the paper's models.

python examples/beam.py --model M3 --si
python examples/beam.py --table --results docs/results/beam.json

The beam is nondimensional, u'''' = −1 on [0, 1], or of steel in SI units: 2 m, 500 N/m,
E = 210e9 Pa, I = 1e-8 m⁴. `--table` trains the four models with three seeds each, in
both systems of units.
"""

import itertools
import json
import os
import pathlib
import platform

import common
import sympy as sp

import keraspinn as kp

# Bending stiffness, load and length by system of units: 1, or N m², N/m and m.
UNITS = {"in numbers": (1.0, 1.0, 1.0), "in SI units": (210e9 * 1e-8, 500.0, 2.0)}


def beam(stiffness, load, length):
    """Return the problem of a uniformly loaded beam, all in one system of units."""
    x = sp.Symbol("x")
    w = sp.Function("w")(x)
    exact = -load * x**2 * (6 * length**2 - 4 * length * x + x**2) / (24 * stiffness)
    return kp.Problem(
        domain=kp.geometry.Box({x: (0, length)}),
        equations={"bending": sp.Eq(stiffness * w.diff(x, 4), -load)},
        conditions={
            "clamped": kp.Condition([w, w.diff(x)], on={x: 0}),
            "free": kp.Condition([w.diff(x, 2), w.diff(x, 3)], on={x: length}),
        },
        reference={w: exact},
    )


def table(arguments):
    """Train all models, print a line for each, and return errors by system of units."""
    by_units = {}
    for units, model in itertools.product(UNITS, common.MODELS):
        arguments.model, errors = model, []
        for arguments.seed in range(3):
            trained, _ = common.train(beam(*UNITS[units]), arguments)
            points, values = trained.problem.test_data()
            logs = trained.evaluate(points, values, return_dict=True, verbose=0)
            errors.append(logs["w_relative_l2"])
        by_units.setdefault(units, {})[model] = errors
        print(f"| {units} | {model} |", " | ".join(f"{e:.1e}" for e in errors), "|")
    return by_units


def main():
    parser = common.options(__doc__.splitlines()[0], units=20, depth=3)
    parser.set_defaults(steps=10_000, verbose=0)
    parser.add_argument("--si", action="store_true", help="in SI units")
    parser.add_argument("--table", action="store_true", help="all models and seeds")
    parser.add_argument("--results", type=pathlib.Path, help="file for the table")
    arguments = parser.parse_args()
    if not arguments.table:
        problem = beam(*UNITS["in SI units" if arguments.si else "in numbers"])
        print(problem)
        model, history = common.train(problem, arguments)
        return common.report(model, history, arguments, "beam")
    record = {
        "machine": f"{platform.machine()}, {os.cpu_count()} cores",
        "version": kp.__version__,
        "steps": arguments.steps,
        "network": f"{arguments.units}x{arguments.depth}",
        "errors of seeds 0, 1, 2": table(arguments),
    }
    if arguments.results:
        arguments.results.write_text(json.dumps(record, indent=1) + "\n", "utf-8")
    return None


if __name__ == "__main__":
    main()
