from dataclasses import dataclass, field

import keras
import numpy as np

from keraspinn.common.configs import reading, restored
from keraspinn.geometry.arrays import columns_of, library
from keraspinn.geometry.base import Geometry
from keraspinn.geometry.part import Part


@dataclass(frozen=True)
class ProductPart(Part):
    """A part of one domain for every point of a part of another.

    Args:
        parts: The two parts.
        counts: How many uniform numbers a point of each needs.
        columns: The columns of each one's coordinates in the product's.
        spatial: The columns of each one's normal.
        whole: For each whether it is an interior, and bounds nothing.
    """

    parts: tuple
    counts: tuple = field(compare=False)
    columns: tuple = field(compare=False)
    spatial: tuple = field(compare=False)
    whole: tuple = field(compare=False)

    @property
    def draws(self):
        """Those of both."""
        return sum(self.counts)

    @property
    def is_point(self):
        """Whether both are."""
        return all(part.is_point for part in self.parts)

    def sample(self, uniform):
        """A point of each, from numbers of their own."""
        first, second = self.parts
        points = [
            first.sample(uniform[..., : self.counts[0]]),
            second.sample(uniform[..., self.counts[0] :]),
        ]
        return _side_by_side(points, self.columns)

    def contains(self, points):
        """Which points lie on both."""
        lib = library(points)
        on_first, on_second = (
            part.contains(columns_of(points, own))
            for part, own in zip(self.parts, self.columns, strict=True)
        )
        return lib.logical_and(on_first, on_second)

    def normals(self, points):
        """Those of the one that bounds, zero in the other's coordinates."""
        if self.whole.count(False) != 1:
            return super().normals(points)
        facing = self.whole.index(False)
        lib = library(points)
        normals = [
            part.normals(columns_of(points, own))
            if place == facing
            else lib.zeros_like(columns_of(points, own)[..., : len(spatial)])
            for place, (part, own, spatial) in enumerate(
                zip(self.parts, self.columns, self.spatial, strict=True)
            )
        ]
        return _side_by_side(normals, self.spatial)

    def measure(self):
        """The product of both."""
        return float(np.prod([part.measure() for part in self.parts]))

    def distance(self, coordinates, outside=False):
        """That of the one that bounds."""
        if self.whole.count(False) != 1:
            return super().distance(coordinates, outside)
        facing = self.whole.index(False)
        own = [coordinates[column] for column in self.columns[facing]]
        return self.parts[facing].distance(own, outside)

    def __str__(self):
        texts = [
            str(part)
            for part, whole in zip(self.parts, self.whole, strict=True)
            if not whole
        ]
        return ", ".join(texts) or "the interior"


@keras.saving.register_keras_serializable("keraspinn")
class Product(Geometry):
    """One domain for every point of another, `shape * time`.

    A shape and an interval of time, a disk and an interval of height (a cylinder), a
    shape and a box of parameters.

    Args:
        first: A geometry.
        second: Another, in other coordinates.

    Raises:
        TypeError: By `*`, if one of them is no geometry.
        ValueError: If both have a coordinate, both have time, or one has no
            coordinates.

    Example:

    >>> x, y, z, t = sp.symbols("x y z t")
    >>> disk = keraspinn.geometry.Disk((0, 0), radius=1, coordinates=(x, y))
    >>> rod = disk * keraspinn.geometry.Box({z: (0, 5)}, time={t: (0, 1)})
    >>> rod.coordinates, len(rod.boundary)
    ((x, y, z, t), 3)
    """

    def __init__(self, first: Geometry, second: Geometry) -> None:
        self.operands = (first, second)
        times = [f.time_coordinate for f in self.operands if f.time_coordinate]
        shared = set(first.coordinates) & set(second.coordinates)
        if shared or len(times) > 1:
            both = ", ".join(sorted(str(s) for s in shared or times))
            raise ValueError(
                "The factors of a product must have coordinates of their own, and one "
                f"time between them. Received: {both} in {first} and {second}"
            )
        space = (*first.space_coordinates, *second.space_coordinates)
        given = (*first.coordinates, *second.coordinates)
        known = {*space, *times}
        parameters = [symbol for symbol in given if symbol not in known]
        order = [*space, *parameters, *times]
        self._columns = tuple(
            tuple(order.index(symbol) for symbol in f.coordinates)
            for f in self.operands
        )
        self._spatial = tuple(
            tuple(space.index(symbol) for symbol in f.space_coordinates)
            for f in self.operands
        )
        places = [given.index(symbol) for symbol in order]
        lower = np.concatenate([first.lower, second.lower])[places]
        upper = np.concatenate([first.upper, second.upper])[places]
        super().__init__(space, lower, upper, parameters, times[0] if times else None)
        self.periodic = (*first.periodic, *second.periodic)
        self.interior = self._part(first.interior, second.interior)
        self.boundary = self._each(lambda factor: factor.boundary)
        starts = self._each(lambda f: () if f.initial is None else (f.initial,))
        self.initial = starts[0] if starts else None
        for name in (*first.named, *second.named):
            self.named[name] = self._each(lambda f, name=name: f.named.get(name, ()))

    def _each(self, parts):
        """Parts of either factor, for every point inside of the other."""
        first, second = self.operands
        return (
            *(self._part(part, second.interior) for part in parts(first)),
            *(self._part(first.interior, part) for part in parts(second)),
        )

    def _part(self, *parts):
        pairs = list(zip(self.operands, parts, strict=True))
        return ProductPart(
            parts,
            tuple(factor.draws(part) for factor, part in pairs),
            self._columns,
            self._spatial,
            tuple(part is factor.interior for factor, part in pairs),
        )

    def faces(self, on):
        """The block of values in either factor, or in both."""
        chosen = []
        for factor in self.operands:
            own = {s: v for s, v in on.items() if s in factor.coordinates}
            chosen.append(factor.faces(own) if own else (factor.interior,))
        if not set(on) <= set(self.coordinates):
            return super().faces(on)
        return tuple(self._part(a, b) for a in chosen[0] for b in chosen[1])

    def split(self, symbols):
        """The factor in the given coordinates, and the other."""
        for own, other in (self.operands, self.operands[::-1]):
            if set(own.coordinates) == set(symbols):
                return own, other
        return super().split(symbols)

    def __str__(self):
        return " × ".join(map(str, self.operands))

    def _latex(self):
        return r" \quad ".join(operand._latex() for operand in self.operands)

    def get_config(self):
        first, second = map(keras.saving.serialize_keras_object, self.operands)
        return {"first": first, "second": second}

    @classmethod
    @reading
    def from_config(cls, config):
        return cls(
            restored(config["first"], Geometry), restored(config["second"], Geometry)
        )


def _side_by_side(arrays, columns):
    """Columns of several arrays, each put where it belongs."""
    placed = {
        column: array[..., place]
        for array, own in zip(arrays, columns, strict=True)
        for place, column in enumerate(own)
    }
    return library(arrays[0]).stack([placed[c] for c in sorted(placed)], axis=-1)
