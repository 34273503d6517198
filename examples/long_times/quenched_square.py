"""Hot square whose sides are cold from the first moment on."""

import numpy as np
import sympy as sp

import keraspinn as kp
from examples.long_times.case import Case

x, y, t = sp.symbols("x y t")
u = sp.Function("u")(x, y, t)
END, DIFFUSIVITY = 2, sp.Rational(1, 20)
# Odd terms of the Fourier series, and the first time at which it is used.
MODES, FIRST = 500, 1e-3

problem = kp.Problem(
    kp.geometry.Box({x: (0, 1), y: (0, 1)}, time={t: (0, END)}),
    {"heat": sp.Eq(u.diff(t), DIFFUSIVITY * (u.diff(x, 2) + u.diff(y, 2)))},
    {
        "initial": kp.Condition(sp.Eq(u, 1), on="initial"),
        "sides": kp.Condition(u, on="boundary"),
    },
)


def truth():
    line, times = np.linspace(0, 1, 41), np.linspace(FIRST, END, 41)
    k = np.pi * np.arange(1, 2 * MODES, 2)
    decayed = np.exp(-float(DIFFUSIVITY) * k**2 * times[:, None])
    along = np.einsum("k,xk,tk->tx", 4 / k, np.sin(k * line[:, None]), decayed)
    grid = np.meshgrid(times, line, line, indexing="ij")
    points = np.stack([grid[1], grid[2], grid[0]], axis=-1).reshape(-1, 3)
    return points, {"u": (along[:, :, None] * along[:, None]).ravel()}, 0.0


CASE = Case("Quenched square", 1e-3, problem, truth, windows=4, held_back=True)
