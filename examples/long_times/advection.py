"""Advection u_t + 80 u_x = 0 over thirteen periods."""

import sympy as sp

import keraspinn as kp
from examples.long_times.case import Case, exact

x, t = sp.symbols("x t")
u = sp.Function("u")(x, t)
SPEED = 80

problem = kp.Problem(
    kp.geometry.Box({x: (0, 2 * sp.pi)}, time={t: (0, 1)}, periodic=[x]),
    {"advection": u.diff(t) + SPEED * u.diff(x)},
    {"initial": kp.Condition(sp.Eq(u, sp.sin(x)), on="initial")},
    reference={u: sp.sin(x - SPEED * t)},
)
CASE = Case("Advection, c = 80", 6e-4, problem, exact(problem), windows=10, steps=200)
