"""Kuramoto–Sivashinsky equation of PINNacle, in its chaotic regime.

About eleven waves grow from the initial value by t = 0.4 and then move irregularly.
Small errors grow by e²⁵ per unit of time while the waves grow.
"""

import numpy as np
import sympy as sp

import keraspinn as kp
from examples.long_times.case import Case
from examples.long_times.spectral import evolution

x, t = sp.symbols("x t")
u = sp.Function("u")(x, t)

problem = kp.Problem(
    kp.geometry.Box({x: (0, 2 * sp.pi)}, time={t: (0, 1)}, periodic=[x]),
    {
        "ks": u.diff(t)
        + 100 * u * u.diff(x) / 16
        + 100 * u.diff(x, 2) / 16**2
        + 100 * u.diff(x, 4) / 16**4
    },
    {"initial": kp.Condition(sp.Eq(u, sp.cos(x) * (1 + sp.sin(x))), on="initial")},
)
truth = evolution(
    "u",
    lambda ik: -100 / 16**2 * ik**2 - 100 / 16**4 * ik**4,
    lambda u, ik: -100 / 32 * ik * np.fft.fft(u**2),
    lambda x: np.cos(x) * (1 + np.sin(x)),
    (0, 2 * np.pi),
    1,
    512,
    20_000,
)
CASE = Case("PINNacle Kuramoto–Sivashinsky", 0.96, problem, truth, windows=40, units=30)
