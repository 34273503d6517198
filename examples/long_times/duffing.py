"""Duffing oscillator over fifteen periods of its force."""

import numpy as np
import sympy as sp

import keraspinn as kp
from examples.long_times.case import Case, ode

t = sp.Symbol("t")
u = sp.Function("u")(t)
DAMPING, CUBIC, FORCE, FREQUENCY = 0.2, 1.0, 0.3, 1.2
END = float(np.round(15 * 2 * np.pi / FREQUENCY, 3))

problem = kp.Problem(
    kp.geometry.Box(time={t: (0, END)}),
    {
        "oscillator": sp.Eq(
            u.diff(t, 2) + DAMPING * u.diff(t) + u + CUBIC * u**3,
            FORCE * sp.cos(FREQUENCY * t),
        )
    },
    {"initial": kp.Condition([sp.Eq(u, 1), sp.Eq(u.diff(t), 0)], on="initial")},
)


def right_side(t, y):
    force = FORCE * np.cos(FREQUENCY * t)
    return [y[1], force - DAMPING * y[1] - y[0] - CUBIC * y[0] ** 3]


truth = ode(right_side, [1, 0], END, ["u"], columns=[0])
CASE = Case(
    "Duffing, 15 periods",
    1e-4,
    problem,
    truth,
    15,
    points=500,
    held_back=True,
)
