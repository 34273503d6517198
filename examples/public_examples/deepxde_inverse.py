"""DeepXDE's inverse examples.

The measurements are computed here, in closed form if there is one.
"""

import numpy as np
import sympy as sp
from scipy.integrate import solve_bvp, solve_ivp

import keraspinn as kp
from examples.public_examples.common import function, lattice, momentum

x, y, t = sp.symbols("x y t")


def lorenz_inverse(force=None):
    """Three coefficients to be found."""
    fields = x1, x2, x3 = [function(f"x{k}", t) for k in (1, 2, 3)]
    a, b, c = (kp.Parameter(name, initial=1.0) for name in "abc")
    start, times = (-8, 7, 27), np.linspace(0, 3, 25)

    def slope(at, state):
        first, second, third = state
        push = 0 if force is None else 10 * np.sin(2 * np.pi * at)
        return (
            10 * (second - first),
            first * (15 - third) - second,
            first * second - 8 / 3 * third + push,
        )

    measured = solve_ivp(slope, (0, 3), start, t_eval=times, rtol=1e-8).y
    return kp.Problem(
        kp.geometry.Box(time={t: (0, 3)}),
        {
            "first": x1.diff(t) - a * (x2 - x1),
            "second": x2.diff(t) - x1 * (b - x3) + x2,
            "third": x3.diff(t) - x1 * x2 + c * x3 - (0 if force is None else force(t)),
        },
        {
            "start": kp.Condition(
                [f - v for f, v in zip(fields, start, strict=True)], on="initial"
            ),
            "measured": kp.Data(
                times[:, None], dict(zip(fields, measured, strict=True))
            ),
        },
    )


def navier_stokes_inverse():
    """Velocities are those of vortices that drift with the stream, and fade."""
    u, v, p = (function(name, x, y, t) for name in "uvp")
    inertia, viscosity = (kp.Parameter(name, initial=0.0) for name in ("c1", "c2"))
    true, away = sp.Rational(1, 100), x - t
    fading = sp.exp(-2 * true * t)
    exact = {
        u: 1 - sp.cos(away) * sp.sin(y) * fading,
        v: sp.sin(away) * sp.cos(y) * fading,
        p: -(sp.cos(2 * away) + sp.cos(2 * y)) / 4 * fading**2,
    }
    points = lattice(np.linspace(1, 8, 10), np.linspace(-2, 2, 6), np.arange(8.0))
    table = {f: sp.lambdify((x, y, t), exact[f])(*points.T) for f in (u, v)}
    along, across = momentum(p, (u, v), viscosity, x, y, time=t, inertia=inertia)
    return kp.Problem(
        kp.geometry.Box({x: (1, 8), y: (-2, 2)}, time={t: (0, 7)}),
        {"continuity": u.diff(x) + v.diff(y), "x": along, "y": across},
        {"measured": kp.Data(points, table)},
        exact,
    )


def brinkman_forchheimer():
    u = function("u", x)
    viscosity, permeability = (kp.Parameter(n, initial=0.1) for n in ("v_e", "K"))
    fluid, porosity, force = sp.Rational(1, 1000), sp.Rational(2, 5), 1
    rate = 20  # √(fluid · porosity / (v_e K)), of v_e = K = 1/1000
    exact = 1 - sp.cosh(rate * (x - sp.S.Half)) / sp.cosh(sp.S(rate) / 2)
    places = np.arange(1, 6)[:, None] / 6
    loss = fluid * u / permeability
    return kp.Problem(
        kp.geometry.Box({x: (0, 1)}),
        {"flow": -viscosity / porosity * u.diff(x, 2) + loss - force},
        {
            "walls": kp.Condition(u, on="boundary", hard=True),
            "measured": kp.Data(places, {u: sp.lambdify(x, exact)(places)}),
        },
        {u: exact},
    )


