"""PINNacle's Gray–Scott equations, to t = 200, made periodic."""

import numpy as np
import sympy as sp

import keraspinn as kp
from examples.long_times.case import Case
from examples.long_times.spectral import etdrk4, wave_numbers

x, y, t = sp.symbols("x y t")
u, v = (sp.Function(name)(x, y, t) for name in "uv")
END, FEED, KILL = 200, 0.04, 0.1
DIFFUSIVITIES = 1e-5, 5e-6


def blob(x, y, exp=sp.exp):
    return exp(-80 * ((x - 0.05) ** 2 + (y - 0.02) ** 2))


def laplacian(field):
    return field.diff(x, 2) + field.diff(y, 2)


problem = kp.Problem(
    kp.geometry.Box({x: (-1, 1), y: (-1, 1)}, time={t: (0, END)}, periodic=[x, y]),
    {
        "u": sp.Eq(
            u.diff(t), DIFFUSIVITIES[0] * laplacian(u) + FEED * (1 - u) - u * v**2
        ),
        "v": sp.Eq(v.diff(t), DIFFUSIVITIES[1] * laplacian(v) - KILL * v + u * v**2),
    },
    {
        "initial": kp.Condition(
            [sp.Eq(u, 1 - blob(-x, -y)), sp.Eq(v, blob(x, y))], on="initial"
        )
    },
)


def solved(count, steps):
    line = -1 + 2 * np.arange(count) / count
    x, y = np.meshgrid(line, line, indexing="ij")
    k = wave_numbers(count, 2)
    square = k[:, None] ** 2 + k**2
    linear = np.stack(
        [-DIFFUSIVITIES[0] * square - FEED, -DIFFUSIVITIES[1] * square - KILL]
    )

    def nonlinear(coefficients, _):
        u, v = np.fft.ifft2(coefficients).real
        reaction = u * v**2
        return np.fft.fft2(np.stack([FEED - reaction, reaction]))

    first = np.stack([1 - blob(-x, -y, np.exp), blob(x, y, np.exp)])
    field = etdrk4(linear, nonlinear, np.fft.fft2(first), END, steps, 20)
    return line, np.fft.ifft2(field).real


def truth():
    line, values = solved(128, 1_000)
    _, coarse = solved(64, 500)
    error = np.linalg.norm(values[..., ::2, ::2] - coarse) / np.linalg.norm(coarse)
    grid = np.meshgrid(np.linspace(0, END, 21), line, line, indexing="ij")
    points = np.stack([grid[1], grid[2], grid[0]], axis=-1).reshape(-1, 3)
    fields = {"u": values[:, 0].ravel(), "v": values[:, 1].ravel()}
    return points, fields, float(error)


CASE = Case("Gray–Scott (PINNacle)", 1e-2, problem, truth, windows=10)
