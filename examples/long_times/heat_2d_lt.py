"""Heat 2d-LT of PINNacle to t = 100, with a nonlinear, oscillating source."""

import numpy as np

from examples.long_times.case import Case
from examples.long_times.spectral import etdrk4
from examples.public_examples import pinnacle

END, DIFFUSIVITY = 100, 0.001


def solved(count, steps):
    """Return the field on a grid of the unit square at 101 times.

    The odd continuation to [−1, 1]² is periodic.
    """
    line = -1 + 2 * np.arange(count) / count
    x, y = np.meshgrid(line, line, indexing="ij")
    k = np.pi * np.fft.fftfreq(count, 1 / count)
    linear = -DIFFUSIVITY * (k[:, None] ** 2 + k**2)
    shape = np.sin(4 * np.pi * x) * np.sin(2 * np.pi * y)

    def nonlinear(v, t):
        u = np.fft.ifft2(v).real
        pulse = 5 * (1 + 2 * np.sin(np.pi * t / 4))
        return np.fft.fft2(pulse * np.sin(u**2) * shape)

    first = np.fft.fft2(np.sin(4 * np.pi * x) * np.sin(3 * np.pi * y))
    half = count // 2
    field = np.fft.ifft2(etdrk4(linear, nonlinear, first, END, steps, 100)).real
    return line[half:], field[:, half:, half:]


def truth():
    line, values = solved(128, 10_000)
    _, coarse = solved(64, 5_000)
    error = np.linalg.norm(values[:, ::2, ::2] - coarse) / np.linalg.norm(coarse)
    grid = np.meshgrid(np.linspace(0, END, 101), line, line, indexing="ij")
    points = np.stack([grid[1], grid[2], grid[0]], axis=-1).reshape(-1, 3)
    return points, {"u": values.ravel()}, float(error)


CASE = Case(
    "PINNacle Heat 2d-LT", 1.0, pinnacle.heat_2d_lt(), truth, windows=25, steps=100
)
