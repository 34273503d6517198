import functools
from dataclasses import dataclass

import numpy as np

from keraspinn.common.checks import positive_number
from keraspinn.geometry.arrays import library, like, pick
from keraspinn.geometry.ball import Inside, Rim
from keraspinn.geometry.base import Geometry
from keraspinn.geometry.checks import Numbers, Symbols, checked_numbers

_ARCS = 4096  # equally long arcs in the table of angles; each is 1e-3 of a radius


@dataclass(frozen=True)
class EllipseCurve(Rim):
    """Ellipse curve."""

    draws, text = 1, "the ellipse"

    def sample(self, uniform):
        """Sample uniformly by length; a table made on the host gives the angle."""
        lib = library(uniform)
        share = uniform[..., 0]
        start, end = (pick(column, share) for column in self._arcs[:2])
        angle = start + (end - start) * (share * _ARCS % 1)
        circle = lib.stack([lib.cos(angle), lib.sin(angle)], axis=-1)
        return circle * like(self.axes, uniform)

    @functools.cached_property
    def _arcs(self):
        """Angles at which equally long arcs start and end, and the curve's length."""
        angles = np.linspace(0, 2 * np.pi, 16 * _ARCS + 1)
        a, b = self.axes
        speed = np.hypot(a * np.sin(angles), b * np.cos(angles))
        steps = (speed[1:] + speed[:-1]) / 2 * np.diff(angles)
        lengths = np.concatenate([[0], np.cumsum(steps)])
        table = np.interp(np.linspace(0, lengths[-1], _ARCS + 1), lengths, angles)
        return table[:-1], table[1:], float(lengths[-1])

    def measure(self):
        """Return the length."""
        return self._arcs[-1]


class Ellipse(Geometry):
    """Interior of an ellipse with axes parallel to the coordinates.

    Args:
        center: Its centre, two numbers, in the user's units.
        axes: Its two half axes.
        coordinates: Its two symbols. Leave them out if it is combined with a domain
            that has them.

    Raises:
        ValueError: If a half axis is not positive or the centre is not a point.

    Example:

    >>> x, y = sp.symbols("x y")
    >>> ellipse = keraspinn.geometry.Ellipse((0, 0), (2, 1), coordinates=(x, y))
    >>> round(ellipse.measure(ellipse.boundary[0]), 4)
    9.6884
    """

    def __init__(
        self, center: Numbers, axes: Numbers, coordinates: Symbols = None
    ) -> None:
        self.center = checked_numbers("center", center, 2)
        axes = checked_numbers("axes", axes, 2)
        self.axes = tuple(positive_number("axes", axis) for axis in axes)
        center, half = np.array(self.center), np.array(self.axes)
        super().__init__(coordinates, center - half, center + half)
        self.interior = Inside(self.axes)
        self.boundary = (EllipseCurve(self.axes),)

    def __str__(self):
        at = ", ".join(f"{c:g}" for c in self.center)
        return f"Ellipse(({at}), ({self.axes[0]:g}, {self.axes[1]:g}))"
