"""Flow round an obstacle.

A viscous fluid flows steadily through a channel and round a cylinder. The Reynolds
number, based on the channel's height, is 20. Forces and pressures are integrals of the
solution, and the verdict estimates their errors. The free outflow fixes the pressure.

To adapt it, change the shape, the viscosity and the inflow. Raise a high Reynolds
number in steps, with `kp.continuation`.
"""

import sympy as sp

import keraspinn as kp

x, y = sp.symbols("x y")
u, v, p = (sp.Function(name)(x, y) for name in "uvp")
viscosity = sp.Rational(1, 20)

obstacle = kp.geometry.Disk((1, 0.5), 0.15)
channel = kp.geometry.Box({x: (0, 4), y: (0, 1)}) - obstacle
gradient = sp.Matrix([u, v]).jacobian([x, y])
stress = viscosity * (gradient + gradient.T) - p * sp.eye(2)


def momentum(velocity, grad_p):
    convection = u * velocity.diff(x) + v * velocity.diff(y)
    return convection + grad_p - viscosity * (velocity.diff(x, 2) + velocity.diff(y, 2))


problem = kp.Problem(
    channel,
    equations={
        "x": momentum(u, p.diff(x)),
        "y": momentum(v, p.diff(y)),
        "continuity": u.diff(x) + v.diff(y),
    },
    conditions={
        "inflow": kp.Condition([sp.Eq(u, 4 * y * (1 - y)), v], on={x: 0}),
        "walls": kp.Condition([u, v], on=[{y: 0}, {y: 1}]),
        "no slip": kp.Condition([u, v], on=obstacle),
        "outflow": kp.Condition([viscosity * u.diff(x) - p, v.diff(x)], on={x: 4}),
    },
)

solution = kp.solve(problem, tolerance=1e-2, max_time=600)
print(solution)
model = solution.model
force = kp.integral((-stress * sp.Matrix(channel.normal))[0], over=obstacle)
drop = kp.integral(p, over={x: 0}) - kp.integral(p, over={x: 4})
print("Flow", *(f"{model.integrate(u, over={x: end}):.4f}" for end in (0, 4)))

# scikit-fem, 96 sides of the circle: 1.4520 and 3.6908, to a thousandth.
ends = [model.integrate(p, over={x: end}) for end in (0, 4)]
error = {"drag": abs(model.integrate(force) / 1.4520 - 1)}
error["pressure drop"] = abs((ends[0] - ends[1]) / 3.6908 - 1)
print(error)
print(kp.diagnostics.verdict(model, quantities={"drag": force, "drop": drop}))
figure = kp.plot.field(model, sp.sqrt(u**2 + v**2), label="speed")
figure.savefig("obstacle.png")
