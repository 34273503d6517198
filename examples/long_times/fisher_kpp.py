"""Fisher–KPP front of Ablowitz and Zeppetella, which moves by twenty widths."""

import sympy as sp

import keraspinn as kp
from examples.long_times.case import Case, exact

x, t = sp.symbols("x t")
u = sp.Function("u")(x, t)
END = 20
solution = (1 + sp.exp((x - 5 * t / sp.sqrt(6)) / sp.sqrt(6))) ** -2

problem = kp.Problem(
    kp.geometry.Box({x: (-10, 60)}, time={t: (0, END)}),
    {"fisher": sp.Eq(u.diff(t), u.diff(x, 2) + u * (1 - u))},
    {
        "left": kp.Condition(sp.Eq(u, solution), on={x: -10}),
        "right": kp.Condition(sp.Eq(u, solution), on={x: 60}),
        "initial": kp.Condition(sp.Eq(u, solution.subs(t, 0)), on="initial"),
    },
    reference={u: solution},
)
CASE = Case(
    "Fisher–KPP front", 1e-3, problem, exact(problem), windows=5, held_back=True
)
