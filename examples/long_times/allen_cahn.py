"""Allen–Cahn equation with ε = 1e-4 and thin fronts."""

import numpy as np
import sympy as sp

import keraspinn as kp
from examples.long_times.case import Case
from examples.long_times.spectral import evolution

x, t = sp.symbols("x t")
u = sp.Function("u")(x, t)

problem = kp.Problem(
    kp.geometry.Box({x: (-1, 1)}, time={t: (0, 1)}, periodic=[x]),
    {"allen_cahn": sp.Eq(u.diff(t), 1e-4 * u.diff(x, 2) - 5 * u**3 + 5 * u)},
    {"initial": kp.Condition(sp.Eq(u, x**2 * sp.cos(sp.pi * x)), on="initial")},
)
# The initial condition has a kink at x = ±1, so the series converges slowly there.
truth = evolution(
    "u",
    lambda ik: 1e-4 * ik**2 + 5,
    lambda u, ik: np.fft.fft(-5 * u**3),
    lambda x: x**2 * np.cos(np.pi * x),
    (-1, 1),
    1,
    16_384,
    4_000,
)
CASE = Case(
    "Allen–Cahn, ε = 1e-4",
    2e-6,
    problem,
    truth,
    windows=2,
    depth=3,
    steps=150,
    points=2_500,
)
