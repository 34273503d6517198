"""A cooling fin: temperature and heat flow.

A steel fin, 50 mm long and 4 mm thick, is held at 120 °C at its base and loses heat to
the air. It is thin, so that its temperature depends on the distance from the base
alone. `solve` trains until the estimated error is below the tolerance.

To adapt it, change the dimensions and the material, write `k` or `h` as an expression
in `T` or `x`, or solve for the temperature across the fin too.
"""

import numpy as np
import sympy as sp

import keraspinn as kp

x = sp.Symbol("x")
T = sp.Function("T")(x)  # °C
length, thickness = 0.05, 0.004  # m
k, h = 15.0, 100.0  # W/(m K) and W/(m² K)
air, base = 20.0, 120.0  # °C

problem = kp.Problem(
    kp.geometry.Box({x: (0, length)}),
    {"heat": sp.Eq(k * thickness * T.diff(x, 2), 2 * h * (T - air))},
    {
        "base": kp.Condition(sp.Eq(T, base), on={x: 0}),
        "tip": kp.Condition(sp.Eq(-k * T.diff(x), h * (T - air)), on={x: length}),
    },
)
print(problem)

solution = kp.solve(problem, tolerance=1e-4, max_time=300, seed=0)
print(solution)
model = solution.model

# The formula of a fin with a tip in air, in watts for each metre of width.
m = np.sqrt(2 * h / (k * thickness))
q, s, c = h / (m * k), np.sinh(m * length), np.cosh(m * length)
formula = k * thickness * m * (base - air) * (s + q * c) / (c + q * s)
heat = model.predict_expression(-k * thickness * T.diff(x), np.array([[0.0]]))[0]
tip = model.predict(np.array([[length]]), verbose=0)[0, 0]
print(f"heat {heat:.2f} W/m, formula {formula:.2f} W/m; tip {tip:.2f} °C")

error = {"heat": abs(heat / formula - 1)}
figure = kp.plot.field(model, T, label="temperature in °C")
figure.axes[0].set(xlabel="x in m")
figure.savefig("fin.png")
