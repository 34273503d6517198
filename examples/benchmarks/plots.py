"""Plots of `docs/speed.md`, functions of the results."""

import ladder_tables
import numpy as np
import reading


def draw(results, folder):
    """Write `speed.png` and `speed_ladder.png`, if there are results."""
    from matplotlib.figure import Figure

    if results.get("packages"):
        packages, _ = reading.record(results, "packages", "helmholtz")
        figure = Figure(figsize=(8, 7), layout="constrained")
        bars(figure.subplots(), packages)
        figure.savefig(folder / "speed.png", dpi=120)
    if results.get("ladder"):
        figure = Figure(figsize=(10, 3.6), layout="constrained")
        axes = figure.subplots(1, 3, sharey=True)
        for dimension, panel in enumerate(axes, start=1):
            rungs(panel, results, dimension)
        axes[0].set_ylabel("ms a step")
        axes[0].legend(fontsize=7)
        figure.savefig(folder / "speed_ladder.png", dpi=120)


def bars(axes, results):
    """Plot the median and the spread of all contestants, for M1 and M4."""
    labels = list(dict.fromkeys(label.split(" ", 1)[1] for label in results))
    for offset, model in ((-0.2, "M1"), (0.2, "M4")):
        for row, label in enumerate(labels):
            result = results.get(f"{model} {label}")
            if result:
                middle = result["median_ms"]
                spread = [[middle - result["min_ms"]], [result["max_ms"] - middle]]
                color = "C0" if model == "M1" else "C1"
                name = model if label == labels[0] else None
                axes.barh(
                    row + offset,
                    middle,
                    0.4,
                    xerr=spread,
                    color=color,
                    label=name,
                    error_kw={"linewidth": 0.8},
                )
    axes.set_yticks(range(len(labels)), labels, fontsize=8)
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlabel("ms a step, Helmholtz, 50 units × 5 layers")
    axes.grid(axis="x", alpha=0.3)
    axes.legend()


def rungs(axes, results, dimension):
    """Plot time against order, a line for each engine."""
    for name, points in ladder_tables.ladder_points(results, dimension).items():
        orders = sorted(points)
        low, middle, high = (
            np.array([points[order][figure] for order in orders])
            for figure in ("min_ms", "median_ms", "max_ms")
        )
        spread = [middle - low, high - middle]
        axes.errorbar(orders, middle, spread, fmt="o-", capsize=2, label=name)
    axes.set_yscale("log")
    axes.xaxis.get_major_locator().set_params(integer=True)
    axes.set_xlabel(f"order, {dimension} dimension{'s' * (dimension > 1)}")
    axes.grid(alpha=0.3, which="both")
