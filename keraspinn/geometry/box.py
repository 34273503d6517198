from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import sympy as sp

from keraspinn.common.checks import check_known
from keraspinn.expressions import from_json, to_json
from keraspinn.geometry.arrays import library, like
from keraspinn.geometry.base import Geometry
from keraspinn.geometry.checks import Intervals, checked_intervals, names, written
from keraspinn.geometry.part import TOLERANCE, Part, exact_number

_KINDS = "space", "time", "parameters"  # of coordinates, the arguments of a box


@dataclass(frozen=True)
class Slice(Part):
    """Part of a box with some coordinates fixed; the interior if none is.

    Args:
        half: The box's half extents.
        fixed: Pairs of a column and its position, from -1 at the lower end of the
            interval to 1 at the upper.
        spatial: Number of spatial coordinates, the first ones, which have a normal.
        text: Its name in messages.
    """

    half: tuple
    fixed: tuple
    spatial: int
    text: str = field(compare=False)

    @property
    def is_point(self):
        """True if every coordinate is fixed."""
        return len(self.fixed) == len(self.half)

    @property
    def is_curve(self):
        """True if one coordinate is free; one number then serves for all."""
        return len(self.half) - len(self.fixed) == 1

    def sample(self, uniform):
        """Sample points; free coordinates are linear in the uniform numbers."""
        origin, extent = -np.array(self.half), 2 * np.array(self.half)
        for column, position in self.fixed:
            origin[column], extent[column] = position * self.half[column], 0.0
        return like(origin, uniform) + uniform * like(extent, uniform)

    def contains(self, points):
        """Test which points lie here, with a tolerance for each coordinate."""
        lib = library(points)
        scaled = points / like(self.half, points)
        inside = lib.all(lib.abs(scaled) <= 1 + 2 * TOLERANCE, axis=-1)
        for column, position in self.fixed:
            inside = inside & (lib.abs(scaled[..., column] - position) <= 2 * TOLERANCE)
        return inside

    def normals(self, points):
        """Return the outward normal of a face; an inner one has none."""
        spatial = [(c, position) for c, position in self.fixed if c < self.spatial]
        if len(spatial) != 1 or abs(spatial[0][1]) != 1:
            return super().normals(points)
        ((column, position),) = spatial
        zeros = library(points).zeros_like(points[..., : self.spatial])
        return zeros + like(position * np.eye(self.spatial)[column], points)

    def measure(self):
        """Return the product of the extents that are not fixed."""
        fixed = [column for column, _ in self.fixed]
        return float(np.delete(2 * np.array(self.half), fixed).prod())

    def distance(self, coordinates, outside=False):
        """Return 1 ± ξ for a face, ξ from -1 to 1 over the interval; linear inside."""
        if len(self.fixed) != 1 or outside:
            return super().distance(coordinates, outside)
        ((column, position),) = self.fixed
        xi = coordinates[column] / exact_number(self.half[column])
        return 1 - xi if position == 1 else xi - exact_number(position)


