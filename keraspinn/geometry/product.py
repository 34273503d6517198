import itertools
from dataclasses import dataclass, field, replace

import keras
import numpy as np

from keraspinn.common import Registered, restored
from keraspinn.geometry.arrays import columns_of, library
from keraspinn.geometry.base import Geometry
from keraspinn.geometry.part import Part


@dataclass(unsafe_hash=True)
class ProductPart(Part):
    """Part of one domain for every point of a part of another.

    Args:
        parts: A part of each factor.
        product: The `Product`.

    Attributes:
        columns: The columns of each one's coordinates in the product's.
        facing: The index of the one that bounds the product; `None` if neither or both
            do.
    """

    parts: tuple
    product: "Product" = field(compare=False)

    def __post_init__(self):
        pairs = list(zip(self.product.operands, self.parts, strict=True))
        self._counts = [factor.draws(part) for factor, part in pairs]
        self.draws = sum(self._counts)
        self.is_point = all(part.is_point for part in self.parts)
        self.columns = self.product.columns
        bounding = [k for k, (f, part) in enumerate(pairs) if part is not f.interior]
        self.facing = bounding[0] if len(bounding) == 1 else None
        texts = [str(self.parts[k]) for k in bounding]
        self.text = ", ".join(texts) or "the interior"

    def pieces(self):
        """Return the products with pieces of the part that bounds."""
        if self.facing is None:
            return (self,)
        before, after = self.parts[: self.facing], self.parts[self.facing + 1 :]
        pieces = self.parts[self.facing].pieces()
        return tuple(replace(self, parts=(*before, p, *after)) for p in pieces)

    def sample(self, uniform):
        """Sample a point of each, from separate uniform numbers."""
        first, second = self.parts
        of_first = first.sample(uniform[..., : self._counts[0]])
        of_second = second.sample(uniform[..., self._counts[0] :])
        merged = library(uniform).concatenate([of_first, of_second], axis=-1)
        return columns_of(merged, np.argsort(np.concatenate(self.columns)).tolist())

    def contains(self, points):
        """Test which points lie on both."""
        pairs = zip(self.parts, self.columns, strict=True)
        on_first, on_second = (p.contains(columns_of(points, c)) for p, c in pairs)
        return on_first & on_second

    def normals(self, points):
        """Return the bounding part's normals, zero in the other's coordinates."""
        if self.facing is None:
            return super().normals(points)
        chosen = columns_of(points, self.columns[self.facing])
        normals = self.parts[self.facing].normals(chosen)
        others = len(self.product.space_coordinates) - normals.shape[-1]
        both = [normals, library(points).zeros_like(points[..., :others])]
        return library(points).concatenate(both if self.facing == 0 else both[::-1], -1)

    def measure(self):
        """Return the product of both."""
        return float(np.prod([part.measure() for part in self.parts]))

    def distance(self, coordinates, outside=False):
        """Return the distance of the part that bounds."""
        if self.facing is None:
            return super().distance(coordinates, outside)
        chosen = [coordinates[column] for column in self.columns[self.facing]]
        return self.parts[self.facing].distance(chosen, outside)


class OfTwo(Registered):
    """Mixin of objects that are made of two geometries, `operands`."""

    def get_config(self):
        first, second = map(keras.saving.serialize_keras_object, self.operands)
        return {"first": first, "second": second}

    @classmethod
    def from_config(cls, config):
        return cls(*(restored(config[name], Geometry) for name in ("first", "second")))


class Product(OfTwo, Geometry):
    """Cartesian product of two domains, `shape * time`.

    Examples are a shape and a time interval, a disk and an interval of height (a
    cylinder), a shape and a box of parameters.

    Args:
        first: A geometry.
        second: Another, in other coordinates.

    Raises:
        TypeError: By `*`, if one of them is not a geometry.
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
            names = ", ".join(sorted(str(s) for s in shared or times))
            raise ValueError(
                "The factors of a product must have different coordinates, and at most "
                f"one time. Received: {names} in {first} and {second}"
            )
        space = (*first.space_coordinates, *second.space_coordinates)
        unordered = (*first.coordinates, *second.coordinates)
        parameters = [s for s in unordered if s not in {*space, *times}]
        order = [*space, *parameters, *times]
        self.columns = [[*map(order.index, f.coordinates)] for f in self.operands]
        ends = first.intervals | second.intervals
        lower, upper = np.array([ends[symbol] for symbol in order]).T
        super().__init__(space, lower, upper, parameters, times[0] if times else None)
        self.periodic = (*first.periodic, *second.periodic)
        self.interior = ProductPart((first.interior, second.interior), self)
        self.boundary = self._each(lambda factor: factor.boundary)
        initials = self._each(lambda f: () if f.initial is None else (f.initial,))
        self.initial = initials[0] if initials else None
        for name in (*first.named, *second.named):
            self.named[name] = self._each(lambda f, name=name: f.named.get(name, ()))

    def _each(self, parts):
        """Return parts of either factor, for every point inside the other."""
        first, second = self.operands
        pairs = (
            *((part, second.interior) for part in parts(first)),
            *((first.interior, part) for part in parts(second)),
        )
        return tuple(ProductPart(pair, self) for pair in pairs)

    def _at_values(self, on):
        """Return the block of values in either factor, or in both."""
        chosen = []
        for factor in self.operands:
            values = {s: v for s, v in on.items() if s in factor.coordinates}
            chosen.append(factor.faces(values) if values else (factor.interior,))
        return tuple(ProductPart(pair, self) for pair in itertools.product(*chosen))

    def split(self, symbols):
        """Return the factor in some coordinates, and the other."""
        for factor, other in (self.operands, self.operands[::-1]):
            if set(factor.coordinates) == set(symbols):
                return factor, other
        return super().split(symbols)

    def __str__(self):
        return " × ".join(map(str, self.operands))
