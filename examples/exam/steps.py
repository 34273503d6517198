"""Problems whose conditions contradict each other or jump, with known solutions."""

import numpy as np
import sympy as sp
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from scipy.special import erfc, erfcx, j0, j1, jn_zeros

import keraspinn as kp

x, y, r, t = sp.symbols("x y r t")
u, radial, plane = (
    sp.Function("u")(x, t),
    sp.Function("u")(r, t),
    sp.Function("u")(x, y),
)
steady, third = sp.Function("u")(x), sp.Function("u")(x, y, t)

# Terms of the series; the first time compared is 1e-4 of the duration or later.
TERMS = 600


def middles(*counts_and_ends):
    """Return points of a grid of midpoints, `(n, d)`, from counts and ends."""
    axes = [
        low + (high - low) * (np.arange(count) + 0.5) / count
        for count, (low, high) in counts_and_ends
    ]
    return np.stack([a.ravel() for a in np.meshgrid(*axes, indexing="ij")], axis=-1)


def rod(length, duration, equations, conditions, solution, field=u, space=x):
    """Return the problem on a rod for some time, with a solution f(x, t)."""
    points = middles((100, (0, length)), (100, (0, duration)))
    reference = kp.Reference(points, {field: solution(*points.T)})
    domain = kp.geometry.Box({space: (0, length)}, time={t: (0, duration)})
    return kp.Problem(domain, equations, conditions, reference=reference)


def cooling(s, t):
    """Return u of u_t = u_xx, u(0) = 0, u_x(1) = 0, initially 1."""
    modes = np.pi / 2 * (2 * np.arange(TERMS)[:, None] + 1)
    return (2 / modes * np.sin(modes * s) * np.exp(-(modes**2) * t)).sum(axis=0)


def consolidation():
    """Clay that drains at one side: pascals, metres, seconds."""
    return rod(
        5.0,
        1e8,
        {"flow": sp.Eq(u.diff(t), 1e-7 * u.diff(x, 2))},
        {
            "load": kp.Condition(sp.Eq(u, 1e5), on="initial"),
            "drained": kp.Condition(u, on={x: 0}),
            "clay": kp.Condition(u.diff(x), on={x: 5}),
        },
        lambda s, t: 1e5 * cooling(s / 5, 1e-7 * t / 25),
    )


def hot_side():
    """Plate with one hot side: two corners where the boundary value jumps."""
    a, b = 0.3, 0.2
    points = middles((60, (0, a)), (40, (0, b)))
    k = np.arange(1, 3 * TERMS, 2)[:, None] * np.pi / a
    at, up = points.T
    shape = np.exp(k * (up - b)) * (1 - np.exp(-2 * k * up)) / (1 - np.exp(-2 * k * b))
    values = (400 / (k * a) * np.sin(k * at) * shape).sum(axis=0)
    return kp.Problem(
        kp.geometry.Box({x: (0, a), y: (0, b)}),
        {"laplace": plane.diff(x, 2) + plane.diff(y, 2)},
        {
            "hot": kp.Condition(sp.Eq(plane, 100), on={y: b}),
            "cold": kp.Condition(plane, on=[{x: 0}, {x: a}, {y: 0}]),
        },
        reference=kp.Reference(points, {plane: values}),
    )


def step_at_inlet():
    """Column with clean water, fed with tracer at a Péclet number of 50."""
    v, d = 1e-5, 2e-7

    def solution(s, t):
        ahead, behind = (
            (s - v * t) / np.sqrt(4 * d * t),
            (s + v * t) / np.sqrt(4 * d * t),
        )
        return 0.5 * (erfc(ahead) + np.exp(v * s / d - behind**2) * erfcx(behind))

    return rod(
        1.0,
        5e4,
        {"transport": u.diff(t) + v * u.diff(x) - d * u.diff(x, 2)},
        {
            "clean": kp.Condition(u, on="initial"),
            "inlet": kp.Condition(sp.Eq(u, 1), on={x: 0}),
            "outlet": kp.Condition(u.diff(x), on={x: 1}),
        },
        solution,
    )


