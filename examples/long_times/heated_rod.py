"""Rod at zero, of which one end is hot from the first moment on."""

import numpy as np
import sympy as sp

import keraspinn as kp
from examples.long_times.case import Case

x, t = sp.symbols("x t")
u = sp.Function("u")(x, t)
END, DIFFUSIVITY = 5, sp.Rational(1, 20)
# Terms of the Fourier series, and the first time at which it is used: it has converged
# to round-off there.
MODES, FIRST = 1_000, 1e-3

problem = kp.Problem(
    kp.geometry.Box({x: (0, 1)}, time={t: (0, END)}),
    {"heat": sp.Eq(u.diff(t), DIFFUSIVITY * u.diff(x, 2))},
    {
        "initial": kp.Condition(u, on="initial"),
        "hot": kp.Condition(sp.Eq(u, 1), on={x: 0}),
        "cold": kp.Condition(u, on={x: 1}),
    },
)


def truth():
    grid = np.meshgrid(np.linspace(0, 1, 101), np.linspace(FIRST, END, 101))
    points = np.stack(grid, axis=-1).reshape(-1, 2)
    position, time = points.T[:, :, None]
    k = np.pi * np.arange(1, MODES + 1)
    decayed = np.exp(-float(DIFFUSIVITY) * k**2 * time)
    waves = (2 / k * np.sin(k * position) * decayed).sum(axis=1)
    return points, {"u": 1 - points[:, 0] - waves}, 0.0


CASE = Case("Heated rod", 1e-4, problem, truth, windows=5)
