"""Reference solution of the lid-driven cavity, from a file in the package."""

import functools
from pathlib import Path

import numpy as np
import sympy as sp

from keraspinn.declaration.conditions import Reference
from keraspinn.expressions import from_json, to_json

PATH = Path(__file__).with_name("cavity.npz")

# Points per side of the grid on which fields are compared, as in the paper.
SIDE = 100

# Distance from the lid's corners, in cavity sides, within which pressures are not
# compared. They grow as 1/r there, unresolved, and would contribute nine tenths of the
# error at eight points of the grid.
CORNER = 0.02


class CavityReference(Reference):
    """Steady flow in the lid-driven cavity, on a grid of 100 × 100 points.

    It compares `speed`, `u`, `v` and, up to a constant and away from the lid's corners,
    `p`. Nondimensional. `examples/cavity_solver` computed the values, by finite
    differences on 256 × 256 cells; they are stored to 2e-5.

    Args:
        u: Expression in the fields for the velocity along x.
        v: The same along y.
        p: The same for the pressure.
        reynolds: Reynolds number, one of those in the file.

    Raises:
        ValueError: If the file has no flow at this Reynolds number.

    Example:

    >>> x, y = sp.symbols("x y")
    >>> u, v, p = (sp.Function(name)(x, y) for name in "uvp")
    >>> CavityReference(u, v, p, reynolds=100).names
    ('speed', 'u', 'v', 'p')
    """

    def __init__(self, u, v, p, reynolds):
        if reynolds not in stored_flows():
            raise ValueError(
                f"`reynolds` must be one of {sorted(stored_flows())}, whose flows are "
                f"stored. Received: {reynolds!r}. `examples/cavity_solver` computes "
                "others; pass them to a `keraspinn.Reference`."
            )
        self.reynolds = int(reynolds)
        names = {sp.sqrt(u**2 + v**2): "speed", u: "u", v: "v", p: "p"}
        side = np.linspace(0, 1, SIDE)
        x, y = (axis.ravel() for axis in np.meshgrid(side, side, indexing="ij"))
        known_u, known_v, pressure = stored_flows()[self.reynolds]
        to_corner = np.hypot(np.minimum(x, 1 - x), 1 - y)
        pressure = np.where(to_corner < CORNER, np.nan, pressure)
        columns = np.hypot(known_u, known_v), known_u, known_v, pressure
        values, points = dict(zip(names, columns, strict=True)), np.stack([x, y], -1)
        super().__init__(points, values, names, [p], [p])

    def get_config(self):
        _, u, v, p = map(to_json, self.expressions)
        return {"u": u, "v": v, "p": p, "reynolds": self.reynolds}

    @classmethod
    def from_config(cls, config):
        fields = {name: from_json(config[name]) for name in "uvp"}
        return cls(**fields, reynolds=config["reynolds"])


@functools.cache
def stored_flows():
    """Return a dict from Reynolds numbers to u, v and the pressure, `(3, 10_000)`."""
    with np.load(PATH) as file:
        # Stored as second differences in 16 bits, which compress well.
        flows = file["flows"].cumsum(-1, dtype="int16").cumsum(-2, dtype="int16")
        flows = flows.reshape(*flows.shape[:2], -1) * file["scales"][..., None]
        return dict(zip(file["reynolds"].tolist(), flows, strict=True))