def slab_in_air():
    """Hot slab in air, in kelvin, at a Biot number of 2."""
    length, k, rate, h, hot, air = 0.02, 0.5, 2e-7, 50.0, 600.0, 300.0
    biot = h * length / k
    roots = np.array(
        [
            brentq(
                lambda z: z * np.sin(z) - biot * np.cos(z),
                n * np.pi + 1e-9,
                (n + 0.5) * np.pi - 1e-12,
            )
            for n in range(TERMS)
        ]
    )[:, None]
    factors = 4 * np.sin(roots) / (2 * roots + np.sin(2 * roots))

    def solution(s, t):
        decay = np.exp(-(roots**2) * rate * t / length**2)
        return air + (hot - air) * (factors * decay * np.cos(roots * s / length)).sum(0)

    return rod(
        length,
        1500.0,
        {"heat": sp.Eq(u.diff(t), rate * u.diff(x, 2))},
        {
            "initial": kp.Condition(sp.Eq(u, hot), on="initial"),
            "middle": kp.Condition(u.diff(x), on={x: 0}),
            "air": kp.Condition(sp.Eq(-k * u.diff(x), h * (u - air)), on={x: length}),
        },
        solution,
    )


def heater_strip():
    """Wall with a heater of 4 mm inside, declared by a `Piecewise`."""
    k, length, power = 15.0, 0.1, 1e7
    points = middles((500, (0, length)))
    rise = [np.clip(points[:, 0] - at, 0, None) ** 2 / 2 for at in (0.037, 0.041)]
    ends = [(length - at) ** 2 / 2 for at in (0.037, 0.041)]
    slope = power / k * (ends[0] - ends[1]) / length
    values = 20 + slope * points[:, 0] - power / k * (rise[0] - rise[1])
    source = sp.Piecewise((power, (x > 0.037) & (x < 0.041)), (0, True))
    return kp.Problem(
        kp.geometry.Box({x: (0, length)}),
        {"heat": k * steady.diff(x, 2) + source},
        {"ends": kp.Condition(sp.Eq(steady, 20), on="boundary")},
        reference=kp.Reference(points, {steady: values}),
    )


def half_hot_rim():
    """Disk with a boundary value that jumps within the rim."""
    radius, angle = middles((40, (0, 1)), (80, (0, 2 * np.pi))).T
    at, up = np.sqrt(radius) * np.cos(angle), np.sqrt(radius) * np.sin(angle)
    values = 0.5 + np.arctan(2 * up / (1 - at**2 - up**2)) / np.pi
    rim = sp.Piecewise((1, y > 0), (0, True))
    return kp.Problem(
        kp.geometry.Disk((0, 0), 1, (x, y)),
        {"laplace": plane.diff(x, 2) + plane.diff(y, 2)},
        {"rim": kp.Condition(sp.Eq(plane, rim), on="boundary")},
        reference=kp.Reference(np.stack([at, up], axis=-1), {plane: values}),
    )


def step_inside():
    """Insulated rod, hot on one side of a jump."""
    at, rate = 0.3, 0.02
    modes = np.arange(1, 3 * TERMS)[:, None] * np.pi
    factors = 2 / modes * np.sin(at * modes)

    def solution(s, t):
        decay = np.exp(-rate * modes**2 * t)
        return at + (factors * np.cos(modes * s) * decay).sum(axis=0)

    initial = sp.Piecewise((1, x < sp.Rational(3, 10)), (0, True))
    return rod(
        1.0,
        1.0,
        {"diffusion": sp.Eq(u.diff(t), sp.Rational(1, 50) * u.diff(x, 2))},
        {
            "initial": kp.Condition(sp.Eq(u, initial), on="initial"),
            "walls": kp.Condition(u.diff(x), on="boundary"),
        },
        solution,
    )


