"""Declarations that other packages' examples ask for: those where it was in doubt.

DeepXDE's forward and inverse examples and PINNacle's problems; docs/pinnacle.md
lists them all. Each is written as its page writes it, with fewer numbers in its tables.
"""

import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn as kp

pytestmark = pytest.mark.filterwarnings("error::RuntimeWarning")

x, y, z, t, s = sp.symbols("x y z t s")
RNG = np.random.default_rng(0)


def function(name, *coordinates):
    return sp.Function(name)(*coordinates)


def laplacian(u, *coordinates):
    return sum(u.diff(c, 2) for c in coordinates)


def american_put(rate=0.05, volatility=0.2, strike=1.0):
    """An inequality as three equations: Fischer and Burmeister's and two penalties."""
    value = function("V", s, t)
    payoff = sp.Max(strike - s, 0)
    operator = rate * s * value.diff(s) - rate * value - value.diff(t)
    operator += volatility**2 * s**2 * value.diff(s, 2) / 2
    gain = value - payoff
    either = sp.sqrt(gain**2 + operator**2 + 1e-8) - (gain - operator)
    return kp.Problem(
        kp.geometry.Box({s: (0, 4)}, time={t: (0, 1)}),
        {
            "holding": sp.Max(operator, 0),
            "exercise": sp.Max(payoff - value, 0),
            "either": either,
        },
        {
            "maturity": kp.Condition(value - payoff, on="initial"),
            "worthless": kp.Condition(value - strike, on={s: 0}),
            "far": kp.Condition(value, on={s: 4}),
        },
    )


def black_scholes_call(rate=0.05, volatility=0.2, strike=50.0):
    value = function("V", s, t)
    drift = rate * s * value.diff(s) - rate * value
    return kp.Problem(
        kp.geometry.Box({s: (0, 150)}, time={t: (0, 1)}),
        {"price": value.diff(t) - volatility**2 * s**2 * value.diff(s, 2) / 2 - drift},
        {
            "maturity": kp.Condition(value - sp.Max(s - strike, 0), on="initial"),
            "lower": kp.Condition(value, on={s: 0}),
            "upper": kp.Condition(value - s + strike * sp.exp(-rate * t), on={s: 150}),
        },
    )


def sound_hard_scatterer(wavenumber=2.0):
    """Real and imaginary part as two fields; an absorbing edge joins them."""
    re, im = function("re", x, y), function("im", x, y)
    disk = kp.geometry.Disk((0, 0), float(np.pi / 4))
    half = float(np.pi)
    domain = kp.geometry.Box({x: (-half, half), y: (-half, half)}) - disk
    normal_re, normal_im = (kp.normal_derivative(f, domain) for f in (re, im))
    nx, _ = domain.normal
    incoming = (
        wavenumber * nx * sp.Matrix([sp.sin(wavenumber * x), -sp.cos(wavenumber * x)])
    )
    edge = [{x: -half}, {x: half}, {y: -half}, {y: half}]
    return kp.Problem(
        domain,
        {n: laplacian(f, x, y) + wavenumber**2 * f for n, f in (("r", re), ("i", im))},
        {
            "hard": kp.Condition(
                [normal_re - incoming[0], normal_im - incoming[1]], on=disk
            ),
            "absorbing": kp.Condition(
                [normal_re + wavenumber * im, normal_im - wavenumber * re], on=edge
            ),
        },
    )


def laplace_disk():
    """In polar coordinates, periodic in the angle, nothing at the centre."""
    u = function("u", s, t)
    return kp.Problem(
        kp.geometry.Box({s: (0, 1), t: (0, 2 * sp.pi)}, periodic=[t]),
        {"laplace": s * u.diff(s) + s**2 * u.diff(s, 2) + u.diff(t, 2)},
        {"rim": kp.Condition(u - sp.cos(t), on={s: 1})},
    )


def volterra():
    """An integral up to x, as a field: w' = u − w is that of exp(s − x) u(s)."""
    u, w = function("u", x), function("w", x)
    return kp.Problem(
        kp.geometry.Box(time={x: (0, 5)}),
        {"equation": u.diff(x) + u - w, "integral": w.diff(x) - u + w},
        {"start": kp.Condition([u - 1, w], on="initial", hard=True)},
        {u: sp.exp(-x) * sp.cosh(x)},
    )


def point_set_operator():
    """A slope that is given at points, in a table."""
    u = function("u", x)
    return kp.Problem(
        kp.geometry.Box({x: (-1, 1)}),
        {"poisson": u.diff(x, 2) - 2},
        {
            "left": kp.Condition(u, on={x: -1}),
            "slope": kp.Data([[1.0]], {u.diff(x): [4.0]}),
        },
    )


def elliptic_inverse_field():
    """A source to be found, with a network of its own."""
    u, q = function("u", x), function("q", x)
    places = np.linspace(-1, 1, 100)[:, None]
    return kp.Problem(
        kp.geometry.Box({x: (-1, 1)}),
        {"elliptic": u.diff(x, 2) - q},
        {
            "ends": kp.Condition(u, on="boundary"),
            "measured": kp.Data(places, {u: np.sin(np.pi * places)}),
        },
    )


