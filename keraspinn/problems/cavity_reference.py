"""The lid-driven cavity's known solution, by finite differences."""

import functools

import keras
import numpy as np
import sympy as sp

from keraspinn.common.checks import check_count, positive_number
from keraspinn.declaration.computed_reference import ComputedReference
from keraspinn.expressions import from_json, to_json
from keraspinn.solvers import lid_driven_cavity as solve
from keraspinn.solvers.lid_driven_cavity import SMALLEST_N

SIDE = 100
"""Points a side of the grid that fields are compared on, as in the paper."""

CORNER = 0.02
"""Cavity sides from the lid's corners within which pressures are not compared: they
grow as 1/r there, and the solver's grid does not resolve them. Eight points of the
grid, which would make nine tenths of the error."""


@keras.saving.register_keras_serializable("keraspinn")
class CavityReference(ComputedReference):
    """The steady flow in the lid-driven cavity, on a grid of 100 × 100 points.

    Compares `speed`, `u`, `v` and, up to a constant and away from the lid's corners,
    `p`. Solved for when the values are first asked for. Nondimensional.

    Args:
        u: Expression in the fields for the velocity along x.
        v: The same along y.
        p: The same for the pressure.
        reynolds: Reynolds number.
        n: Number of cells a side of the solver's grid.

    Raises:
        ValueError: If a number is not what the solver takes.

    Example:

    >>> x, y = sp.symbols("x y")
    >>> u, v, p = (sp.Function(name)(x, y) for name in "uvp")
    >>> CavityReference(u, v, p, reynolds=100, n=32).names
    ('speed', 'u', 'v', 'p')
    """

    def __init__(self, u, v, p, reynolds, n):
        self.reynolds = positive_number("reynolds", reynolds)
        self.n = check_count("n", n, least=SMALLEST_N)
        speed = sp.sqrt(u**2 + v**2)
        names = {speed: "speed", u: "u", v: "v", p: "p"}
        side = np.linspace(0, 1, SIDE)
        points = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1)
        super().__init__(points.reshape(-1, 2), list(names), names, [p], gaps=[p])

    def compute(self):
        flow = _solved(self.reynolds, self.n).at(self.points)
        x, y = self.points.T
        to_corner = np.hypot(np.minimum(x, 1 - x), 1 - y)
        pressure = np.where(to_corner < CORNER, np.nan, flow["pressure"])
        columns = flow["speed"], flow["u"], flow["v"], pressure
        return dict(zip(self.expressions, columns, strict=True))

    def get_config(self):
        _, u, v, p = map(to_json, self.expressions)
        return {"u": u, "v": v, "p": p, "reynolds": self.reynolds, "n": self.n}

    @classmethod
    def from_config(cls, config):
        fields = {name: from_json(config[name]) for name in "uvp"}
        return cls(**fields, reynolds=config["reynolds"], n=config["n"])


@functools.lru_cache(4)  # where the cache on disk cannot be written
def _solved(reynolds, n):
    return solve(reynolds, n)