def sphere_in_air():
    """Hot sphere in air at a Biot number of 5, in its radius."""
    roots = np.array(
        [
            brentq(
                lambda z: z * np.cos(z) + 4 * np.sin(z),
                n * np.pi + 1e-9,
                (n + 1) * np.pi - 1e-9,
            )
            for n in range(TERMS)
        ]
    )[:, None]
    factors = 4 * (np.sin(roots) - roots * np.cos(roots))
    factors /= (2 * roots - np.sin(2 * roots)) * roots

    def solution(s, t):
        return (factors * np.exp(-(roots**2) * t) * np.sin(roots * s) / s).sum(axis=0)

    return rod(
        1.0,
        0.3,
        {"heat": sp.Eq(r * radial.diff(t), r * radial.diff(r, 2) + 2 * radial.diff(r))},
        {
            "hot": kp.Condition(sp.Eq(radial, 1), on="initial"),
            "centre": kp.Condition(radial.diff(r), on={r: 0}),
            "air": kp.Condition(sp.Eq(radial.diff(r), -5 * radial), on={r: 1}),
        },
        solution,
        radial,
        r,
    )


def boundary_pulse():
    """Rod whose end is hot for some time."""
    modes = np.arange(1, 3 * TERMS)[:, None] * np.pi

    def heated(s, t):
        decay = np.exp(-0.1 * modes**2 * np.maximum(t, 0))
        missing = (2 / modes * np.sin(modes * s) * decay).sum(axis=0)
        return np.where(t > 0, 1 - s - missing, 0)

    pulse = sp.Piecewise((1, t < sp.Rational(1, 2)), (0, True))
    return rod(
        1.0,
        1.0,
        {"heat": sp.Eq(u.diff(t), u.diff(x, 2) / 10)},
        {
            "cold": kp.Condition(u, on="initial"),
            "pulse": kp.Condition(sp.Eq(u, pulse), on={x: 0}),
            "end": kp.Condition(u, on={x: 1}),
        },
        lambda s, t: heated(s, t) - heated(s, t - 0.5),
    )


def nonlinear_heating():
    """Rod with the conductivity 1 + u, heated at one end."""
    duration, cells = 0.1, 800

    def rates(_, inner):
        values = np.concatenate([[1.0], inner, inner[-2:-1]])
        return np.diff(values + values**2 / 2, 2) * cells**2

    def solution(s, t):
        times = np.unique(t)
        near = np.abs(np.subtract.outer(np.arange(cells), np.arange(cells))) <= 1
        path = solve_ivp(
            rates,
            (0, duration),
            np.zeros(cells),
            "BDF",
            times,
            jac_sparsity=near,
            rtol=1e-8,
            atol=1e-10,
        ).y
        values = np.vstack([np.ones(len(times)), path])
        rows = np.searchsorted(times, t)
        low = np.minimum((s * cells).astype(int), cells - 1)
        share = s * cells - low
        return (1 - share) * values[low, rows] + share * values[low + 1, rows]

    return rod(
        1.0,
        duration,
        {"heat": sp.Eq(u.diff(t), ((1 + u) * u.diff(x)).diff(x))},
        {
            "cold": kp.Condition(u, on="initial"),
            "hot": kp.Condition(sp.Eq(u, 1), on={x: 0}),
            "end": kp.Condition(u.diff(x), on={x: 1}),
        },
        solution,
    )


