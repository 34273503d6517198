"""Trainings of the "failure modes" of PINNs: Adam alone, two stages, and `solve`.

python -m examples.failure_modes convection_30 wave --seeds 0 1 2

The problems are those of Krishnapriyan et al. (arXiv 2109.01050), and the wave equation
of later studies. Plain PINNs end in a wrong field with a small loss. Without names, all
problems are trained. `docs/results/failure_modes.json` keeps the first and the last run
of each. `--table` only writes the table of `docs/failure_modes.md`.
"""

import argparse
import json
import pathlib
import platform
import re
import statistics
import time

import keras
import numpy as np
import sympy as sp

import keraspinn as kp
from examples.exam.__main__ import finite, true_errors
from examples.long_times.spectral import evolution

DOCS = pathlib.Path(__file__).parents[1] / "docs"
RECORDS = DOCS / "results" / "failure_modes.json"
PAGE = DOCS / "failure_modes.md"

X, T = sp.symbols("x t")
U = sp.Function("u")(X, T)
CIRCLE = kp.geometry.Box({X: (0, 2 * sp.pi)}, time={T: (0, 1)}, periodic=[X])
HILL = sp.exp(-((X - sp.pi) ** 2) / (2 * (sp.pi / 4) ** 2))
# Relative L2 error to reach.
TOLERANCE = 1e-4
# Number of steps of Adam alone, with 3,000 points each.
ADAM = 5_000


def convection(speed):
    """Declare u_t + β u_x = 0, periodic, with a sine as initial condition."""
    return kp.Problem(
        CIRCLE,
        {"convection": U.diff(T) + speed * U.diff(X)},
        {"initial": kp.Condition(sp.Eq(U, sp.sin(X)), on="initial")},
        reference={U: sp.sin(X - speed * T)},
    )


def reaction(rate=5):
    """Declare u_t = ρ u (1 − u), logistic growth at each x."""
    grown = HILL * sp.exp(rate * T)
    return kp.Problem(
        kp.geometry.Box({X: (0, 2 * sp.pi)}, time={T: (0, 1)}),
        {"reaction": U.diff(T) - rate * U * (1 - U)},
        {"initial": kp.Condition(sp.Eq(U, HILL), on="initial")},
        reference={U: grown / (grown + 1 - HILL)},
    )


def reaction_diffusion(viscosity=3, rate=5):
    """Declare u_t = ν u_xx + ρ u (1 − u), periodic."""
    points, values, _ = fourier_reference(viscosity, rate)
    return kp.Problem(
        CIRCLE,
        {"growth": U.diff(T) - viscosity * U.diff(X, 2) - rate * U * (1 - U)},
        {"initial": kp.Condition(sp.Eq(U, HILL), on="initial")},
        reference=kp.Reference(points, {U: values["u"]}),
    )


def fourier_reference(viscosity=3, rate=5):
    """Return points, values and error of the reference, by Fourier series."""
    return evolution(
        "u",
        lambda ik: viscosity * ik**2,
        lambda u, _: np.fft.fft(rate * u * (1 - u)),
        sp.lambdify(X, HILL),
        (0, 2 * np.pi),
        1,
        256,
        4_000,
    )()


def wave():
    """Declare u_tt = 4 u_xx with two standing modes."""
    pi = sp.pi
    exact = sp.sin(pi * X) * sp.cos(2 * pi * T)
    exact += sp.sin(3 * pi * X) * sp.cos(6 * pi * T) / 2
    return kp.Problem(
        kp.geometry.Box({X: (0, 1)}, time={T: (0, 1)}),
        {"wave": U.diff(T, 2) - 4 * U.diff(X, 2)},
        {
            "ends": kp.Condition(U, on="boundary"),
            "initial": kp.Condition(sp.Eq(U, exact.subs(T, 0)), on="initial"),
            "velocity": kp.Condition(U.diff(T), on="initial"),
        },
        reference={U: exact},
    )


