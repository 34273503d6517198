"""Kuramoto–Sivashinsky equation to t = 0.5."""

import numpy as np
import sympy as sp

import keraspinn as kp
from examples.long_times.case import Case
from examples.long_times.spectral import evolution

x, t = sp.symbols("x t")
u = sp.Function("u")(x, t)


def case(end, aim, windows, steps=200):
    """Return the case of a time interval from 0 to `end`."""
    problem = kp.Problem(
        kp.geometry.Box({x: (-1, 1)}, time={t: (0, end)}, periodic=[x]),
        {"ks": u.diff(t) + 5 * u * u.diff(x) + u.diff(x, 2) / 2 + u.diff(x, 4) / 200},
        {"initial": kp.Condition(sp.Eq(u, -sp.sin(sp.pi * x)), on="initial")},
    )
    truth = evolution(
        "u",
        lambda ik: -(ik**2) / 2 - ik**4 / 200,
        lambda u, ik: -5 / 2 * ik * np.fft.fft(u**2),
        lambda x: -np.sin(np.pi * x),
        (-1, 1),
        end,
        256,
        20_000,
    )
    return Case(
        f"Kuramoto–Sivashinsky, t ≤ {end:g}", aim, problem, truth, windows, steps=steps
    )


CASE = case(0.5, 3e-5, 10)