def quenched_square():
    """Hot square with cold sides."""
    points = middles((20, (0, 1)), (20, (0, 1)), (20, (0, 0.1)))
    modes = np.arange(1, 2 * TERMS, 2)[:, None] * np.pi

    def one(s):
        decay = np.exp(-(modes**2) * points[:, 2])
        return (4 / modes * np.sin(modes * s) * decay).sum(axis=0)

    return kp.Problem(
        kp.geometry.Box({x: (0, 1), y: (0, 1)}, time={t: (0, 0.1)}),
        {"heat": sp.Eq(third.diff(t), third.diff(x, 2) + third.diff(y, 2))},
        {
            "hot": kp.Condition(sp.Eq(third, 1), on="initial"),
            "cold": kp.Condition(third, on="boundary"),
        },
        reference=kp.Reference(points, {third: one(points[:, 0]) * one(points[:, 1])}),
    )


def quenched_disk():
    """Hot disk with a cold rim."""
    radius, time = middles((30, (0, 1)), (30, (0, 0.2))).T
    roots = jn_zeros(0, TERMS // 2)[:, None]
    decay = np.exp(-(roots**2) * time)
    values = (2 / (roots * j1(roots)) * j0(roots * radius) * decay).sum(axis=0)
    points = np.stack([radius * np.cos(1), radius * np.sin(1), time], axis=-1)
    return kp.Problem(
        kp.geometry.Disk((0, 0), 1, (x, y)) * kp.geometry.Box(time={t: (0, 0.2)}),
        {"heat": sp.Eq(third.diff(t), third.diff(x, 2) + third.diff(y, 2))},
        {
            "hot": kp.Condition(sp.Eq(third, 1), on="initial"),
            "cold": kp.Condition(third, on="boundary"),
        },
        reference=kp.Reference(points, {third: values}),
    )


def anisotropic_plate():
    """Plate with one hot side that conducts four times as well along it."""
    points = middles((50, (0, 1)), (50, (0, 1)))
    k = np.arange(1, 3 * TERMS, 2)[:, None] * np.pi
    at, up = points.T
    shape = np.exp(2 * k * (up - 1)) * (1 - np.exp(-4 * k * up)) / (1 - np.exp(-4 * k))
    values = (400 / k * np.sin(k * at) * shape).sum(axis=0)
    return kp.Problem(
        kp.geometry.Box({x: (0, 1), y: (0, 1)}),
        {"conduction": 4 * plane.diff(x, 2) + plane.diff(y, 2)},
        {
            "hot": kp.Condition(sp.Eq(plane, 100), on={y: 1}),
            "cold": kp.Condition(plane, on=[{x: 0}, {x: 1}, {y: 0}]),
        },
        reference=kp.Reference(points, {plane: values}),
    )


def square_patch():
    """Membrane with a load on a square patch inside."""
    points, modes = middles((40, (0, 1)), (40, (0, 1))), np.pi * np.arange(1, 200)
    sines = [np.sin(modes * points[:, [column]]) for column in (0, 1)]
    ends = (0.3, 0.6), (0.2, 0.5)
    loads = [(np.cos(modes * a) - np.cos(modes * b)) / modes for a, b in ends]
    factors = 40 * np.outer(*loads) / np.add.outer(modes**2, modes**2)
    values = np.einsum("ni,ij,nj->n", sines[0], factors, sines[1])
    inside = sp.And(x > 0.3, x < 0.6, y > 0.2, y < 0.5)
    load = sp.Piecewise((10, inside), (0, True))
    return kp.Problem(
        kp.geometry.Box({x: (0, 1), y: (0, 1)}),
        {"poisson": -plane.diff(x, 2) - plane.diff(y, 2) - load},
        {"rim": kp.Condition(plane, on="boundary")},
        reference=kp.Reference(points, {plane: values}),
    )


# Problems by name; nothing was tuned on those of `UNSEEN`.
STEPS = {
    problem.__name__: problem
    for problem in (
        consolidation,
        hot_side,
        step_at_inlet,
        slab_in_air,
        heater_strip,
        boundary_pulse,
        quenched_disk,
        half_hot_rim,
        step_inside,
        sphere_in_air,
        nonlinear_heating,
        quenched_square,
        anisotropic_plate,
        square_patch,
    )
}
UNSEEN = [*STEPS][-7:]
