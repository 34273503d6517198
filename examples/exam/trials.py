"""Problems of trials by others: marching, and unknown parameters of exact data."""

import numpy as np
import sympy as sp
from scipy.integrate import solve_bvp, solve_ivp
from scipy.optimize import brentq

import keraspinn as kp
from examples.exam.steps import middles

x, r, t, z = sp.symbols("x r t z")
u, warm = sp.Function("u")(x, t), sp.Function("u")(r, z)

# Cells of a line by which references are computed.
CELLS = 400


def by_lines(rates, first, times):
    """Return the solution of ordinary equations on a line, `(times, cells)`."""
    how = {"method": "LSODA", "rtol": 1e-8, "atol": 1e-10, "lband": 1, "uband": 1}
    return solve_ivp(rates, (0, times[-1]), first, t_eval=times, **how).y.T


def on_a_grid(places, times, values, fields):
    """Return the `Reference` of values `(times, places)` of a field."""
    points = np.stack(np.meshgrid(places, times), axis=-1).reshape(-1, 2)
    return kp.Reference(points, {fields: values.ravel()})


def heated_pipe():
    """Graetz's problem: a flow along z that is heated by the wall from z = 0 on."""
    cells = 4 * CELLS
    h, edges = 1 / cells, np.arange(cells + 1) / cells
    middle, times = (np.arange(cells) + 0.5) / cells, np.linspace(0, 0.5, 101)

    def rates(_, values):
        flux = np.append(edges[:-1] * np.diff(values, prepend=values[0]) / h, 1.0)
        return np.diff(flux) / h / (middle * (1 - middle**2))

    values = by_lines(rates, np.zeros(cells), times)
    heat = r * (1 - r**2) * warm.diff(z) - (r * warm.diff(r)).diff(r)
    return kp.Problem(
        kp.geometry.Box({r: (0, 1)}, time={z: (0, 0.5)}),
        {"heat": heat},
        {
            "axis": kp.Condition(warm.diff(r), on={r: 0}),
            "wall": kp.Condition(sp.Eq(warm.diff(r), 1), on={r: 1}),
            "inlet": kp.Condition(warm, on="initial"),
        },
        reference=on_a_grid(middle[::8], times, values[:, ::8], warm),
    )


def tissue():
    """A bistable tissue, nearly uniform around its threshold for a long time."""
    places, times = np.linspace(0, 2, CELLS + 1), np.linspace(0, 40, 201)
    first, h = 0.41 + 0.1 * np.cos(np.pi * places / 2), places[1]

    def rates(_, v):
        ends = np.concatenate([v[1:2], v, v[-2:-1]])
        return 0.02 * np.diff(ends, 2) / h**2 + v * (1 - v) * (v - 0.4)

    values = by_lines(rates, first, times)
    reaction = u * (1 - u) * (u - sp.Rational(2, 5))
    initial = 0.41 + 0.1 * sp.cos(sp.pi * x / 2)
    return kp.Problem(
        kp.geometry.Box({x: (0, 2)}, time={t: (0, 40)}),
        {"tissue": sp.Eq(u.diff(t), 0.02 * u.diff(x, 2) + reaction)},
        {
            "ends": kp.Condition(u.diff(x), on="boundary"),
            "initial": kp.Condition(sp.Eq(u, initial), on="initial"),
        },
        reference=on_a_grid(places[::4], times, values[:, ::4], u),
    )


def river():
    """A pollutant in a river, with unknown dispersion and velocity, at three gauges."""
    dispersion, speed = kp.Parameter("D", initial=1.0), kp.Parameter("v", initial=1.0)
    spread = 1.4 * (t + sp.Rational(1, 2))
    exact = sp.exp(-((x - 2.3 * t) ** 2) / spread) / sp.sqrt(2 * t + 1)
    points = middles((3, (1.0, 7.0)), (30, (0.1, 3.0)))
    values = sp.lambdify((x, t), exact)(*points.T)
    return kp.Problem(
        kp.geometry.Box({x: (-4, 14)}, time={t: (0, 3)}),
        {"river": sp.Eq(u.diff(t) + speed * u.diff(x), dispersion * u.diff(x, 2))},
        {
            "ends": kp.Condition(u, on="boundary"),
            "initial": kp.Condition(sp.Eq(u, exact.subs(t, 0)), on="initial"),
            "gauges": kp.Data(points, {u: values}),
        },
        reference={u: exact},
    )