def diffusion_1d_inverse():
    u, exact = function("u", x, t), sp.exp(-t) * sp.sin(sp.pi * x)
    diffusivity = kp.Parameter("C", initial=2.0)
    source = sp.exp(-t) * (1 - sp.pi**2) * sp.sin(sp.pi * x)
    places = np.linspace(-1, 1, 10)
    points = np.stack([places, np.ones(10)], axis=-1)
    return kp.Problem(
        kp.geometry.Box({x: (-1, 1)}, time={t: (0, 1)}),
        {"diffusion": u.diff(t) - diffusivity * u.diff(x, 2) + source},
        {
            "ends": kp.Condition(u, on="boundary"),
            "start": kp.Condition(u - sp.sin(sp.pi * x), on="initial"),
            "measured": kp.Data(points, {u: np.sin(np.pi * places) / np.e}),
        },
        {u: exact},
    )


def diffusion_reaction_rate(diffusivity=0.01):
    u, k = function("u", x), function("k", x)
    places = np.linspace(0, 1, 100)

    def slope(at, state):
        rate = 0.1 + np.exp(-0.5 * (at - 0.5) ** 2 / 0.15**2)
        source = rate * state[0] + np.sin(2 * np.pi * at)
        return np.stack([state[1], source / diffusivity])

    def ends(left, right):
        return np.array([left[0], right[0]])

    measured = solve_bvp(slope, ends, places, np.zeros((2, 100))).sol(places)[0]
    return kp.Problem(
        kp.geometry.Box({x: (0, 1)}),
        {"reaction": diffusivity * u.diff(x, 2) - k * u - sp.sin(2 * sp.pi * x)},
        {
            "ends": kp.Condition(u, on="boundary"),
            "measured": kp.Data(places[:, None], {u: measured}),
        },
    )


def reaction_inverse():
    """Two substances that react, and diffuse a thousandth as fast as D says."""
    a, b = function("Ca", x, t), function("Cb", x, t)
    rate = kp.Parameter("kf", initial=0.05)
    diffusivity = kp.Parameter("D", initial=1.0) / 1000
    points = lattice(np.linspace(0, 1, 8), np.linspace(0, 10, 8))
    steady = (1 - points[:, 0]) * np.exp(-20 * points[:, 0] / (1 + 20 * points[:, 1]))
    reaction = rate * a * b**2
    known = [a - (1 - x), b - (1 - x)]
    start = [a - sp.exp(-20 * x), b - sp.exp(-20 * x)]
    return kp.Problem(
        kp.geometry.Box({x: (0, 1)}, time={t: (0, 10)}),
        {
            "a": a.diff(t) - diffusivity * a.diff(x, 2) + reaction,
            "b": b.diff(t) - diffusivity * b.diff(x, 2) + 2 * reaction,
        },
        {
            "ends": kp.Condition(known, on="boundary"),
            "start": kp.Condition(start, on="initial"),
            "measured": kp.Data(points, {a: steady, b: steady}),
        },
    )


def elliptic_inverse_field():
    """Source identification, with a separate network for the source."""
    u, q = function("u", x), function("q", x)
    places = np.linspace(-1, 1, 100)[:, None]
    return kp.Problem(
        kp.geometry.Box({x: (-1, 1)}),
        {"elliptic": u.diff(x, 2) - q},
        {
            "ends": kp.Condition(u, on="boundary"),
            "measured": kp.Data(places, {u: np.sin(np.pi * places)}),
        },
        {u: sp.sin(sp.pi * x), q: -(sp.pi**2) * sp.sin(sp.pi * x)},
    )


def lorenz_inverse_forced():
    """A force that is known as numbers."""
    times = np.linspace(0, 3, 200)
    return lorenz_inverse(kp.Tabulated((times,), 10 * np.sin(2 * np.pi * times)))


DECLARED = {
    "Lorenz_inverse": lorenz_inverse,
    "Lorenz_inverse_forced": lorenz_inverse_forced,
    "Navier_Stokes_inverse": navier_stokes_inverse,
    "brinkman_forchheimer": brinkman_forchheimer,
    "diffusion_1d_inverse": diffusion_1d_inverse,
    "diffusion_reaction_rate": diffusion_reaction_rate,
    "elliptic_inverse_field": elliptic_inverse_field,
    "elliptic_inverse_field_batch": elliptic_inverse_field,
    "reaction_inverse": reaction_inverse,
}
TRUE = {
    "Navier_Stokes_inverse": {"c1": 1, "c2": sp.Rational(1, 100)},
    "brinkman_forchheimer": dict.fromkeys(("v_e", "K"), sp.Rational(1, 1000)),
    "diffusion_1d_inverse": {"C": 1},
}
