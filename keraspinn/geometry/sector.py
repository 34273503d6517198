import math
from dataclasses import dataclass, field

import numpy as np
import sympy as sp

from keraspinn.common.checks import positive_number, real_number
from keraspinn.geometry.arrays import library
from keraspinn.geometry.base import Geometry
from keraspinn.geometry.checks import Number, Numbers, Symbols, checked_numbers
from keraspinn.geometry.part import TOLERANCE, Part, exact_number, relative_to


@dataclass(frozen=True)
class Polar(Part):
    """Part of a sector: an area, an arc or a straight edge.

    Args:
        radii: The inner and the outer radius; equal on an arc.
        angles: The first angle and the last, in radians; equal on a straight edge.
        side: 1 if the normal points to larger radius or angle, -1 if to smaller.
        sector: The `Sector`.
        text: Its name in messages.
    """

    radii: tuple
    angles: tuple
    side: int
    sector: "Sector" = field(compare=False)
    text: str

    @property
    def _on_arc(self):
        return self.radii[0] == self.radii[1]

    @property
    def _on_edge(self):
        return self.angles[0] == self.angles[1]

    def _polar(self, points):
        """Return offsets from the centre of the circles, and the radius."""
        x0, y0 = self.sector.origin
        x, y = points[..., 0] - x0, points[..., 1] - y0
        return x, y, library(points).sqrt(x * x + y * y)

    def sample(self, uniform):
        """Sample uniformly by area or length."""
        lib = library(uniform)
        (inner, outer), (start, end) = self.radii, self.angles
        share = uniform[..., 0]
        if self._on_edge:
            radius = inner + (outer - inner) * share
        else:
            radius = lib.sqrt(inner**2 + (outer**2 - inner**2) * share)
        angle = start + (end - start) * uniform[..., 1]
        x, y = self.sector.origin
        point = [x + radius * lib.cos(angle), y + radius * lib.sin(angle)]
        return lib.stack(point, axis=-1)

    def contains(self, points):
        """Test which points have a radius and an angle in the intervals."""
        lib, (x, y, radius) = library(points), self._polar(points)
        margin = 2 * TOLERANCE * self.sector.radius
        inner, outer = self.radii
        near = (radius >= inner - margin) & (radius <= outer + margin)
        start, end = self.angles
        # The angle from the middle of the sector, from -π to π.
        middle, spread = (start + end) / 2, (end - start) / 2
        along = x * math.cos(middle) + y * math.sin(middle)
        across = y * math.cos(middle) - x * math.sin(middle)
        beyond = lib.abs(lib.arctan2(across, along)) - spread
        return near & (beyond * radius <= margin)

    def normals(self, points):
        """Return the radial direction on an arc, the tangential one on an edge."""
        if self._on_arc == self._on_edge:
            return super().normals(points)
        lib, (x, y, radius) = library(points), self._polar(points)
        if self._on_edge:
            angle = self.angles[0]
            one = self.side * lib.ones_like(x)
            return lib.stack([-math.sin(angle) * one, math.cos(angle) * one], axis=-1)
        return lib.stack([x / radius, y / radius], axis=-1) * self.side

    def measure(self):
        """Return the area or length."""
        (inner, outer), turn = self.radii, self.angles[1] - self.angles[0]
        if self._on_arc:
            return inner * turn
        if self._on_edge:
            return outer - inner
        return turn * (outer**2 - inner**2) / 2

    def distance(self, coordinates, outside=False):
        """Return 1 - r²/R² or log r/R on an arc, a linear function on an edge."""
        x, y = relative_to(self.sector.origin, coordinates)
        is_reentrant = self._on_edge and self.sector.turn > math.pi * (1 + 1e-9)
        if outside or is_reentrant or self._on_arc == self._on_edge:
            return super().distance(coordinates, outside)
        if self._on_arc:
            ratio = (x**2 + y**2) / exact_number(self.radii[0]) ** 2
            return 1 - ratio if self.side == 1 else sp.log(ratio) / 2
        angle = sp.Float(self.angles[0])
        across = self.side * (x * sp.sin(angle) - y * sp.cos(angle))
        return across / exact_number(self.sector.radius)