def epidemic():
    """Rates of contact and recovery from twenty numbers of infected people."""
    healthy, ill = (sp.Function(name)(t) for name in ("S", "I"))
    contact, recovery = (kp.Parameter(n, initial=1.0) for n in ("beta", "gamma"))
    times = np.linspace(0, 30, 1_001)

    def rates(_, v):
        return [-0.9 * v[0] * v[1], 0.9 * v[0] * v[1] - 0.25 * v[1]]

    how = {"method": "DOP853", "rtol": 1e-11, "atol": 1e-13, "t_eval": times}
    values = solve_ivp(rates, (0, 30), [0.99, 0.01], **how).y
    known, points = slice(25, None, 50), times[:, None]
    infected = contact * healthy * ill
    return kp.Problem(
        kp.geometry.Box(time={t: (0, 30)}),
        {
            "healthy": sp.Eq(healthy.diff(t), -infected),
            "ill": sp.Eq(ill.diff(t), infected - recovery * ill),
        },
        {
            "initial": kp.Condition([healthy - 0.99, ill - 0.01], on="initial"),
            "cases": kp.Data(points[known], {ill: values[1][known]}),
        },
        reference=kp.Reference(points, {healthy: values[0], ill: values[1]}),
    )


def canal():
    """Decay and dispersion of a pollutant in steady flow, from eight sensors."""
    steady = sp.Function("c")(x)
    dispersion, decay = (kp.Parameter(name, initial=1.0) for name in "Dk")
    solved = solve_bvp(
        lambda _, v: [v[1], (v[1] + 3.1 * v[0]) / 0.2],
        lambda first, last: [first[0] - 1, last[1]],
        np.linspace(0, 2, 801),
        np.ones((2, 801)),
        tol=1e-10,
        max_nodes=100_000,
    ).sol
    sensors, points = np.linspace(0.1, 1.8, 8), np.linspace(0, 2, 201)
    return kp.Problem(
        kp.geometry.Box({x: (0, 2)}),
        {"canal": steady.diff(x) - dispersion * steady.diff(x, 2) + decay * steady},
        {
            "inlet": kp.Condition(sp.Eq(steady, 1), on={x: 0}),
            "outlet": kp.Condition(steady.diff(x), on={x: 2}),
            "sensors": kp.Data(sensors[:, None], {steady: solved(sensors)[0]}),
        },
        reference=kp.Reference(points[:, None], {steady: solved(points)[0]}),
    )


def heated_wall():
    """Diffusivity and Biot number of a wall from two thermocouples."""
    diffusivity, biot = (kp.Parameter(name, initial=1.0) for name in ("a", "Bi"))
    places, times = np.linspace(0, 1, CELLS + 1), np.linspace(0, 2, 101)
    h = places[1]

    def rates(_, v):
        outside = v[-2] - 8 * h * (v[-1] - 1)
        return 0.3 * np.diff(np.concatenate([v[1:2], v, [outside]]), 2) / h**2

    values = by_lines(rates, np.zeros(CELLS + 1), times)
    known, couples = slice(5, None, 5), [120, 320]
    points = np.stack(np.meshgrid(places[couples], times[known]), -1).reshape(-1, 2)
    return kp.Problem(
        kp.geometry.Box({x: (0, 1)}, time={t: (0, 2)}),
        {"heat": sp.Eq(u.diff(t), diffusivity * u.diff(x, 2))},
        {
            "back": kp.Condition(u.diff(x), on={x: 0}),
            "gas": kp.Condition(sp.Eq(u.diff(x), biot * (1 - u)), on={x: 1}),
            "initial": kp.Condition(u, on="initial"),
            "couples": kp.Data(points, {u: values[known][:, couples].ravel()}),
        },
        reference=on_a_grid(places[::4], times, values[:, ::4], u),
    )


def packet():
    """A quantum packet in a box, by its real and imaginary parts."""
    real, imaginary = (sp.Function(name)(x, t) for name in "ab")
    envelope = sp.exp(-(((x - 0.4) / 0.12) ** 2)) * sp.sin(sp.pi * x)
    nodes, weights = np.polynomial.legendre.leggauss(800)
    nodes, modes = (nodes + 1) / 2, np.arange(1, 81)
    first = sp.lambdify(x, envelope)(nodes) * np.exp(12j * nodes)
    factors = (np.sin(np.pi * np.outer(modes, nodes)) * weights) @ first
    places, times = np.linspace(0, 1, 101), np.linspace(0, 0.15, 76)
    phases = np.exp(-0.5j * np.pi**2 * np.outer(times, modes**2))
    values = (phases * factors) @ np.sin(np.pi * np.outer(modes, places))
    points = np.stack(np.meshgrid(places, times), axis=-1).reshape(-1, 2)
    exact = {real: values.real.ravel(), imaginary: values.imag.ravel()}
    start = [real - envelope * sp.cos(12 * x), imaginary - envelope * sp.sin(12 * x)]
    return kp.Problem(
        kp.geometry.Box({x: (0, 1)}, time={t: (0, 0.15)}),
        {
            "real": sp.Eq(real.diff(t), -imaginary.diff(x, 2) / 2),
            "imaginary": sp.Eq(imaginary.diff(t), real.diff(x, 2) / 2),
        },
        {
            "walls": kp.Condition([real, imaginary], on="boundary"),
            "initial": kp.Condition(start, on="initial"),
        },
        reference=kp.Reference(points, exact),
    )


