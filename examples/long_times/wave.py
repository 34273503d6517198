"""Wave equation with c = 2 and modes 1 and 4, over four periods of mode 1."""

import sympy as sp

import keraspinn as kp
from examples.long_times.case import Case, exact

x, t = sp.symbols("x t")
u = sp.Function("u")(x, t)
SPEED = 2
solution = (
    sp.sin(sp.pi * x) * sp.cos(2 * sp.pi * t)
    + sp.sin(4 * sp.pi * x) * sp.cos(8 * sp.pi * t) / 2
)

problem = kp.Problem(
    kp.geometry.Box({x: (0, 1)}, time={t: (0, 4)}),
    {"wave": sp.Eq(u.diff(t, 2), SPEED**2 * u.diff(x, 2))},
    {
        "ends": kp.Condition(u, on="boundary"),
        "initial": kp.Condition(
            [sp.Eq(u, solution.subs(t, 0)), sp.Eq(u.diff(t), 0)], on="initial"
        ),
    },
    reference={u: solution},
)
CASE = Case("Wave, c = 2, to t = 4", 1e-4, problem, exact(problem), windows=16)
