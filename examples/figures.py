"""Figures of the paper, with the numbers behind its claims.

    python examples/figures.py helmholtz_m1 helmholtz_m2
    python examples/figures.py --quick

Without names, all figures are drawn. Each is saved as a PNG file, and its numbers with
versions and machine as a JSON file. `--quick` trains smaller networks for fewer steps,
so that its numbers differ from the paper's.
"""

import argparse
import functools
import importlib.metadata
import json
import os
import pathlib
import platform
import time

import common
import keras
import matplotlib.pyplot as plt
import numpy as np

import keraspinn as kp
from keraspinn.problems.lid_driven_cavity import FORMULATIONS

PROBLEMS = {
    "helmholtz": kp.problems.helmholtz,
    "poisson": kp.problems.poisson,
    "klein_gordon": kp.problems.klein_gordon,
    "cavity": kp.problems.lid_driven_cavity,
}
FIGURES = {}


def figure(draw):
    """Register a function of a `Workshop` that returns a figure and its numbers."""
    FIGURES[draw.__name__] = draw
    return draw


class Workshop:
    """Cache of trainings: each runs once for all figures that show it.

    Args:
        options: Parsed arguments of the command line.
    """

    def __init__(self, options):
        self.options = options
        self.quick = options.quick
        self._trained = functools.cache(self._train)
        self.used = {}

    def run(self, *arguments, **options):
        """Return a trained model, its history, its gradients and its stiffness.

        Args:
            *arguments: Positional arguments of `_train`.
            **options: Keyword arguments of `_train`.
        """
        trained, size = self._trained(*arguments, **options)
        self.used[", ".join(map(str, arguments))] = size
        return trained

    def _train(self, model, depth, name, *parameters, full_batch=False):
        """Return the result of `run`, and the numbers of units, layers and steps.

        Args:
            model: `"M1"` to `"M4"`.
            depth: Number of hidden layers, of a full-size run.
            name: The problem's name.
            *parameters: The problem's arguments.
            full_batch: Whether to use the same points in all steps.
        """
        options = self.options
        arguments = common.options(__doc__).parse_args(["--paper"])
        arguments.model = model
        arguments.seed, arguments.verbose = options.seed, options.verbose
        arguments.units = options.units or (30 if self.quick else 50)
        arguments.depth = options.depth or (3 if self.quick else depth)
        arguments.steps = options.steps or (4000 if self.quick else 40_000)
        if name == "cavity":
            arguments.alpha = 0.1
            arguments.schedule, arguments.learning_rate = "cosine", 2e-3
        problem = PROBLEMS[name](*parameters)
        points = self.full_batch(problem) if full_batch else None
        if full_batch:
            arguments.batch_size = None
        period = max(1, arguments.steps // 40)
        gradients = kp.callbacks.GradientHistogram(period, points=points)
        stiffness = kp.callbacks.HessianEigenvalue(period)
        traced = name == "helmholtz" and not full_batch
        print(f"{problem}\n  {model}, {arguments.units} × {arguments.depth}")
        # Curves have a point for each epoch, an average over its steps.
        trained, history = common.train(
            problem,
            arguments,
            x=points,
            callbacks=[gradients, *([stiffness] if traced else [])],
            steps_per_epoch=max(1, period // 100) if full_batch else period,
        )
        size = {kind: getattr(arguments, kind) for kind in ("units", "depth", "steps")}
        return (trained, history, gradients.statistics, stiffness), size

    def full_batch(self, problem):
        """Return uniform points inside a square and on its sides, from the seed."""
        inside, side = (256, 64) if self.quick else (1000, 250)
        uniform = np.random.default_rng(self.options.seed).uniform
        sides = uniform(-1, 1, (4, side, 2))
        for number, points in enumerate(sides):
            points[:, number % 2] = 1 if number < 2 else -1
        return {
            "residual": uniform(-1, 1, (inside, 2)),
            "boundary": sides.reshape(-1, 2),
        }


def relative_l2(model):
    errors = model.evaluate(*model.problem.test_data(100), verbose=0, return_dict=True)
    return {name: errors[name] for name in errors if name.endswith("relative_l2")}


def balance(statistics):
    """Compare the gradients of loss terms: medians over the second half of training.

    A spread ratio is the width of the central 90 % of a condition's gradient, divided
    by that of the residual's. It is the median over the layers.
    """
    late = [_balance(moment) for moment in statistics[len(statistics) // 2 :]]
    return {
        name: float(np.median([numbers[name] for numbers in late])) for name in late[0]
    }


def _balance(moment):
    numbers = moment.numbers()
    for term in moment.terms[1:]:
        numbers[f"{term}_weight"] = moment.weights[term]
        for weighted, kind in ((True, "weighted_spread"), (False, "spread")):
            ratios = moment.spread_ratios(term, weighted).values()
            numbers[f"{term}_{kind}_ratio"] = np.median(list(ratios))
    return numbers


def height(statistics):
    """Return the height in inches of `plot.gradient_histograms`, in one row or two."""
    return 3.2 if len(statistics[-1].layers) <= 4 else 5.8


def stacked(heights, width=13):
    """Return a figure and its rows, which are subfigures."""
    page = plt.figure(figsize=(width, sum(heights)), layout="constrained")
    return page, np.ravel(page.subfigures(len(heights), 1, height_ratios=heights))


def captioned(part, caption):
    part.suptitle(f"{caption}: {part.get_suptitle()}")


def helmholtz(workshop, name):
    """Draw the solution, gradients, losses and λ of a four-layer model."""
    model, history, statistics, _ = workshop.run(name, 4, "helmholtz", 1, 4)
    page, (top, middle, bottom) = stacked([3.4, height(statistics), 3.4])
    kp.plot.solution(model, figure=top)
    captioned(top, f"Helmholtz, {name}")
    kp.plot.gradient_histograms(statistics[-1], figure=middle)
    kp.plot.history(history, figure=bottom)
    return page, relative_l2(model) | balance(statistics)


@figure
def helmholtz_m1(workshop):
    return helmholtz(workshop, "M1")


@figure
def helmholtz_m2(workshop):
    return helmholtz(workshop, "M2")


@figure
def helmholtz_m4(workshop):
    return helmholtz(workshop, "M4")


@figure
def helmholtz_solutions(workshop):
    """Draw reference, prediction and error of the plain model and of the best."""
    page, parts = stacked([3.4, 3.4])
    numbers = {}
    for name, part in zip(("M1", "M4"), parts, strict=True):
        model, *_ = workshop.run(name, 4, "helmholtz", 1, 4)
        kp.plot.solution(model, figure=part)
        captioned(part, name)
        numbers[name] = relative_l2(model)
    return page, numbers


def gradients_of(title, runs):
    """Draw the last gradients of several runs; return the balance in each."""
    page, parts = stacked([height(statistics) for _, _, statistics, _ in runs.values()])
    numbers = {}
    for part, (name, run) in zip(parts, runs.items(), strict=True):
        model, _, statistics, _ = run
        kp.plot.gradient_histograms(
            statistics[-1], title=f"{title}, {name}", figure=part
        )
        numbers[name] = relative_l2(model) | balance(statistics)
    return page, numbers


@figure
def helmholtz_gradients(workshop):
    """Draw gradients of both terms, without and with annealing."""
    runs = {name: workshop.run(name, 4, "helmholtz", 1, 4) for name in ("M1", "M2")}
    return gradients_of("Helmholtz", runs)


@figure
def poisson(workshop):
    """Draw gradients for three frequencies: those of the conditions become smaller."""
    runs = {f"C = {c}": workshop.run("M1", 5, "poisson", c) for c in (1, 2, 4)}
    return gradients_of("Poisson", runs)


def stiffness(runs):
    """Draw λ_max during two trainings; return medians and ratios."""
    (_, (_, _, _, first)), (_, (_, _, _, second)) = runs.items()
    page = kp.plot.traces(
        {name: (s.steps, s.eigenvalues["loss"]) for name, (*_, s) in runs.items()}
    )
    medians = {
        name: float(np.median(s.eigenvalues["loss"])) for name, (*_, s) in runs.items()
    }
    one, other = first.eigenvalues["loss"], second.eigenvalues["loss"]
    return page, {
        "median_over_training": medians,
        "learning_rate_bound": {name: 2 / value for name, value in medians.items()},
        "ratio_of_medians": float(np.median(other) / np.median(one)),
        "median_of_ratios": float(np.median(np.divide(other, one))),
        "ratio_at_the_end": other[-1] / one[-1],
    }


@figure
def stiffness_waves(workshop):
    """Draw the stiffness for two frequencies: it grows with the frequency."""
    return stiffness(
        {
            "a₁ = 1, a₂ = 1": workshop.run("M1", 4, "helmholtz", 1, 1),
            "a₁ = 1, a₂ = 4": workshop.run("M1", 4, "helmholtz", 1, 4),
        }
    )


@figure
def stiffness_architecture(workshop):
    """Draw the stiffness without and with gates, which reduce it."""
    return stiffness(
        {
            "M1, plain": workshop.run("M1", 4, "helmholtz", 1, 4),
            "M3, gated": workshop.run("M3", 4, "helmholtz", 1, 4),
        }
    )


@figure
def spectra(workshop):
    """Draw all eigenvalues of both terms' Hessians after full-batch training."""
    model, history, _, _ = workshop.run("M1", 5, "helmholtz", 1, 4, full_batch=True)
    points = workshop.full_batch(model.problem)
    eigenvalues = kp.diagnostics.hessian_spectrum(
        model, points=points, verbose=workshop.options.verbose
    )
    page = plt.figure(figsize=(12, 4), layout="constrained")
    left, right = page.subfigures(1, 2)
    kp.plot.spectrum(eigenvalues, figure=left)
    steps = (np.asarray(history.epoch) + 1) * history.params["steps"]
    losses = {
        name: (steps, history.history[f"{name}_loss"]) for name in model.problem.terms
    }
    kp.plot.traces(losses, label="Loss, full batch", figure=right)
    largest = {name: float(values[-1]) for name, values in eigenvalues.items()}
    return page, relative_l2(model) | {
        "parameters": len(eigenvalues["residual"]),
        "largest": largest,
        "smallest": {name: float(values[0]) for name, values in eigenvalues.items()},
        "residual_over_boundary": largest["residual"] / largest["boundary"],
        # Mean absolute change of a loss from one epoch to the next, in decades.
        "jumps": {
            name: float(np.mean(np.abs(np.diff(np.log10(values)))))
            for name, (_, values) in losses.items()
        },
    }


@figure
def klein_gordon_gradients(workshop):
    """Draw gradients of all terms, without and with annealing."""
    runs = {name: workshop.run(name, 5, "klein_gordon") for name in ("M1", "M2")}
    return gradients_of("Klein–Gordon", runs)


@figure
def klein_gordon_solutions(workshop):
    """Draw solutions in space and time, and as snapshots."""
    page, parts = stacked([3.4, 3.2, 3.4, 3.2])
    numbers = {}
    for name, (maps, curves) in zip(("M1", "M4"), parts.reshape(2, 2), strict=True):
        model, *_ = workshop.run(name, 5, "klein_gordon")
        kp.plot.solution(model, figure=maps)
        captioned(maps, f"Klein–Gordon, {name}")
        kp.plot.snapshots(model, n=101, figure=curves)
        numbers[name] = relative_l2(model)
    return page, numbers


@figure
def klein_gordon_weights(workshop):
    """Draw losses and λ of a training with annealing."""
    model, history, statistics, _ = workshop.run("M2", 5, "klein_gordon")
    return kp.plot.history(history), relative_l2(model) | {
        "weights": statistics[-1].weights
    }


def cavity(workshop, formulation):
    """Draw the speed that each of the four models predicts."""
    page, parts = stacked([3.4] * 4)
    numbers = {}
    for name, part in zip(common.MODELS, parts, strict=True):
        model, *_ = workshop.run(name, 5, "cavity", 100, formulation)
        kp.plot.solution(model, "speed", figure=part)
        captioned(part, name)
        numbers[name] = relative_l2(model)
    return page, numbers


@figure
def cavity_streamfunction_pressure(workshop):
    return cavity(workshop, FORMULATIONS[0])


@figure
def cavity_velocity_pressure(workshop):
    return cavity(workshop, FORMULATIONS[1])


def processor():
    """Return the name of the processor; only Linux has the full name."""
    path = pathlib.Path("/proc/cpuinfo")
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    names = [line.split(":")[1].strip() for line in lines if "model name" in line]
    return names[0] if names else platform.processor() or platform.machine()


def circumstances(options):
    """Return the versions and machine of a measurement."""
    packages = ("keraspinn", "keras", keras.config.backend(), "numpy", "scipy")
    versions = {"python": platform.python_version()}
    for package in packages:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:  # run from a source tree
            versions[package] = kp.__version__
    return {
        "options": {k: v for k, v in vars(options).items() if k != "directory"},
        "versions": versions,
        "machine": {
            "system": platform.system(),
            "processor": processor(),
            "cores": os.cpu_count(),
        },
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(FIGURES))
    parser.add_argument("--quick", action="store_true", help="in minutes")
    parser.add_argument("--units", type=int, help="units a layer")
    parser.add_argument("--depth", type=int, help="hidden layers")
    parser.add_argument("--steps", type=int, help="training steps")
    parser.add_argument("--seed", type=int, default=0, help="random seed")
    parser.add_argument("--dpi", type=int, default=150, help="dots an inch")
    parser.add_argument("--directory", default="figures", help="where to save them")
    parser.add_argument("--verbose", type=int, default=0, help="as in Keras's fit")
    options = parser.parse_args()
    unknown = [name for name in options.names if name not in FIGURES]
    if unknown:
        parser.error(f"no figures {unknown}; there are {', '.join(FIGURES)}")
    directory = pathlib.Path(options.directory)
    directory.mkdir(parents=True, exist_ok=True)
    workshop = Workshop(options)
    for name in options.names or FIGURES:
        began = time.perf_counter()
        workshop.used.clear()
        page, numbers = FIGURES[name](workshop)
        page.savefig(directory / f"{name}.png", dpi=options.dpi)
        plt.close(page)
        report = {"figure": name, "numbers": numbers, "runs": dict(workshop.used)}
        report |= circumstances(options)
        report["seconds"] = round(time.perf_counter() - began)
        text = json.dumps(report, indent=2, ensure_ascii=False)
        (directory / f"{name}.json").write_text(text + "\n", "utf-8")
        print(f"{name}: {json.dumps(numbers, indent=2, ensure_ascii=False)}")


if __name__ == "__main__":
    main()
