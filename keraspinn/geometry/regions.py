"""Regions of a domain, and the interfaces between them."""

import numpy as np

from keraspinn.geometry.arrays import library, like
from keraspinn.geometry.base import Geometry
from keraspinn.geometry.faces import in_coordinates_of, inside, lying_on, select
from keraspinn.geometry.part import Block
from keraspinn.geometry.product import OfTwo
from keraspinn.geometry.rejection import portion

STEP = 1e-4  # across an interface, of the smaller region's half extents


def region(domain: Geometry, other: Geometry) -> Block:
    """Return the part of a domain's interior that lies in another geometry, as a block.

    Raises:
        ValueError: If the two have no interior in common.
    """
    if block := _common(domain, other):
        return block
    raise ValueError(
        f"No part of the domain, {domain}, lies in {other}. A region must be a "
        "geometry within the domain, in its coordinates and units."
    )


def within(domain: Geometry, other: Geometry) -> Block:
    """Return the block of a domain inside another geometry, else of its boundary.

    Raises:
        ValueError: If nothing does, or the other has coordinates of its own.
    """
    return _common(domain, other) or lying_on(domain, other)


def _common(domain, other):
    whole, text = _extended(domain, other), f"the interior in {other}"
    if whole is not None:
        keep = domain.interior.contains
        part = portion(domain, whole, whole.interior, keep, text=text)
        if part is None or part.whole:  # drawn as the other draws it
            return (part,) if part else ()
    return select(domain, (domain.interior,), inside(domain, other), f"in {other}")


def _extended(domain, other):
    """Return a geometry at all values of the coordinates that it lacks, or `None`."""
    other = in_coordinates_of(domain, other)
    if set(other.coordinates) < set(domain.coordinates):
        try:
            other = other * domain.split(other.coordinates)[1]
        except ValueError:  # the domain is no product
            return None
    return other if other.coordinates == domain.coordinates else None


class Interface(OfTwo):
    """The common boundary of two regions, with the outward normal of the first.

    It stands in `on=` of a `Condition`: `on=keraspinn.geometry.Interface(A, B)`.

    Args:
        first: A geometry, whose outward normal the interface has.
        second: The geometry on the other side.

    Raises:
        ValueError: By a `Problem`, if the two have no common boundary in the domain.

    Example:

    >>> x, y = sp.symbols("x y")
    >>> left, right = (keraspinn.geometry.Box({x: e}) for e in ((0, 1), (1, 2)))
    >>> print(keraspinn.geometry.Interface(left, right))
    the interface of x ∈ [0, 1] and x ∈ [1, 2]
    """

    def __init__(self, first: Geometry, second: Geometry) -> None:
        self.operands = first, second

    def block(self, domain: Geometry) -> Block:
        """Return the parts of the first boundary that face the second region.

        Args:
            domain: The geometry that holds both.

        Raises:
            ValueError: If there are none.
        """
        one, two = self.operands
        first, second = _extended(domain, one), _extended(domain, two)
        if first is None or second is None:
            raise ValueError(
                f"The regions of an interface must be in the domain's coordinates, "
                f"{domain.coordinates}. Received: {one} and {two}"
            )
        (other,) = region(domain, second)
        shift, space = first.centre - domain.centre, len(domain.space_coordinates)
        step = STEP * np.minimum(first.half, second.half)

        def facing_piece(part):
            def faces_the_other(points):
                normals = part.normals(points - like(shift, points))
                moved = points[..., :space] + normals * like(step[:space], points)
                rest = points[..., space:]
                moved = library(points).concatenate([moved, rest], axis=-1)
                return other.contains(points) & other.contains(moved)

            return portion(domain, first, part, faces_the_other, text=str(self))

        block = tuple(filter(None, map(facing_piece, first.boundary)))
        if not block:
            raise ValueError(
                f"{one} and {two} have no common boundary. The regions "
                "of an interface must touch."
            )
        return block

    def __str__(self):
        return f"the interface of {' and '.join(map(str, self.operands))}"

    def __repr__(self):
        return f"Interface{self.operands!r}"
