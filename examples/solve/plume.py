"""Concentration downstream of a source, in a flow around an obstacle."""

import sympy as sp

import keraspinn as kp

x, y = sp.symbols("x y")  # m
c = sp.Function("c")(x, y)
u = 0.5 * (1 - (x**2 - y**2) / (4 * (x**2 + y**2) ** 2))  # potential flow, m/s
v = -0.25 * x * y / (x**2 + y**2) ** 2
obstacle = kp.geometry.Disk((0, 0), 0.5)
channel = kp.geometry.Box({x: (-2, 3), y: (-2, 2)}) - obstacle
source = sp.exp(-20 * ((x + 1.2) ** 2 + y**2))
spread = 0.05 * (c.diff(x, 2) + c.diff(y, 2))
closed = kp.normal_derivative(c, channel)
transport = sp.Eq(u * c.diff(x) + v * c.diff(y), spread + source)
sides = kp.Condition(closed, on=[{x: 3}, {y: -2}, {y: 2}, obstacle])
conditions = {"inlet": kp.Condition(c, on={x: -2}), "closed": sides}
problem = kp.Problem(channel, {"transport": transport}, conditions)
solution = kp.solve(problem, tolerance=1e-3, max_time=300)
