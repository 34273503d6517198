"""Inverse examples of DeepXDE.

Measurements are computed from a closed form if there is one, else numerically.
"""

import numpy as np
import sympy as sp
from scipy.integrate import solve_bvp, solve_ivp

import keraspinn as kp
from examples.public_examples.common import function, lattice, momentum

x, y, t = sp.symbols("x y t")


def lorenz_inverse(force=None):
    """Declare the identification of three coefficients."""
    fields = x1, x2, x3 = [function(f"x{k}", t) for k in (1, 2, 3)]
    a, b, c = (kp.Parameter(name, initial=1.0) for name in "abc")
    initial, times = (-8, 7, 27), np.linspace(0, 3, 25)

    def rates(time, state):
        first, second, third = state
        push = 0 if force is None else 10 * np.sin(2 * np.pi * time)
        return (
            10 * (second - first),
            first * (15 - third) - second,
            first * second - 8 / 3 * third + push,
        )

    measured = solve_ivp(rates, (0, 3), initial, t_eval=times, rtol=1e-8).y
    return kp.Problem(
        kp.geometry.Box(time={t: (0, 3)}),
        {
            "first": x1.diff(t) - a * (x2 - x1),
            "second": x2.diff(t) - x1 * (b - x3) + x2,
            "third": x3.diff(t) - x1 * x2 + c * x3 - (0 if force is None else force(t)),
        },
        {
            "initial": kp.Condition(
                [f - v for f, v in zip(fields, initial, strict=True)], on="initial"
            ),
            "measured": kp.Data(
                times[:, None], dict(zip(fields, measured, strict=True))
            ),
        },
    )


def navier_stokes_inverse():
    """Declare a flow of decaying vortices that drift with the stream."""
    u, v, p = (function(name, x, y, t) for name in "uvp")
    inertia, viscosity = (kp.Parameter(name, initial=0.0) for name in ("c1", "c2"))
    true, moving = sp.Rational(1, 100), x - t
    fading = sp.exp(-2 * true * t)
    exact = {
        u: 1 - sp.cos(moving) * sp.sin(y) * fading,
        v: sp.sin(moving) * sp.cos(y) * fading,
        p: -(sp.cos(2 * moving) + sp.cos(2 * y)) / 4 * fading**2,
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
    rate = 20  # √(fluid · porosity / (v_e K)) for v_e = K = 1/1000
    exact = 1 - sp.cosh(rate * (x - sp.S.Half)) / sp.cosh(sp.S(rate) / 2)
    positions = np.arange(1, 6)[:, None] / 6
    loss = fluid * u / permeability
    return kp.Problem(
        kp.geometry.Box({x: (0, 1)}),
        {"flow": -viscosity / porosity * u.diff(x, 2) + loss - force},
        {
            "walls": kp.Condition(u, on="boundary", hard=True),
            "measured": kp.Data(positions, {u: sp.lambdify(x, exact)(positions)}),
        },
        {u: exact},
    )


def diffusion_1d_inverse():
    u, exact = function("u", x, t), sp.exp(-t) * sp.sin(sp.pi * x)
    diffusivity = kp.Parameter("C", initial=2.0)
    source = sp.exp(-t) * (1 - sp.pi**2) * sp.sin(sp.pi * x)
    positions = np.linspace(-1, 1, 10)
    points = np.stack([positions, np.ones(10)], axis=-1)
    return kp.Problem(
        kp.geometry.Box({x: (-1, 1)}, time={t: (0, 1)}),
        {"diffusion": u.diff(t) - diffusivity * u.diff(x, 2) + source},
        {
            "ends": kp.Condition(u, on="boundary"),
            "initial": kp.Condition(u - sp.sin(sp.pi * x), on="initial"),
            "measured": kp.Data(points, {u: np.sin(np.pi * positions) / np.e}),
        },
        {u: exact},
    )


def diffusion_reaction_rate(diffusivity=0.01):
    u, k = function("u", x), function("k", x)
    positions = np.linspace(0, 1, 100)

    def derivatives(position, state):
        rate = 0.1 + np.exp(-0.5 * (position - 0.5) ** 2 / 0.15**2)
        source = rate * state[0] + np.sin(2 * np.pi * position)
        return np.stack([state[1], source / diffusivity])

    def ends(left, right):
        return np.array([left[0], right[0]])

    solution = solve_bvp(derivatives, ends, positions, np.zeros((2, 100)))
    measured = solution.sol(positions)[0]
    return kp.Problem(
        kp.geometry.Box({x: (0, 1)}),
        {"reaction": diffusivity * u.diff(x, 2) - k * u - sp.sin(2 * sp.pi * x)},
        {
            "ends": kp.Condition(u, on="boundary"),
            "measured": kp.Data(positions[:, None], {u: measured}),
        },
    )


def reaction_inverse():
    """Declare two substances that react and diffuse, with D in thousandths."""
    a, b = function("Ca", x, t), function("Cb", x, t)
    rate = kp.Parameter("kf", initial=0.05)
    diffusivity = kp.Parameter("D", initial=1.0) / 1000
    points = lattice(np.linspace(0, 1, 8), np.linspace(0, 10, 8))
    steady = (1 - points[:, 0]) * np.exp(-20 * points[:, 0] / (1 + 20 * points[:, 1]))
    reaction = rate * a * b**2
    known = [a - (1 - x), b - (1 - x)]
    initial = [a - sp.exp(-20 * x), b - sp.exp(-20 * x)]
    return kp.Problem(
        kp.geometry.Box({x: (0, 1)}, time={t: (0, 10)}),
        {
            "a": a.diff(t) - diffusivity * a.diff(x, 2) + reaction,
            "b": b.diff(t) - diffusivity * b.diff(x, 2) + 2 * reaction,
        },
        {
            "ends": kp.Condition(known, on="boundary"),
            "initial": kp.Condition(initial, on="initial"),
            "measured": kp.Data(points, {a: steady, b: steady}),
        },
    )


def elliptic_inverse_field():
    """Declare the identification of a source, which is a field."""
    u, q = function("u", x), function("q", x)
    positions = np.linspace(-1, 1, 100)[:, None]
    return kp.Problem(
        kp.geometry.Box({x: (-1, 1)}),
        {"elliptic": u.diff(x, 2) - q},
        {
            "ends": kp.Condition(u, on="boundary"),
            "measured": kp.Data(positions, {u: np.sin(np.pi * positions)}),
        },
        {u: sp.sin(sp.pi * x), q: -(sp.pi**2) * sp.sin(sp.pi * x)},
    )


def lorenz_inverse_forced():
    """Declare the same with a tabulated force."""
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