class Sector(Geometry):
    """Sector of a disk or a ring.

    Its parts are `"outer"` and `"inner"` (the arcs), `"start"` and `"end"` (the
    straight edges at the first and the last angle).

    Args:
        center: Centre of the circles, two numbers, in the user's units.
        radius: The outer radius.
        angles: The first angle and the last, in radians, counter-clockwise.
        inner: The inner radius, 0 for none.
        coordinates: Its two symbols. Leave them out if it is combined with a domain
            that has them.

    Raises:
        ValueError: If radii or angles are not in order, or span more than a turn.

    Example:

    >>> x, y = sp.symbols("x y")
    >>> quarter = keraspinn.geometry.Sector((0, 0), 2, (0, np.pi / 2), 1, (x, y))
    >>> len(quarter.boundary), round(quarter.measure(quarter.interior), 4)
    (4, 2.3562)
    """

    def __init__(
        self,
        center: Numbers,
        radius: Number,
        angles: Numbers,
        inner: Number = 0.0,
        coordinates: Symbols = None,
    ) -> None:
        self.center = checked_numbers("center", center, 2)
        self.radius = positive_number("radius", radius)
        self.inner = real_number(inner)
        self.angles = tuple(map(real_number, angles if np.iterable(angles) else ()))
        is_pair = len(self.angles) == 2
        self.turn = self.angles[1] - self.angles[0] if is_pair else math.nan
        if not (0 <= self.inner < self.radius and 0 < self.turn <= 2 * math.pi):
            raise ValueError(
                "A sector needs center, radius, angles, inner in this order, as in "
                "Sector((0, 0), 1, (0, 1.5), 0.5), with 0 <= inner < radius and angles "
                "(start, end) in radians, at most one turn apart. Received: "
                f"inner={inner}, radius={radius}, angles={angles}"
            )
        start, end = self.angles
        corners = self._extremes()
        super().__init__(coordinates, corners.min(axis=0), corners.max(axis=0))
        # Of the circles, relative to the centre of the domain.
        self.origin = tuple((np.array(self.center) - self.centre).tolist())
        both = self.inner, self.radius

        def part(text, radii, angles, side=0):
            return Polar(radii, angles, side, self, text)

        self.interior = part("the interior", both, self.angles)
        pieces = {"outer": part("the outer arc", (self.radius,) * 2, self.angles, 1)}
        if self.inner:
            pieces["inner"] = part("the inner arc", (self.inner,) * 2, self.angles, -1)
        if self.turn < 2 * math.pi:
            pieces["start"] = part("the first edge", both, (start, start), -1)
            pieces["end"] = part("the last edge", both, (end, end), 1)
        self.boundary = tuple(pieces.values())
        self.named = {name: (piece,) for name, piece in pieces.items()}

    def _extremes(self):
        """Return points that span the bounding box."""
        start, end = self.angles
        quarters = np.arange(math.ceil(start / (math.pi / 2)), end // (math.pi / 2) + 1)
        angles = np.array([start, end, *quarters * math.pi / 2])
        circle = np.stack([np.cos(angles), np.sin(angles)], axis=-1)
        rings = np.concatenate([self.radius * circle, self.inner * circle])
        return np.array(self.center) + rings

    def __str__(self):
        at = ", ".join(f"{c:g}" for c in self.center)
        return f"{type(self).__name__}(({at}), {self.inner:g} to {self.radius:g})"


class Annulus(Sector):
    """Ring between two circles, with the parts `"inner"` and `"outer"`.

    Args:
        center: Centre of the circles, two numbers, in the user's units.
        inner: The inner radius.
        outer: The outer radius.
        coordinates: Its two symbols. Leave them out if it is combined with a domain
            that has them.

    Raises:
        ValueError: If the radii are not positive and in order.

    Example:

    >>> x, y = sp.symbols("x y")
    >>> ring = keraspinn.geometry.Annulus((0, 0), 1, 2, coordinates=(x, y))
    >>> ((inner,),) = ring.blocks("inner")
    >>> ring.normals(inner, np.array([[0.0, 1.0]]))
    array([[-0., -1.]])
    """

    def __init__(
        self, center: Numbers, inner: Number, outer: Number, coordinates: Symbols = None
    ) -> None:
        radii = [positive_number("inner", inner), positive_number("outer", outer)]
        if radii[0] >= radii[1]:
            raise ValueError(
                "An annulus needs center, inner, outer in this order, as in "
                "Annulus((0, 0), 0.5, 1), with inner < outer. Received: "
                f"inner={inner}, outer={outer}"
            )
        super().__init__(center, radii[1], (0.0, 2 * math.pi), radii[0], coordinates)
        self._outer = self.radius
