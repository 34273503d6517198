"""Unions, differences and intersections of geometries, and their operators."""

import itertools
import warnings
from collections.abc import Callable

import numpy as np

from keraspinn.geometry.arrays import library, like
from keraspinn.geometry.base import Geometry
from keraspinn.geometry.checks import names
from keraspinn.geometry.faces import in_coordinates_of
from keraspinn.geometry.part import Part
from keraspinn.geometry.product import OfTwo, Product
from keraspinn.geometry.rejection import Kept, portion

# Offset at which both sides of a boundary are tested, relative to the half extents:
# above the tolerance of `contains`.
_OFFSET = 1e-5
# Share of a circle within the tolerance of a tangent line.
_CONTACT = 4e-3


class Combination(OfTwo, Geometry):
    """Base class of the combinations by `+`, `-` and `&`.

    A piece of either boundary bounds the combination if one of its sides is inside
    and the other outside. Sampled points decide this, so faces that touch or overlap
    need no special case.

    Args:
        first: A geometry.
        second: Another, of the same coordinates.
    """

    flips = False  # whether normals of the second boundary are reversed
    sharp = False  # whether the removed pieces of a boundary lie within the domain
    # Functions of the ends of both bounding boxes.
    _lowest: Callable = np.minimum
    _highest: Callable = np.maximum
    _make_interior: Callable

    def __init__(self, first: Geometry, second: Geometry) -> None:
        self.operands = (first, second)
        self._placed: dict = {}
        lower = self._lowest(first.lower, second.lower)
        super().__init__(first._space, lower, self._highest(first.upper, second.upper))
        self._shifts = [operand.centre - self.centre for operand in self.operands]
        self._step = _OFFSET * np.maximum(first.half, second.half)
        self.interior = self._make_interior()
        if self.interior is None:
            raise ValueError(f"Nothing is left: {self}.")
        for index, operand in enumerate(self.operands):
            kept = {part: self._piece(index, part) for part in operand.boundary}
            self.boundary += tuple(filter(None, kept.values()))
            for name, parts in operand.named.items():
                if named := tuple(kept[part] for part in parts if kept.get(part)):
                    self.named[name] = self.named.get(name, ()) + named

    def _inside(self, points):
        """Test which points, relative to the centre, are in the closed combination."""
        raise NotImplementedError

    def _in(self, index, points):
        operand = self.operands[index]
        return operand.interior.contains(points - like(self._shifts[index], points))

    def _on(self, index, points):
        """Test which points lie on the boundary of an operand."""
        relative = points - like(self._shifts[index], points)
        on_part = library(points).zeros_like(points[..., 0]) > 0
        for part in self.operands[index].boundary:
            on_part = on_part | part.contains(relative)
        return on_part

    def _portion(self, index, part, keep, **how):
        """Return the portion of an operand's part that a predicate keeps."""
        return portion(self, self.operands[index], part, keep, **how)

    def _piece(self, index, part):
        """Return the portion of a part that bounds the combination, or `None`."""
        flip = self.flips and index == 1

        def keep(points):
            normals = part.normals(points - like(self._shifts[index], points))
            step = normals * like(-self._step if flip else self._step, points)
            kept = self._inside(points - step) & ~self._inside(points + step)
            kept = kept & self._inside(points)
            if index == 1:  # pieces that both share belong to the first
                kept = kept & ~self._on(0, points)
            return kept

        piece = self._portion(index, part, keep, flip=flip, sharp=self.sharp)
        return None if self._only_touches(index, piece) else piece

    def _only_touches(self, index, piece):
        """Test whether a piece is only a point of tangency, blurred by round-off."""
        if not isinstance(piece, Kept) or piece.whole or piece.share > _CONTACT:
            return False
        points = piece.sample((np.arange(64)[:, None] + 0.5) / 64)
        return bool(np.asarray(self._on(1 - index, points)).all())

    def with_coordinates(self, symbols):
        """Return the same shape in other coordinates; cached, as it can be slow."""
        symbols = tuple(symbols)
        if symbols not in self._placed:
            operands = (o.with_coordinates(symbols) for o in self.operands)
            self._placed[symbols] = type(self)(*operands)
        return self._placed[symbols]

    def __str__(self):
        first, second = self.operands
        return f"({first} {self.sign} {second})"


class Difference(Combination):
    """Difference of two domains, `plate - hole`.

    Its boundary joins the remains of the first boundary and the part of the second
    inside the first. The normals of the latter point into the hole.

    Args:
        first: A geometry.
        second: The geometry to subtract.

    Raises:
        TypeError: By `-`, if one of them is not a geometry.
        ValueError: If nothing is left; by `-`, if they are in different coordinates.

    Example:

    >>> x, y = sp.symbols("x y")
    >>> hole = keraspinn.geometry.Disk(center=(0, 0), radius=0.5)
    >>> plate = keraspinn.geometry.Box({x: (-1, 1), y: (-1, 1)}) - hole
    >>> len(plate.boundary), round(plate.measure(plate.interior), 4)
    (5, 3.2146)
    """

    flips, sign = True, "-"
    _lowest = _highest = staticmethod(lambda first, second: first)

    def _inside(self, points):
        return self._in(0, points) & self._left(points)

    def _left(self, points):
        """Test which points are not subtracted; the rim of the hole stays."""
        return ~self._in(1, points) | self._on(1, points)

    def _make_interior(self):
        first, second = self.operands
        within = self._portion(1, second.interior, lambda points: self._in(0, points))
        how = {"is_cut": within is not None}
        if within is None:
            if self._portion(0, first.interior, lambda p: self._in(1, p)) is None:
                warnings.warn(
                    f"{second} takes nothing from {first}, which it does not meet. Are "
                    "both in the same units?",
                    stacklevel=6,
                )
        elif within.measure() == second.interior.measure():
            how["size"] = first.interior.measure() - within.measure()
        return self._portion(0, first.interior, self._left, **how)


