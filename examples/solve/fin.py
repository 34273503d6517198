"""Temperature of a cooling fin, in kelvin: the conductivity depends on it."""

import sympy as sp

import keraspinn as kp

x, y = sp.symbols("x y")  # m
T = sp.Function("T")(x, y)  # K
k, h, air = 15 * (1 + 3e-3 * (T - 293.15)), 100.0, 293.15  # W/(m K), W/(m² K), K
fin = kp.geometry.Box({x: (0, 0.05), y: (0, 0.004)})
cooling = sp.Eq(-k * kp.normal_derivative(T, fin), h * (T - air))
problem = kp.Problem(
    fin,
    {"heat": (k * T.diff(x)).diff(x) + (k * T.diff(y)).diff(y)},
    {
        "base": kp.Condition(sp.Eq(T, 393.15), on={x: 0}),
        "air": kp.Condition(cooling, on=[{x: 0.05}, {y: 0}, {y: 0.004}]),
    },
)
solution = kp.solve(problem, tolerance=1e-3, max_time=300)