class Box(Geometry):
    """Interval, rectangle or box of any dimension, with or without time.

    Args:
        space: Dict from each spatial coordinate, a SymPy symbol, to its interval
            `(start, end)`, in the units of the equations. Leave it out for ordinary
            differential equations in time alone.
        time: Optional dict of the same form with the time coordinate alone. Its start
            is the part `"initial"`; its two ends are not part of `"boundary"`.
        parameters: Optional dict of the same form with further coordinates, such as
            a Reynolds number, which have no boundary.
        periodic: The periodic spatial coordinates, one symbol or a list, which have no
            boundary.

    Attributes:
        coordinates: Symbols, time last: the columns of an array of points.

    Raises:
        TypeError: If a coordinate is not a SymPy symbol, or a name is no argument.
        ValueError: If an interval is empty, reversed or not finite, a coordinate is
            declared twice, there are two of time, or a periodic one is not of space.

    Example:

    >>> x, y, t = sp.symbols("x y t")
    >>> domain = keraspinn.geometry.Box({x: (-1, 1), y: (0, 2)}, time={t: (0, 1)})
    >>> domain.coordinates
    (x, y, t)
    """

    def __init__(
        self,
        space: Intervals | None = None,
        time: Intervals | None = None,
        parameters: Intervals | None = None,
        periodic: sp.Symbol | Sequence[sp.Symbol] = (),
        **others: Any,
    ) -> None:
        if others:
            raise TypeError(
                "A coordinate is a SymPy symbol, the key of a dict: write Box({x: (0, "
                f"1)}}) with x = sympy.Symbol('x'). Received: {others}"
            )
        self.space = checked_intervals({} if space is None else space, "space")
        self.parameters = checked_intervals(parameters or {}, "parameters")
        self.time = checked_intervals(time or {}, "time")
        self.periodic = (periodic,) if isinstance(periodic, sp.Symbol) else (*periodic,)
        declared = [*self.space, *self.parameters, *self.time]
        is_repeated = len(set(names(declared))) < len(declared)
        if not declared or is_repeated or len(self.time) > 1:
            raise ValueError(
                "A domain needs at least one coordinate, each declared once, and at "
                f"most one in `time`. Received: {names(declared)}"
            )
        check_known("periodic", self.periodic, self.space, "coordinates of space")
        intervals = self.space | self.parameters | self.time
        lower, upper = np.array(list(intervals.values())).T
        time = next(iter(self.time), None)
        super().__init__(self.space, lower, upper, self.parameters, time)
        self.interior = self._slice()
        columns = [k for k, s in enumerate(self.space) if s not in self.periodic]
        pairs = [(column, position) for column in columns for position in (-1.0, 1.0)]
        self.boundary = tuple(map(self._slice, pairs))
        if self.time:
            self.initial = self._slice((self.dimension - 1, -1.0))

    def _at_values(self, on):
        """Return the block of a face, inner face, edge or corner."""
        columns = [k for k, symbol in enumerate(self.coordinates) if symbol in on]
        positions = [self._position(k, on[self.coordinates[k]]) for k in columns]
        if None in positions:
            return ()
        return (self._slice(*zip(columns, positions, strict=True)),)

    def fixed(self, part):
        """Return (column, value) pairs that a part fixes, in the user's units."""
        return self._values(part.fixed) if isinstance(part, Slice) else ()

    def _values(self, fixed):
        ends = {-1.0: self.lower, 1.0: self.upper}
        return [(c, ends.get(p, self.centre + self.half * p)[c]) for c, p in fixed]

    def split(self, symbols):
        """Split into a box in some spatial coordinates and one in all others."""
        if not set(symbols) <= set(self.space) or set(symbols) & set(self.periodic):
            return super().split(symbols)
        inner = {s: ends for s, ends in self.space.items() if s in symbols}
        outer = {s: ends for s, ends in self.space.items() if s not in symbols}
        return Box(inner), Box(outer, self.time, self.parameters, self.periodic)

    def _position(self, column, value):
        """Scale a value to [-1, 1] over the interval; `None` outside."""
        position = float((float(value) - self.centre[column]) / self.half[column])
        if abs(abs(position) - 1) <= 2 * TOLERANCE:
            return float(np.sign(position))
        return position if abs(position) < 1 else None

    def _slice(self, *fixed):
        values = self._values(fixed)
        text = ", ".join(f"{self.coordinates[c]} = {written(v)}" for c, v in values)
        half, spatial = tuple(self.half.tolist()), len(self.space)
        return Slice(half, fixed, spatial, text or "the interior")

    def _face_words(self):
        pairs = [(s, e) for s, ends in (self.space | self.time).items() for e in ends]
        faces = [f"{{{symbol.name}: {written(end)}}}" for symbol, end in pairs]
        return [f"a face ({', '.join(faces)})"] if faces else []

    def __str__(self):
        pairs = [(s, ", ".join(map(written, e))) for s, e in self.intervals.items()]
        return " × ".join(f"{symbol} ∈ [{ends}]" for symbol, ends in pairs)

    def get_config(self):
        def saved(intervals):
            return [[to_json(symbol), *ends] for symbol, ends in intervals.items()]

        config = {kind: saved(getattr(self, kind)) for kind in _KINDS}
        return {**config, "periodic": [*map(to_json, self.periodic)]}

    @classmethod
    def from_config(cls, config):
        def intervals(saved):
            return {from_json(symbol): tuple(ends) for symbol, *ends in saved}

        arguments = {kind: intervals(config.get(kind, [])) for kind in _KINDS}
        return cls(**arguments, periodic=[*map(from_json, config.get("periodic", []))])
