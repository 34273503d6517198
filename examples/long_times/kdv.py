"""Korteweg–de Vries equation of Zabusky and Kruskal, μ = 0.022."""

import numpy as np
import sympy as sp

import keraspinn as kp
from examples.long_times.case import Case
from examples.long_times.spectral import evolution

x, t = sp.symbols("x t")
u = sp.Function("u")(x, t)
MU = 0.022

problem = kp.Problem(
    kp.geometry.Box({x: (-1, 1)}, time={t: (0, 1)}, periodic=[x]),
    {"kdv": u.diff(t) + u * u.diff(x) + MU**2 * u.diff(x, 3)},
    {"initial": kp.Condition(sp.Eq(u, sp.cos(sp.pi * x)), on="initial")},
)
truth = evolution(
    "u",
    lambda ik: -(MU**2) * ik**3,
    lambda u, ik: -ik / 2 * np.fft.fft(u**2),
    lambda x: np.cos(np.pi * x),
    (-1, 1),
    1,
    512,
    20_000,
)
CASE = Case("KdV, μ = 0.022", 1e-4, problem, truth, windows=20, steps=150)