def flux_onset(depth, times, modes=2_000):
    """Return the temperature of a slab that a unit flux heats from t = 0 on.

    Args:
        depth: Array of distances from the insulated face, 0 to 1.
        times: Array of the same shape.
        modes: Number of terms of the series.
    """
    total = times + depth**2 / 2 - 1 / 6
    for k in range(1, modes):
        fading = np.exp(-((k * np.pi) ** 2) * times)
        total -= 2 / np.pi**2 * (-1.0) ** k / k**2 * fading * np.cos(k * np.pi * depth)
    return total


def lattice(*axes):
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, len(axes))


def flux_slab():
    """A steel wall of 4 cm that 10 kW/m² heat from 293 K, in SI units."""
    k, capacity, depth, flux, cold = 15.0, 4e6, 0.04, 1e4, 293.15
    points = lattice(np.linspace(0, depth, 81), np.linspace(0, 200, 101))
    rise = flux_onset(1 - points[:, 0] / depth, k / capacity * points[:, 1] / depth**2)
    return kp.Problem(
        kp.geometry.Box({x: (0, depth)}, time={t: (0, 200)}),
        {"heat": sp.Eq(capacity * u.diff(t), k * u.diff(x, 2))},
        {
            "heated": kp.Condition(sp.Eq(-k * u.diff(x), flux), on={x: 0}),
            "back": kp.Condition(u.diff(x), on={x: depth}),
            "initial": kp.Condition(sp.Eq(u, cold), on="initial"),
        },
        reference=kp.Reference(points, {u: cold + flux * depth / k * rise}),
    )


def flux_sphere():
    """A sphere that takes up a substance at a constant rate from t = 0 on."""
    c = sp.Function("c")(r, t)
    roots = [
        brentq(lambda b: np.sin(b) - b * np.cos(b), n * np.pi, (n + 0.5) * np.pi)
        for n in range(1, 1_000)
    ]
    points = lattice(np.linspace(1e-9, 1, 81), np.linspace(0, 0.3, 101))
    radius, times = points.T
    values = 3 * times + radius**2 / 2 - 0.3
    for b in roots:
        shape = np.sin(b * radius) / (b**2 * np.sin(b))
        values -= 2 / radius * shape * np.exp(-(b**2) * times)
    return kp.Problem(
        kp.geometry.Box({r: (0, 1)}, time={t: (0, 0.3)}),
        {"diffusion": sp.Eq(r * c.diff(t), r * c.diff(r, 2) + 2 * c.diff(r))},
        {
            "surface": kp.Condition(sp.Eq(c.diff(r), 1), on={r: 1}),
            "centre": kp.Condition(c.diff(r), on={r: 0}),
            "initial": kp.Condition(c, on="initial"),
        },
        reference=kp.Reference(points, {c: values}),
    )


def flux_plate():
    """A plate that is heated through one side and cooled through another."""
    y = sp.Symbol("y")
    v = sp.Function("u")(x, y, t)
    points = lattice(*[np.linspace(0, 1, 31)] * 2, np.linspace(0, 0.3, 31))
    across, along, times = points.T
    values = flux_onset(across, times) - 2 * flux_onset(along, times)
    return kp.Problem(
        kp.geometry.Box({x: (0, 1), y: (0, 1)}, time={t: (0, 0.3)}),
        {"heat": sp.Eq(v.diff(t), v.diff(x, 2) + v.diff(y, 2))},
        {
            "heated": kp.Condition(sp.Eq(v.diff(x), 1), on={x: 1}),
            "cooled": kp.Condition(sp.Eq(v.diff(y), -2), on={y: 1}),
            "insulated": kp.Condition(v.diff(x), on={x: 0}),
            "base": kp.Condition(v.diff(y), on={y: 0}),
            "initial": kp.Condition(v, on="initial"),
        },
        reference=kp.Reference(points, {v: values}),
    )


TRIALS = {
    problem.__name__: problem
    for problem in (
        *(heated_pipe, tissue, river, epidemic, canal, heated_wall, packet),
        *(flux_slab, flux_sphere, flux_plate),
    )
}

# Problems on which nothing was tuned.
UNTUNED = ["epidemic", "canal", "heated_wall", "packet"]
UNTUNED += ["flux_slab", "flux_sphere", "flux_plate"]

# True values of their parameters.
TRUE = {
    "river": {"D": 0.35, "v": 2.3},
    "epidemic": {"beta": 0.9, "gamma": 0.25},
    "canal": {"D": 0.2, "k": 3.1},
    "heated_wall": {"a": 0.3, "Bi": 4.0},
}