def lorenz_inverse_forced():
    """Three coefficients to be found, and a force that is known as numbers."""
    fields = [function(name, t) for name in ("x1", "x2", "x3")]
    a, b, c = (kp.Parameter(name, initial=1.0) for name in "abc")
    times = np.linspace(0, 3, 200)
    force = kp.Tabulated((times,), 10 * np.sin(2 * np.pi * times))
    x1, x2, x3 = fields
    table = dict(zip(fields, RNG.normal(size=(3, 200)), strict=True))
    start = [f - v for f, v in zip(fields, (-8, 7, 27), strict=True)]
    return kp.Problem(
        kp.geometry.Box(time={t: (0, 3)}),
        {
            "first": x1.diff(t) - a * (x2 - x1),
            "second": x2.diff(t) - x1 * (b - x3) + x2,
            "third": x3.diff(t) - x1 * x2 + c * x3 - force(t),
        },
        {
            "start": kp.Condition(start, on="initial", hard=True),
            "measured": kp.Data(times[:, None], table),
        },
    )


def elasticity_plate():
    """Displacements and stresses as five fields, of which faces hold some exactly."""
    fields = {n: function(n, x, y) for n in ("u", "v", "xx", "yy", "xy")}
    u, v, xx, yy, xy = fields.values()
    strain = u.diff(x), v.diff(y), (u.diff(y) + v.diff(x)) / 2
    trace = strain[0] + strain[1]
    load = 8 * sp.sin(sp.pi * x)
    keep = {"hard": True}
    return kp.Problem(
        kp.geometry.Box({x: (0, 1), y: (0, 1)}),
        {
            "x": xx.diff(x) + xy.diff(y) + sp.sin(x),
            "y": xy.diff(x) + yy.diff(y) + sp.sin(y),
            "law_xx": xx - trace - strain[0],
            "law_yy": yy - trace - strain[1],
            "law_xy": xy - strain[2],
        },
        {
            "u": kp.Condition(u, on=[{y: 0}, {y: 1}], **keep),
            "v": kp.Condition(v, on=[{x: 0}, {x: 1}, {y: 0}], **keep),
            "xx": kp.Condition(xx, on=[{x: 0}, {x: 1}], **keep),
            "yy": kp.Condition(yy - load, on={y: 1}, **keep),
        },
    )


def schroedinger():
    u, v = function("u", x, t), function("v", x, t)
    square = u**2 + v**2
    return kp.Problem(
        kp.geometry.Box({x: (-5, 5)}, time={t: (0, sp.pi / 2)}, periodic=[x]),
        {
            "real": u.diff(t) + v.diff(x, 2) / 2 + square * v,
            "imaginary": v.diff(t) - u.diff(x, 2) / 2 - square * u,
        },
        {"start": kp.Condition([u - 2 / sp.cosh(x), v], on="initial")},
    )


def burgers_2d():
    """Periodic in both directions, from fields that are known as numbers."""
    fields = function("u", x, y, t), function("v", x, y, t)
    line = np.linspace(0, 4, 33)
    tables = [kp.Tabulated((line, line), RNG.normal(size=(33, 33))) for _ in fields]
    u, v = fields
    return kp.Problem(
        kp.geometry.Box({x: (0, 4), y: (0, 4)}, time={t: (0, 1)}, periodic=[x, y]),
        {
            name: f.diff(t)
            + u * f.diff(x)
            + v * f.diff(y)
            - sp.Rational(1, 1000) * laplacian(f, x, y)
            for name, f in zip("uv", fields, strict=True)
        },
        {
            "start": kp.Condition(
                [f - g(x, y) for f, g in zip(fields, tables, strict=True)],
                on="initial",
            )
        },
    )


def poisson_3d_cg():
    """A cube with four balls cut out, and a coefficient that jumps."""
    u = function("u", x, y, z)
    balls = {(0.4, 0.3, 0.6): 0.2, (0.6, 0.7, 0.6): 0.2}
    balls |= {(0.2, 0.8, 0.7): 0.1, (0.6, 0.2, 0.3): 0.1}
    domain = kp.geometry.Box(dict.fromkeys((x, y, z), (0, 1)))
    for centre, radius in balls.items():
        domain = domain - kp.geometry.Ball(centre, radius)
    decay = sp.Piecewise((64, z < 0.5), (100, True))
    return kp.Problem(
        domain,
        {"poisson": -laplacian(u, x, y, z) + decay * u - 20 * sp.sin(sp.pi * x)},
        {"insulated": kp.Condition(kp.normal_derivative(u, domain), on="boundary")},
    )


