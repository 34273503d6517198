"""Burgers' equation with ν = 0.001/π and a shock of width 6e-4."""

import numpy as np
import sympy as sp

import keraspinn as kp
from examples.long_times.case import Case
from examples.long_times.spectral import evolution

x, t = sp.symbols("x t")
u = sp.Function("u")(x, t)
NU = 0.001

problem = kp.Problem(
    kp.geometry.Box({x: (-1, 1)}, time={t: (0, 1)}),
    {"burgers": u.diff(t) + u * u.diff(x) - NU / sp.pi * u.diff(x, 2)},
    {
        "ends": kp.Condition(u, on="boundary"),
        "initial": kp.Condition(sp.Eq(u, -sp.sin(sp.pi * x)), on="initial"),
    },
)
truth = evolution(
    "u",
    lambda ik: NU / np.pi * ik**2,
    lambda u, ik: -ik / 2 * np.fft.fft(u**2),
    lambda x: -np.sin(np.pi * x),
    (-1, 1),
    1,
    8192,
    8_000,
)
# The shock forms at t = 1/π.
EDGES = (0, 0.2, 0.28, 0.32, 0.36, 0.4, 0.45, 0.5, 0.6, 0.7, 0.8, 0.9, 1)
CASE = Case(
    "Burgers, ν = 0.001/π",
    1e-3,
    problem,
    truth,
    windows=EDGES,
    steps=150,
    points=3_000,
    sampler=kp.sampling.ResidualBased(every=1),
)
