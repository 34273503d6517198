"""Wave 2d-MS of PINNacle, over fifty periods.

The solution is that of the paper. The function in its repository exchanges sin and
sinh, and does not satisfy the equation.
"""

import sympy as sp

import keraspinn as kp
from examples.long_times.case import Case, exact

x, y, t = sp.symbols("x y t")
u = sp.Function("u")(x, y, t)
shape = sp.sinh(sp.pi * x) * sp.sin(sp.pi * y)
shape += sp.sin(3 * sp.pi * x) * sp.sinh(2 * sp.pi * y)
solution = shape * sp.cos(sp.pi * t)

problem = kp.Problem(
    kp.geometry.Box({x: (0, 1), y: (0, 1)}, time={t: (0, 100)}),
    {"wave": sp.Eq(u.diff(t, 2), u.diff(x, 2) + 2 * u.diff(y, 2))},
    {
        "walls": kp.Condition(sp.Eq(u, solution), on="boundary"),
        "initial": kp.Condition([sp.Eq(u, shape), sp.Eq(u.diff(t), 0)], on="initial"),
    },
    reference={u: solution},
)
CASE = Case(
    "PINNacle Wave 2d-MS", 0.98, problem, exact(problem, 30), windows=25, steps=100
)