def poisson_2d_ms():
    """A coefficient of its own in each square, nine here."""
    u = function("u", x, y)
    domain = kp.geometry.Box({x: (-10, 10), y: (-10, 10)})
    edges = [-4, 4, 11]

    def by_square(values):
        branches = [
            (values[i, j], (x < edges[i]) & (y < edges[j]))
            for i in range(3)
            for j in range(3)
        ]
        return sp.Piecewise(*branches[:-1], (branches[-1][0], True))

    a, f = by_square(RNG.uniform(1, 2, (3, 3))), by_square(RNG.normal(size=(3, 3)))
    return kp.Problem(
        domain,
        {"poisson": a * laplacian(u, x, y) + f},
        {"robin": kp.Condition(kp.normal_derivative(u, domain) + u, on="boundary")},
    )


def wave_2d_cg():
    """A wave speed that is known as numbers."""
    u = function("u", x, y, t)
    line = np.linspace(-1, 1, 33)
    speed = kp.Tabulated((line, line), RNG.uniform(1, 2, (33, 33)), degree=1)
    domain = kp.geometry.Box({x: (-1, 1), y: (-1, 1)}, time={t: (0, 5)})
    bump = sp.exp(-((x + 0.5) ** 2 + y**2) / 0.18)
    return kp.Problem(
        domain,
        {"wave": laplacian(u, x, y) - u.diff(t, 2) / speed(x, y)},
        {
            "start": kp.Condition([u - bump, u.diff(t)], on="initial"),
            "walls": kp.Condition(kp.normal_derivative(u, domain), on="boundary"),
        },
    )


def heat_inverse():
    """An unknown coefficient of x and y in a problem of x, y and t."""
    u, a = function("u", x, y, t), function("a", x, y)
    domain = kp.geometry.Box({x: (-1, 1), y: (-1, 1)}, time={t: (0, 1)})
    known = 2 + sp.sin(sp.pi * x) * sp.sin(sp.pi * y)
    flux = [(a * u.diff(c)).diff(c) for c in (x, y)]
    return kp.Problem(
        domain,
        {"heat": u.diff(t) - sum(flux) - sp.exp(-t) * sp.sin(sp.pi * x)},
        {
            "measured": kp.Data(RNG.uniform(0, 1, (50, 3)), {u: RNG.normal(size=50)}),
            "edge": kp.Condition(a - known, on="boundary"),
        },
    )


def back_step():
    """A channel that widens: parts of the boundary by their place."""
    u, v, p = (function(name, x, y) for name in "uvp")
    step = kp.geometry.Box({x: (0, 2), y: (1, 2)})
    channel = kp.geometry.Box({x: (0, 4), y: (0, 2)}) - step
    return kp.Problem(
        channel,
        {
            "x": u * u.diff(x) + v * u.diff(y) + p.diff(x) - laplacian(u, x, y) / 100,
            "y": u * v.diff(x) + v * v.diff(y) + p.diff(y) - laplacian(v, x, y) / 100,
            "continuity": u.diff(x) + v.diff(y),
        },
        {
            "inlet": kp.Condition([u - 4 * y * (1 - y), v], on={x: 0}),
            "outlet": kp.Condition(p, on={x: 4}),
            "walls": kp.Condition([u, v], on=[{y: 0}, {y: 2}, step]),
        },
    )


DECLARED = [
    american_put,
    back_step,
    black_scholes_call,
    burgers_2d,
    elasticity_plate,
    elliptic_inverse_field,
    heat_inverse,
    laplace_disk,
    lorenz_inverse_forced,
    point_set_operator,
    poisson_2d_ms,
    poisson_3d_cg,
    schroedinger,
    sound_hard_scatterer,
    volterra,
    wave_2d_cg,
]


def model_of(problem):
    networks = {f: kp.networks.MLP(3, 1) for f in problem.fields}
    model = kp.PINNModel(problem, networks, seed=0)
    model.compile("adam", jit_compile=False)
    return model


@pytest.mark.parametrize("declare", DECLARED, ids=lambda f: f.__name__)
def test_it_is_declared(declare):
    problem = declare()
    again = kp.Problem.from_config(problem.get_config())
    assert str(dict(again.equations)) == str(dict(problem.equations))
    assert model_of(problem).derivative_engine == "taylor"


@pytest.mark.parametrize("declare", [american_put, elasticity_plate])
def test_its_loss_is_a_number(declare):
    history = model_of(declare()).fit(batch_size=4, steps_per_epoch=1, verbose=0)
    assert np.isfinite(history.history["loss"][0])


def test_measurements_in_batches():
    """DeepXDE's elliptic_inverse_field_batch: some of the measurements in each step."""
    model = model_of(elliptic_inverse_field())
    sizes = {"residual": 4, "ends": 1, "measured": 10}
    model.compile(keras.optimizers.SGD(0.0), jit_compile=False)
    step = {"batch_size": sizes, "steps_per_epoch": 1, "verbose": 0}
    seen = {model.fit(**step).history["measured_loss"][0] for _ in range(2)}
    assert len(seen) == 2