PROBLEMS = {
    "convection_30": ("Convection, β = 30", lambda: convection(30)),
    "convection_50": ("Convection, β = 50", lambda: convection(50)),
    "reaction": ("Reaction, ρ = 5", reaction),
    "reaction_diffusion": ("Reaction–diffusion, ν = 3, ρ = 5", reaction_diffusion),
    "wave": ("Wave, c = 2, modes 1 and 3", wave),
}


def adam_alone(problem, seed):
    """Return a model trained with Adam in float32, without hard constraints."""
    keras.utils.set_random_seed(seed)
    model = kp.PINNModel(problem, kp.networks.MLP(50, 4), seed=seed)
    model.compile(keras.optimizers.Adam(1e-3))
    model.fit(steps_per_epoch=ADAM, batch_size=3_000, verbose=0)
    return model


def two_stages(problem, seed):
    """Return a model trained with Adam, then SSBroyden in float64."""
    keras.utils.set_random_seed(seed)
    model = kp.PINNModel(problem, kp.networks.MLP(30, 3), seed=seed)
    return kp.recipes.TwoStage(2_000, 3_000, points=3_000).train(model, verbose=0).model


def solved(problem, seed):
    """Return the model of `solve`."""
    return kp.solve(problem, TOLERANCE, max_time=600, seed=seed, verbose=0).model


WAYS = {"adam": adam_alone, "two_stages": two_stages, "solve": solved}


def run(name, way, seed):
    """Train a problem in one way; returns a dict that is JSON."""
    problem = PROBLEMS[name][1]()
    keras.backend.clear_session()
    wall, cpu = time.perf_counter(), time.process_time()
    model = WAYS[way](problem, seed)
    seconds = time.perf_counter() - wall, time.process_time() - cpu
    judged = kp.diagnostics.verdict(model, tolerance=TOLERANCE)
    return {
        "error": max(true_errors(model, problem, {}).values()),
        "estimate": finite(judged.error),
        "trusted": bool(judged.trusted),
        "seconds": round(seconds[0], 1),
        "cpu_seconds": round(seconds[1], 1),
        "machine": f"{platform.machine()}, shared",
        "versions": {"keraspinn": kp.__version__, "keras": keras.__version__},
    }


def table(records):
    """Return the table of the records as Markdown."""

    def cell(name, way):
        runs = [entry["last"] for entry in records[name].get(way, {}).values()]
        if not runs:
            return ""
        errors = sorted(r["error"] for r in runs)
        bounds = dict.fromkeys(f"{e:.1e}" for e in (errors[0], errors[-1]))
        seconds = statistics.median(r["cpu_seconds"] for r in runs)
        return f"{' to '.join(bounds)} ({len(runs)}), {seconds:.0f} s"

    lines = ["| Problem | Adam, float32 | Adam, then SSBroyden | `solve` |"]
    lines += ["|---|---|---|---|"]
    for name, (title, _) in PROBLEMS.items():
        if name in records:
            cells = [cell(name, way) for way in WAYS]
            lines.append(f"| {' | '.join([title, *cells])} |")
    return "\n".join(lines)


def write_page(records):
    """Replace the table of the page."""
    parts = re.split(
        r"(<!-- table -->\n\n).*?(?=\n\n)", PAGE.read_text("utf-8"), flags=re.DOTALL
    )
    PAGE.write_text(f"{parts[0]}{parts[1]}{table(records)}{parts[2]}", "utf-8")


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=[*WAYS])
    parser.add_argument("--table", action="store_true", help="write the page alone")
    options = parser.parse_args(arguments)
    records = json.loads(RECORDS.read_text()) if RECORDS.exists() else {}
    for name in () if options.table else options.names or PROBLEMS:
        for way in options.ways:
            for seed in options.seeds:
                record = run(name, way, seed)
                print(name, way, seed, json.dumps(record), flush=True)
                runs = records.setdefault(name, {}).setdefault(way, {})
                runs.setdefault(str(seed), {"first": record})["last"] = record
                RECORDS.write_text(json.dumps(records, indent=1) + "\n", "utf-8")
    write_page(records)


if __name__ == "__main__":
    main()
