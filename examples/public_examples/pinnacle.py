"""Problems of PINNacle in the order of its table, and programs of the exam."""

import numpy as np
import sympy as sp

import keraspinn as kp
from examples.public_examples.common import (
    declared_by,
    function,
    laplacian,
    lattice,
    momentum,
)

x, y, z, t = sp.symbols("x y z t")
pi = sp.pi


def burgers_2d():
    """Declare Burgers' equations, periodic, with tabulated initial conditions."""
    fields, line = [function(name, x, y, t) for name in "uv"], np.linspace(0, 4, 33)
    values = np.random.default_rng(0).normal(size=(2, 32, 32))
    values = np.pad(values, [(0, 0), (0, 1), (0, 1)], "wrap")
    initial = [
        field - kp.Tabulated((line, line), table)(x, y)
        for field, table in zip(fields, values, strict=True)
    ]
    along, across = momentum(0 * x, fields, sp.Rational(1, 1000), x, y, time=t)
    return kp.Problem(
        kp.geometry.Box({x: (0, 4), y: (0, 4)}, time={t: (0, 1)}, periodic=[x, y]),
        {"u": along, "v": across},
        {"initial": kp.Condition(initial, on="initial")},
    )


def poisson_3d_cg():
    """Declare a cube without four balls, with a coefficient that jumps."""
    u = function("u", x, y, z)
    balls = {(0.4, 0.3, 0.6): 0.2, (0.6, 0.7, 0.6): 0.2}
    balls |= {(0.2, 0.8, 0.7): 0.1, (0.6, 0.2, 0.3): 0.1}
    domain = kp.geometry.Box(dict.fromkeys((x, y, z), (0, 1)))
    for centre, radius in balls.items():
        domain = domain - kp.geometry.Ball(centre, radius)
    decay = sp.Piecewise((64, z < 0.5), (100, True))
    waves = [sp.sin(k * pi * c) for k, c in ((1, x), (10, y), (5, z))]
    square = x**2 + y**2 + z**2
    source = 20 * sp.exp(sum(waves)) * (square - 1) / (square + 1)
    source += 100 * sp.prod(waves)
    return kp.Problem(
        domain,
        {"poisson": -laplacian(u, x, y, z) + decay * u - source},
        {"insulated": kp.Condition(kp.normal_derivative(u, domain), on="boundary")},
    )


def poisson_2d_ms(squares=3):
    """Declare nine squares, each with other coefficients."""
    u = function("u", x, y)
    domain = kp.geometry.Box({x: (-10, 10), y: (-10, 10)})
    side, rng = sp.Rational(20, squares), np.random.default_rng(0)
    conductivity, source = [], []
    for row, column in np.ndindex(squares, squares):
        within = [(x + 10) / side - row, (y + 10) / side - column]
        in_square = True
        if row + column < 2 * (squares - 1):
            in_square = (within[0] < 1) & (within[1] < 1)
        even, waved = rng.normal(size=2)
        bump = sp.sin(pi * within[0]) * sp.sin(pi * within[1])
        conductivity.append((10 ** rng.uniform(-2, 3), in_square))
        source.append((even + waved * bump, in_square))
    equation = sp.Piecewise(*conductivity) * laplacian(u, x, y)
    return kp.Problem(
        domain,
        {"poisson": equation + sp.Piecewise(*source)},
        {"robin": kp.Condition(kp.normal_derivative(u, domain) + u, on="boundary")},
    )


def heat_2d_vc():
    u = function("u", x, y, t)
    line = np.linspace(0, 1, 17)
    values = np.random.default_rng(0).lognormal(sigma=0.5, size=(17, 17))
    k = kp.Tabulated((line, line), values)(x, y)
    source = 200 * sp.sin(pi * x) * sp.sin(5 * pi * y) * sp.sin(pi * t)
    return kp.Problem(
        kp.geometry.Box({x: (0, 1), y: (0, 1)}, time={t: (0, 5)}),
        {"heat": u.diff(t) - k * laplacian(u, x, y) - source},
        {
            "initial": kp.Condition(u, on="initial"),
            "edge": kp.Condition(u, on="boundary"),
        },
    )


def heat_2d_ms():
    u = function("u", x, y, t)
    along, across = 1 / (500 * pi) ** 2, 1 / pi**2
    initial = sp.sin(20 * pi * x) * sp.sin(pi * y)
    rate = along * (20 * pi) ** 2 + across * pi**2
    return kp.Problem(
        kp.geometry.Box({x: (0, 1), y: (0, 1)}, time={t: (0, 5)}),
        {"heat": u.diff(t) - along * u.diff(x, 2) - across * u.diff(y, 2)},
        {
            "initial": kp.Condition(u - initial, on="initial"),
            "edge": kp.Condition(u, on="boundary"),
        },
        {u: initial * sp.exp(-rate * t)},
    )


