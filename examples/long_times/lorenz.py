"""Lorenz's equations, σ = 10, ρ = 28, β = 8/3, to t = 3."""

import sympy as sp

import keraspinn as kp
from examples.long_times.case import Case, ode

t = sp.Symbol("t")
x, y, z = (sp.Function(name)(t) for name in "xyz")
SIGMA, RHO, BETA, END = 10, 28, sp.Rational(8, 3), 3

problem = kp.Problem(
    kp.geometry.Box(time={t: (0, END)}),
    {
        "x": sp.Eq(x.diff(t), SIGMA * (y - x)),
        "y": sp.Eq(y.diff(t), x * (RHO - z) - y),
        "z": sp.Eq(z.diff(t), x * y - BETA * z),
    },
    {"initial": kp.Condition([sp.Eq(f, 1) for f in (x, y, z)], on="initial")},
)


def right_side(t, v):
    return [
        SIGMA * (v[1] - v[0]),
        v[0] * (RHO - v[2]) - v[1],
        v[0] * v[1] - float(BETA) * v[2],
    ]


truth = ode(right_side, [1, 1, 1], END, ["x", "y", "z"])
CASE = Case("Lorenz, to t = 3", 1e-3, problem, truth, 6, points=500)
