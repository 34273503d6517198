"""Deflection of a steel bracket, from its energy."""

import sympy as sp

import keraspinn as kp

x, y = sp.symbols("x y")  # m
u, v = sp.Function("u")(x, y), sp.Function("v")(x, y)
E, nu, load = 210e9, 0.3, 10e6  # Pa
corner = kp.geometry.Box({x: (0.04, 0.1), y: (0.04, 0.1)})
bracket = kp.geometry.Box({x: (0, 0.1), y: (0, 0.1)}) - corner
gradient = sp.Matrix([u, v]).jacobian([x, y])
strain = (gradient + gradient.T) / 2
stress = E / (1 - nu**2) * ((1 - nu) * strain + nu * strain.trace() * sp.eye(2))
density = sum(stress.multiply_elementwise(strain)) / 2
energy = kp.integral(density) + kp.integral(load * v, over={x: 0.1})
clamp = kp.Condition([u, v], on={y: 0.1}, hard=True)
problem = kp.Problem(bracket, energy=energy, conditions={"clamp": clamp})
solution = kp.solve(problem, tolerance=5e-2, max_time=300)