def heat_2d_lt():
    u = function("u", x, y, t)
    initial = sp.sin(4 * pi * x) * sp.sin(3 * pi * y)
    source = 5 * sp.sin(u**2) * (1 + 2 * sp.sin(pi * t / 4))
    source *= sp.sin(4 * pi * x) * sp.sin(2 * pi * y)
    return kp.Problem(
        kp.geometry.Box({x: (0, 1), y: (0, 1)}, time={t: (0, 100)}),
        {"heat": u.diff(t) - laplacian(u, x, y) / 1000 - source},
        {
            "initial": kp.Condition(u - initial, on="initial"),
            "edge": kp.Condition(u, on="boundary"),
        },
    )


def back_step():
    """Declare the flow in a channel that widens."""
    u, v, p = (function(name, x, y) for name in "uvp")
    step = kp.geometry.Box({x: (0, 2), y: (1, 2)})
    along, across = momentum(p, (u, v), sp.Rational(1, 100), x, y)
    return kp.Problem(
        kp.geometry.Box({x: (0, 4), y: (0, 2)}) - step,
        {"x": along, "y": across, "continuity": u.diff(x) + v.diff(y)},
        {
            "inlet": kp.Condition([u - 4 * y * (1 - y), v], on={x: 0}),
            "outlet": kp.Condition(p, on={x: 4}),
            "walls": kp.Condition([u, v], on=[{y: 0}, {y: 2}, step]),
        },
    )


def ns_2d_lt():
    u, v, p = (function(name, x, y, t) for name in "uvp")
    force = -sp.sin(pi * x) * sp.sin(pi * y) * sp.sin(pi * t)
    along, across = momentum(p, (u, v), sp.Rational(1, 100), x, y, time=t)
    pulse = sp.sin(pi * y) * sum(sp.sin(k * pi * t) for k in (1, 3, 5))
    return kp.Problem(
        kp.geometry.Box({x: (0, 2), y: (0, 1)}, time={t: (0, 5)}),
        {"x": along, "y": across - force, "continuity": u.diff(x) + v.diff(y)},
        {
            "inlet": kp.Condition([u - pulse, v], on={x: 0}),
            "outlet": kp.Condition(p, on={x: 2}),
            "walls": kp.Condition([u, v], on=[{y: 0}, {y: 1}]),
            "initial": kp.Condition([u, v, p], on="initial"),
        },
    )


def wave_2d_cg():
    """Declare a wave equation with a tabulated speed."""
    u = function("u", x, y, t)
    line = np.linspace(-1, 1, 33)
    values = np.random.default_rng(0).uniform(1, 2, (33, 33))
    speed = kp.Tabulated((line, line), values, degree=1)
    domain = kp.geometry.Box({x: (-1, 1), y: (-1, 1)}, time={t: (0, 5)})
    bump = sp.exp(-((x + 0.5) ** 2 + y**2) / 0.18)
    return kp.Problem(
        domain,
        {"wave": laplacian(u, x, y) - u.diff(t, 2) / speed(x, y)},
        {
            "initial": kp.Condition([u - bump, u.diff(t)], on="initial"),
            "walls": kp.Condition(kp.normal_derivative(u, domain), on="boundary"),
        },
    )


def wave_2d_ms(squared=2):
    """Declare the wave equation with an initial velocity of zero.

    PINNacle's program has no initial velocity. Its closed form, from which the
    conditions take their values, does not satisfy the equation.
    """
    u = function("u", x, y, t)
    known = sp.sin(pi * x) * sp.sinh(pi * y) + sp.sinh(3 * pi * x) * sp.sin(2 * pi * y)
    return kp.Problem(
        kp.geometry.Box({x: (0, 1), y: (0, 1)}, time={t: (0, 100)}),
        {"wave": u.diff(t, 2) - u.diff(x, 2) - squared * u.diff(y, 2)},
        {
            "initial": kp.Condition([u - known, u.diff(t)], on="initial"),
            "edge": kp.Condition(u - known * sp.cos(pi * t), on="boundary"),
        },
    )


def kuramoto_sivashinsky():
    """Declare the Kuramoto–Sivashinsky equation, periodic."""
    u = function("u", x, t)
    alpha, beta, gamma = (sp.Rational(100, 16**k) for k in (1, 2, 4))
    initial = sp.cos(x) * (1 + sp.sin(x))
    return kp.Problem(
        kp.geometry.Box({x: (0, 2 * pi)}, time={t: (0, 1)}, periodic=[x]),
        {
            "flame": u.diff(t)
            + alpha * u * u.diff(x)
            + beta * u.diff(x, 2)
            + gamma * u.diff(x, 4)
        },
        {"initial": kp.Condition(u - initial, on="initial")},
    )


