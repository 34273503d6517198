"""Pendulum released at 1 rad, over ten periods of 6.70 s."""

import numpy as np
import sympy as sp

import keraspinn as kp
from examples.long_times.case import Case, ode

t = sp.Symbol("t")
angle = sp.Function("angle")(t)
END = 67

problem = kp.Problem(
    kp.geometry.Box(time={t: (0, END)}),
    {"pendulum": sp.Eq(angle.diff(t, 2), -sp.sin(angle))},
    {"initial": kp.Condition([sp.Eq(angle, 1), sp.Eq(angle.diff(t), 0)], on="initial")},
)
truth = ode(lambda t, y: [y[1], -np.sin(y[0])], [1, 0], END, ["angle"], columns=[0])
CASE = Case("Pendulum, 10 periods", 1e-4, problem, truth, 10, points=500)
