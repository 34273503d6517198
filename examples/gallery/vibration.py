"""The first natural frequency of a cantilever: vibration as an eigenvalue.

A steel ruler, 300 mm long and 1 mm thick, is clamped at one end. Bending with the
frequency f satisfies E I w″″ = ρ A (2π f)² w for some values of f only. The square of
f, over that of a guess, is a `Parameter`. The sixth condition sets the tip's amplitude
to 1, since any multiple of w satisfies the others.

To adapt it, change the section and the ends, or let E I vary with x. Count the zeros of
w to see which mode the training has found: the first has none between clamp and tip.
For another, begin with a guess near its frequency.
"""

import numpy as np
import sympy as sp

import keraspinn as kp

x = sp.Symbol("x")
w = sp.Function("w")(x)
length, width, thickness = 0.3, 0.02, 0.001  # m
E, density = 210e9, 7850.0  # Pa, kg/m³
bending = E * width * thickness**3 / 12
mass = density * width * thickness  # of a metre
guess = 7.0  # Hz
square = kp.Parameter("square", initial=1.0)  # of the frequency over the guess

problem = kp.Problem(
    kp.geometry.Box({x: (0, length)}),
    {
        "bending": sp.Eq(
            bending * w.diff(x, 4), mass * (2 * np.pi * guess) ** 2 * square * w
        )
    },
    {
        "clamp": kp.Condition([w, w.diff(x)], on={x: 0}),
        "free": kp.Condition([w.diff(x, 2), w.diff(x, 3)], on={x: length}),
        "amplitude": kp.Condition(sp.Eq(w, 1), on={x: length}),
    },
)
print(problem)

solution = kp.solve(problem, tolerance=1e-3, max_time=300, seed=0)
print(solution)
frequency = guess * solution.parameters["square"][0] ** 0.5

# The first root of cos(b) cosh(b) = -1 is 1.875104.
formula = 1.875104**2 / (2 * np.pi * length**2) * np.sqrt(bending / mass)
print(f"first frequency {frequency:.4f} Hz, formula {formula:.4f} Hz")

error = {"frequency": abs(frequency / formula - 1)}
figure = kp.plot.field(solution.model, w, label="deflection over that of the tip")
figure.axes[0].set(xlabel="x in m")
figure.savefig("vibration.png")
