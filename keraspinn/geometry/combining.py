"""What the operators between geometries do."""

from keraspinn.geometry.base import Geometry
from keraspinn.geometry.boolean import Difference, Intersection, Union
from keraspinn.geometry.intervals import names
from keraspinn.geometry.product import Product

_COMBINATIONS = {"+": Union, "-": Difference, "&": Intersection}


def combine(sign, first, second):
    """`first + second` and so on, in coordinates that both have.

    A shape without coordinates takes the other's. A shape in space stands, in a
    domain with time, for itself at all times.

    Raises:
        TypeError: If one of them is no geometry.
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
        first = first.with_coordinates(_as_many(second, first))
    if not second.has_coordinates and first.has_coordinates:
        second = second.with_coordinates(_as_many(first, second))
    if first.has_coordinates:
        if set(first.coordinates) > set(second.coordinates):
            across, rest = first.split(second.coordinates)
            return combine(sign, across, second) * rest
        if second.time_coordinate:
            raise ValueError(
                f"`{sign}` combines shapes in space. Received, as the second: "
                f"{second}, which holds time. Write (shape {sign} other) * time; or "
                f"shape * time {sign} other, where the other stands at all times."
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


def _as_many(owner, other):
    """As many of a geometry's coordinates of space as another one needs."""
    return owner.space_coordinates[: other.dimension]
