"""Operators between geometries."""

from keraspinn.geometry.base import Geometry
from keraspinn.geometry.boolean import Difference, Intersection, Union
from keraspinn.geometry.intervals import names
from keraspinn.geometry.product import Product

_COMBINATIONS = {"+": Union, "-": Difference, "&": Intersection}


def combine(sign, first, second):
    """Combine two geometries by `+`, `-`, `&` or `*`.

    A shape without coordinates takes the other's. A shape in space applies at all
    times of a domain with time.

    Raises:
        TypeError: If one of them is not a geometry.
        ValueError: If their coordinates do not fit.
    """
    for operand in (first, second):
        if not isinstance(operand, Geometry):
            raise TypeError(
                f"`{sign}` combines two geometries. Received: {operand!r} of type "
                f"{type(operand).__name__}"
            )
    if sign == "*":
        return Product(first, second)
    if not first.has_coordinates and second.has_coordinates:
        first = first.with_coordinates(_matching_coordinates(second, first))
    if not second.has_coordinates and first.has_coordinates:
        second = second.with_coordinates(_matching_coordinates(first, second))
    if first.has_coordinates:
        if set(first.coordinates) > set(second.coordinates):
            across, rest = first.split(second.coordinates)
            return combine(sign, across, second) * rest
        if second.time_coordinate:
            raise ValueError(
                f"`{sign}` combines shapes in space. Received, as the second: "
                f"{second}, which holds time. Write (shape {sign} other) * time; or "
                f"shape * time {sign} other, where the other applies at all times."
            )
        if first.coordinates != second.coordinates:
            raise ValueError(
                f"`{sign}` combines shapes in the same coordinates of space, in the "
                f"same order. Received: {names(first.coordinates)} and "
                f"{names(second.coordinates)}"
            )
    elif first.dimension != second.dimension:
        raise ValueError(
            f"`{sign}` combines shapes of one dimension. Received: {first} and {second}"
        )
    return _COMBINATIONS[sign](first, second)


def _matching_coordinates(owner, other):
    """Return as many spatial coordinates of a geometry as another one needs."""
    return owner.space_coordinates[: other.dimension]