class Intersection(Combination):
    """Intersection of two domains, `first & second`.

    Args:
        first: A geometry.
        second: Another, of the same coordinates.

    Raises:
        TypeError: By `&`, if one of them is not a geometry.
        ValueError: If they do not overlap; by `&`, if they are in different
            coordinates.

    Example:

    >>> x, y = sp.symbols("x y")
    >>> disk = keraspinn.geometry.Disk(center=(0, 0), radius=1)
    >>> half = disk & keraspinn.geometry.Box({x: (0, 1), y: (-1, 1)})
    >>> half.lower
    array([ 0., -1.])
    """

    sign, _lowest, _highest = "&", np.maximum, np.minimum

    def _inside(self, points):
        return self._in(0, points) & self._in(1, points)

    def _make_interior(self):
        sizes = [operand.interior.measure() for operand in self.operands]
        smaller = int(np.argmin(sizes))
        interior = self.operands[smaller].interior
        return self._portion(smaller, interior, lambda p: self._in(1 - smaller, p))


class Union(Combination):
    """Union of two domains, `first + second`.

    Args:
        first: A geometry.
        second: Another, of the same coordinates, apart or overlapping.

    Raises:
        TypeError: By `+`, if one of them is not a geometry.
        ValueError: By `+`, if they are in different coordinates.

    Example:

    >>> x, y = sp.symbols("x y")
    >>> left = keraspinn.geometry.Box({x: (0, 2), y: (0, 1)})
    >>> both = left + keraspinn.geometry.Box({x: (0, 1), y: (0, 2)})
    >>> round(both.measure(both.interior), 3)
    3.0
    """

    sign, sharp = "+", True

    def _inside(self, points):
        return self._in(0, points) | self._in(1, points)

    def _make_interior(self):
        first, second = self.operands
        parts = [self._portion(0, first.interior, self._inside)]
        if rest := self._portion(1, second.interior, lambda p: ~self._in(0, p)):
            parts.append(rest)
        return Mixture(parts, [self.draws(part) for part in parts], self._inside)


class Mixture(Part):
    """Parts that do not overlap, as one.

    Args:
        parts: The parts.
        draws: Numbers of uniform numbers that a point of each needs.
        contains: Predicate for points on any of them.
    """

    def __init__(self, parts, draws, contains):
        self._parts, self.contains = parts, contains
        self.text = " and ".join(dict.fromkeys(map(str, parts)))
        self._measures = [part.measure() for part in parts]
        self._starts = np.cumsum([0, *draws])
        self.draws = int(1 + self._starts[-1])

    def sample(self, uniform):
        """Sample a part by the first number, and its point by the others."""
        lib = library(uniform)
        ends = np.cumsum(self._measures) / sum(self._measures)
        choice, rest = uniform[..., :1], uniform[..., 1:]
        columns = zip(self._parts, itertools.pairwise(self._starts), strict=True)
        drawn = [part.sample(rest[..., start:end]) for part, (start, end) in columns]
        points = drawn[-1]
        for end, other in zip(ends[-2::-1], drawn[-2::-1], strict=True):
            points = lib.where(choice < like(end, uniform), other, points)
        return points

    def measure(self):
        """Return the sum of the parts' measures."""
        return sum(self._measures)


_COMBINATIONS = {"+": Union, "-": Difference, "&": Intersection}


def combine(sign, first, second):
    """Combine two geometries by `+`, `-`, `&` or `*`.

    A shape without coordinates takes the other's. A shape in space applies at all
    times of a domain with time.

    Raises:
        ValueError: If their coordinates do not fit.
    """
    if sign == "*":
        return Product(first, second)
    first, second = in_coordinates_of(second, first), in_coordinates_of(first, second)
    if first.has_coordinates:
        if set(first.coordinates) > set(second.coordinates):
            across, rest = first.split(second.coordinates)
            return combine(sign, across, second) * rest
        if second.time_coordinate or first.coordinates != second.coordinates:
            raise ValueError(
                f"`{sign}` combines shapes in the same coordinates of space, in the "
                f"same order. Received: {names(first.coordinates)} and "
                f"{names(second.coordinates)}. With time write (shape {sign} other) "
                f"* time; or shape * time {sign} other, where it applies at all times."
            )
    return _COMBINATIONS[sign](first, second)
