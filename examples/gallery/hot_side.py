"""A plate with one hot side: values that jump in two corners.

One side of a plate is at 100 °C, the others are at 0 °C. The boundary value jumps in
two corners, where the gradient is unbounded. A smooth network alone rounds the jump
off, and its error was 0.4 % after 300 s. Networks receive the angle round each such
corner as a further input, which has the same jump. Nothing needs to be declared. The
reference is a Fourier series.

To adapt it, change the sides and their values. A jump within a side is a
`sympy.Piecewise`, and initial values may disagree with boundary values, as in draining
clay. [Kinks and corners](../guide/networks.md#kinks-and-corners) lists the equations
with such inputs.
"""

import numpy as np
import sympy as sp

import keraspinn as kp

x, y = sp.symbols("x y")  # m
T = sp.Function("T")(x, y)  # °C
a, b, hot = 0.3, 0.2, 100.0

k = np.arange(1, 600, 2)[:, None] * np.pi / a
inner = kp.geometry.Box({x: (0.005, a - 0.005), y: (0.005, b - 0.005)})
points = inner.grid(60)
at, up = points.T
rise = np.exp(k * (up - b)) * (1 - np.exp(-2 * k * up)) / (1 - np.exp(-2 * k * b))
series = (4 * hot / (k * a) * np.sin(k * at) * rise).sum(axis=0)

problem = kp.Problem(
    kp.geometry.Box({x: (0, a), y: (0, b)}),
    {"heat": T.diff(x, 2) + T.diff(y, 2)},
    {
        "hot": kp.Condition(sp.Eq(T, hot), on={y: b}),
        "cold": kp.Condition(T, on=[{x: 0}, {x: a}, {y: 0}]),
    },
    reference=kp.Reference(points, {T: series}),
)

solution = kp.solve(problem, tolerance=1e-3, max_time=300, seed=0)
print(solution)
model = solution.model

error = model.evaluate(*problem.test_data(), return_dict=True, verbose=0)
print(error, kp.diagnostics.verdict(model), sep="\n")
figure = kp.plot.field(model, T, label="temperature in °C")
figure.axes[0].set(xlabel="x in m", ylabel="y in m")
figure.savefig("hot_side.png")
