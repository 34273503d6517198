"""Gray–Scott equations of PINNacle to t = 200, with periodic boundaries."""

import numpy as np

from examples.long_times.case import Case
from examples.long_times.spectral import etdrk4, wave_numbers
from examples.public_examples import pinnacle

END, FEED, KILL = 200, 0.04, 0.1
DIFFUSIVITIES = 1e-5, 5e-6


def blob(x, y):
    return np.exp(-80 * ((x - 0.05) ** 2 + (y - 0.02) ** 2))


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

    first = np.stack([1 - blob(-x, -y), blob(x, y)])
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


CASE = Case(
    "Gray–Scott (PINNacle)", 1e-2, pinnacle.gray_scott(), truth, windows=10, steps=100
)