def gray_scott():
    """Declare the Gray–Scott equations, periodic like PINNacle's reference.

    PINNacle's program has no boundary condition.
    """
    u, v = function("u", x, y, t), function("v", x, y, t)
    reaction = u * v**2
    spread = [laplacian(f, x, y) / n for f, n in ((u, 100_000), (v, 200_000))]
    centre = sp.Matrix([sp.Rational(1, 20), sp.Rational(1, 50)])
    position = sp.Matrix([x, y])
    spots = [
        sp.exp(-80 * (position + side * centre).dot(position + side * centre))
        for side in (1, -1)
    ]
    return kp.Problem(
        kp.geometry.Box({x: (-1, 1), y: (-1, 1)}, time={t: (0, 200)}, periodic=[x, y]),
        {
            "u": u.diff(t) - spread[0] - (1 - u) / 25 + reaction,
            "v": v.diff(t) - spread[1] + v / 10 - reaction,
        },
        {"initial": kp.Condition([u - 1 + spots[0], v - spots[1]], on="initial")},
    )


def poisson_inverse(weight=1.0):
    """Declare the inverse problem with a source term that fits PINNacle's solution.

    The source term of its program has 2 x + 1 instead of 2 x − 1.
    """
    u, a = function("u", x, y), function("a", x, y)
    exact = {
        u: sp.sin(pi * x) * sp.sin(pi * y),
        a: 1 / (1 + x**2 + y**2 + (x - 1) ** 2 + (y - 1) ** 2),
    }
    points = lattice(*[np.linspace(0, 1, 50)] * 2)
    noise = 0.1 * np.random.default_rng(0).normal(size=2_500)
    measured = np.sin(np.pi * points).prod(axis=1) + noise
    gradients = (2 * x - 1) * exact[u].diff(x) + (2 * y - 1) * exact[u].diff(y)
    source = 2 * pi**2 * exact[u] * exact[a] + 2 * gradients * exact[a] ** 2
    return kp.Problem(
        kp.geometry.Box({x: (0, 1), y: (0, 1)}),
        {"poisson": sum((a * u.diff(c)).diff(c) for c in (x, y)) + source},
        {
            "measured": kp.Data(points, {u: measured}, weight),
            "edge": kp.Condition(a - exact[a], on="boundary"),
        },
        exact,
    )


def heat_inverse(weight=1.0):
    """Declare an unknown coefficient that depends on x and y, not on t."""
    u, a = function("u", x, y, t), function("a", x, y)
    sines, fading = sp.sin(pi * x) * sp.sin(pi * y), sp.exp(-t)
    gradients = sp.cos(pi * x) ** 2 * sp.sin(pi * y) ** 2
    gradients += sp.sin(pi * x) ** 2 * sp.cos(pi * y) ** 2
    source = (4 * pi**2 - 1) * sines + pi**2 * (2 * sines**2 - gradients)
    rng = np.random.default_rng(0)
    points = rng.uniform((-1, -1, 0), 1, (2_500, 3))
    measured = np.sin(np.pi * points[:, :2]).prod(axis=1) * np.exp(-points[:, 2])
    noise = 0.1 * rng.normal(size=2_500)
    diffused = sum((a * u.diff(c)).diff(c) for c in (x, y))
    return kp.Problem(
        kp.geometry.Box({x: (-1, 1), y: (-1, 1)}, time={t: (0, 1)}),
        {"heat": u.diff(t) - diffused - fading * source},
        {
            "measured": kp.Data(points, {u: measured + noise}, weight),
            "edge": kp.Condition(a - 2 - sines, on="boundary"),
        },
        {u: fading * sines, a: 2 + sines},
    )


DECLARED = {
    "Burgers 2d-C": burgers_2d,
    "Poisson 3d-CG": poisson_3d_cg,
    "Poisson 2d-MS": poisson_2d_ms,
    "Heat 2d-VC": heat_2d_vc,
    "Heat 2d-MS": heat_2d_ms,
    "Heat 2d-LT": heat_2d_lt,
    "NS 2d-CG": back_step,
    "NS 2d-LT": ns_2d_lt,
    "Wave 2d-CG": wave_2d_cg,
    "Wave 2d-MS": wave_2d_ms,
    "KS": kuramoto_sivashinsky,
    "GS": gray_scott,
    "Poisson, inverse": poisson_inverse,
    "Heat, inverse": heat_inverse,
}
EXAM = {
    row: declared_by(f"examples/pinnacle/{program}.py")
    for row, program in {
        "Burgers 1d-C": "burgers_1d_c",
        "Poisson 2d-C": "poisson_2d_c",
        "Poisson 2d-CG": "poisson_2d_cg",
        "Heat 2d-CG": "heat_2d_cg",
        "NS 2d-C": "ns_2d_c",
        "Wave 1d-C": "wave_1d_c",
        "Poisson-nd": "poisson_nd",
        "Heat-nd": "heat_nd",
    }.items()
}
