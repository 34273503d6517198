"""Van der Pol oscillator with μ = 10, over one period with two fast transitions."""

import sympy as sp

import keraspinn as kp
from examples.long_times.case import Case, ode

t = sp.Symbol("t")
u = sp.Function("u")(t)
MU, END = 10, 20

problem = kp.Problem(
    kp.geometry.Box(time={t: (0, END)}),
    {"oscillator": sp.Eq(u.diff(t, 2), MU * (1 - u**2) * u.diff(t) - u)},
    {"initial": kp.Condition([sp.Eq(u, 2), sp.Eq(u.diff(t), 0)], on="initial")},
)


def right_side(t, y):
    return [y[1], MU * (1 - y[0] ** 2) * y[1] - y[0]]


truth = ode(right_side, [2, 0], END, ["u"], "Radau", columns=[0])
CASE = Case("Van der Pol, μ = 10", 1e-4, problem, truth, windows=40, points=500)
