"""Verification of the solver of the lid-driven cavity against published results.

    python -m examples.cavity_solver

prints the tables of docs/cavity_reference.md. Other grids can be named, each twice as
fine as the one before: `... 16 32 64`.
"""

import sys

import numpy as np

from examples.cavity_solver import lid_driven_cavity, published

EXTREMA = ("u_min", "v_max", "v_min")


def main(sizes=(32, 64, 128, 256)):
    sealed = {n: lid_driven_cavity(100, n) for n in sizes}
    leaking = {
        n: lid_driven_cavity(100, n, lid_streamfunction="half-cell") for n in sizes
    }
    print_table("Extrema at Re = 100", extrema_rows(sealed))
    print_table("Observed order", order_rows(sealed))
    print_table("Largest distance from published tables", distance_rows(sealed))
    print_table("The leak of ψ = h/2 on the lid", leak_rows(sealed, leaking))
    print_table("Newton against pseudo-time", method_rows(min(sizes)))


def extrema_rows(flows):
    yield "n", *EXTREMA, "worst error"
    for n, flow in flows.items():
        values = extrema_of(flow)
        yield n, *(f"{v:.5f}" for v in values), percent(extrema_error(values))
    target = [published.EXTREMA_RE100[name][0] for name in EXTREMA]
    yield "published", *(f"{value:.5f}" for value in target), ""


def order_rows(flows):
    """Yield the order of convergence from three successive grids."""
    yield "n, 2n, 4n", *EXTREMA
    sizes = list(flows)
    values = np.array([extrema_of(flow) for flow in flows.values()])
    difference = np.diff(values, axis=0)
    orders = np.log2(difference[:-1] / difference[1:])
    for i, row in enumerate(orders):
        yield ", ".join(map(str, sizes[i : i + 3])), *(f"{p:.2f}" for p in row)


def distance_rows(flows):
    yield "n", "u, Ghia, Re 100", "v, Ghia, Re 100", "p, Botella–Peyret, Re 1000"
    for n, flow in flows.items():
        u = distance(flow, "u", x_half=published.GHIA_U_RE100)
        v = distance(flow, "v", y_half=published.GHIA_V_RE100)
        p = distance(
            lid_driven_cavity(1000, n),
            "pressure",
            x_half=published.PRESSURE_ON_X_HALF_RE1000,
            y_half=published.PRESSURE_ON_Y_HALF_RE1000,
        )
        yield n, f"{u:.4f}", f"{v:.4f}", f"{p:.4f}"


def leak_rows(sealed, leaking):
    yield (
        "n",
        "∫ u dy, sealed",
        "∫ u dy, h/2",
        "u_min",
        "its error",
        "speed, relative L2",
    )
    for n, flow in leaking.items():
        u_min = flow.centreline_extrema()["u_min"][0]
        error = abs(u_min / published.EXTREMA_RE100["u_min"][0] - 1)
        difference = np.linalg.norm(flow.speed - sealed[n].speed)
        difference /= np.linalg.norm(sealed[n].speed)
        flux = f"{sealed[n].flux:.5f}", f"{flow.flux:.5f}"
        yield n, *flux, f"{u_min:.5f}", percent(error), percent(difference)


def method_rows(n):
    """Yield the difference of the methods by tolerance."""
    yield "n", "tolerance in pseudo-time", "largest difference of u, v"
    by_newton = lid_driven_cavity(100, n)
    for tolerance in (1e-3, 1e-4, 1e-5):
        flow = lid_driven_cavity(100, n, method="pseudo-time", tolerance=tolerance)
        difference = max(
            np.abs(flow.u - by_newton.u).max(), np.abs(flow.v - by_newton.v).max()
        )
        yield n, f"{tolerance:.0e}", f"{difference:.1e}"


def extrema_of(flow):
    extrema = flow.centreline_extrema()
    return np.array([extrema[name][0] for name in EXTREMA])


def extrema_error(values):
    target = [published.EXTREMA_RE100[name][0] for name in EXTREMA]
    return np.abs(values / np.array(target) - 1).max()


def distance(flow, field, x_half=None, y_half=None):
    """Return the largest distance of a field from profiles on the centrelines."""
    distances = []
    if x_half is not None:
        y, value = x_half
        values = flow.at(np.column_stack([np.full_like(y, 0.5), y]))[field]
        distances.append(np.abs(values - value).max())
    if y_half is not None:
        x, value = y_half
        values = flow.at(np.column_stack([x, np.full_like(x, 0.5)]))[field]
        distances.append(np.abs(values - value).max())
    return max(distances)


def percent(fraction):
    return f"{100 * fraction:.2f} %"


def print_table(title, rows):
    header, *body = ([str(cell) for cell in row] for row in rows)
    print(f"**{title}**\n")
    print("| " + " | ".join(header) + " |")
    print("|" + "---|" * len(header))
    for row in body:
        print("| " + " | ".join(row) + " |")
    print()


if __name__ == "__main__":
    main(tuple(map(int, sys.argv[1:])) or (32, 64, 128, 256))
