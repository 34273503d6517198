"""Lotka–Volterra equations for hares and lynxes over twenty years."""

import sympy as sp

import keraspinn as kp
from examples.long_times.case import Case, ode

t = sp.Symbol("t")
hare, lynx = (sp.Function(name)(t) for name in ("hare", "lynx"))
END = 20
BIRTHS, CATCHES, FOOD, DEATHS = 0.55, 2.8e-5, 2.6e-5, 0.84

problem = kp.Problem(
    kp.geometry.Box(time={t: (0, END)}),
    {
        "hares": sp.Eq(hare.diff(t), BIRTHS * hare - CATCHES * hare * lynx),
        "lynxes": sp.Eq(lynx.diff(t), FOOD * hare * lynx - DEATHS * lynx),
    },
    {"initial": kp.Condition([sp.Eq(hare, 30_000), sp.Eq(lynx, 4_000)], on="initial")},
)


def right_side(t, y):
    caught = y[0] * y[1]
    return [BIRTHS * y[0] - CATCHES * caught, FOOD * caught - DEATHS * y[1]]


truth = ode(right_side, [30_000, 4_000], END, ["hare", "lynx"])
CASE = Case("Lotka–Volterra, 20 years", 1e-4, problem, truth, 10, points=500)
