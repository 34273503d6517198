"""Robertson's reactions to 40 s, with rates from 0.04 to 3e7."""

import sympy as sp

import keraspinn as kp
from examples.long_times.case import Case, ode

t = sp.Symbol("t")
a, b, c = (sp.Function(name)(t) for name in "abc")
END = 40

problem = kp.Problem(
    kp.geometry.Box(time={t: (0, END)}),
    {
        "a": sp.Eq(a.diff(t), -0.04 * a + 1e4 * b * c),
        "b": sp.Eq(b.diff(t), 0.04 * a - 1e4 * b * c - 3e7 * b**2),
        "c": sp.Eq(c.diff(t), 3e7 * b**2),
    },
    {"initial": kp.Condition([sp.Eq(a, 1), b, c], on="initial")},
)


def right_side(t, y):
    slow, middle, fast = 0.04 * y[0], 1e4 * y[1] * y[2], 3e7 * y[1] ** 2
    return [middle - slow, slow - middle - fast, fast]


truth = ode(right_side, [1, 0, 0], END, ["a", "b", "c"], "Radau")
CASE = Case(
    "Robertson, to 40 s",
    1e-4,
    problem,
    truth,
    [0, 1e-3, 1e-2, 0.1, 1, 5, 15, END],  # one window for each decade
    points=500,
)
