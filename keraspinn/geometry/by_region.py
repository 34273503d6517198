"""Expressions with a branch for each region of a domain."""

from collections.abc import Mapping

import numpy as np
import sympy as sp

from keraspinn.geometry.base import Geometry
from keraspinn.geometry.boolean import Combination, Difference, Union
from keraspinn.geometry.box import Box
from keraspinn.geometry.faces import in_coordinates_of
from keraspinn.geometry.part import exact_number
from keraspinn.geometry.product import Product
from keraspinn.geometry.simplices import Simplices

MOST = 200  # triangles of a polygon, above which its relation takes too long


def by_region(values: Mapping[Geometry, sp.Expr]) -> sp.Piecewise:
    """Join expressions by region, such as the field of each material, into one.

    For `predict_expression`, `integrate`, plots and references. Where regions meet the
    first counts, and the last stands for all that is in none of the others.

    Args:
        values: Dict from geometries to SymPy expressions.

    Returns:
        A `sympy.Piecewise`.

    Raises:
        ValueError: If no formula is known for a geometry.

    Example:

    >>> x = sp.Symbol("x")
    >>> u1, u2 = (sp.Function(name)(x) for name in ("u1", "u2"))
    >>> left = keraspinn.geometry.Box({x: (0, 1)})
    >>> right = keraspinn.geometry.Box({x: (1, 3)})
    >>> keraspinn.by_region({left: u1, right: u2})
    Piecewise((u1(x), (x >= 0) & (x <= 1)), (u2(x), True))
    """
    *first, last = values.items()
    whole = next((g for g in values if g.has_coordinates), last[0])
    cases = [(u, relation(in_coordinates_of(whole, region))) for region, u in first]
    return sp.Piecewise(*cases, (last[1], True))


def relation(region):
    """Return the SymPy relation that holds in a geometry.

    Raises:
        ValueError: If no formula is known for it.
    """
    if isinstance(region, Box):
        ends = ((s, *map(exact_number, e)) for s, e in region.intervals.items())
        return sp.And(*(sp.And(s >= low, s <= high) for s, low, high in ends))
    if isinstance(region, (Combination, Product)):
        first, second = map(relation, region.operands)
        if isinstance(region, Difference):
            return sp.And(first, sp.Not(second))
        return (sp.Or if isinstance(region, Union) else sp.And)(first, second)
    try:
        if not isinstance(region.interior, Simplices):
            return sp.And(*(region.distance(part) >= 0 for part in region.boundary))
        if len(corners := region.interior.corners + region.centre) <= MOST:
            return sp.Or(*(_in_simplex(c, region.coordinates) for c in corners))
    except ValueError:  # no smooth function vanishes on a part alone
        pass
    raise ValueError(
        f"No short formula is known for {region}. Put it last, where it stands for the "
        "rest of the domain, or take the fields one by one."
    )


def _in_simplex(corners, symbols):
    """Return the relation that barycentric coordinates are not negative."""
    inverse = np.linalg.inv(np.vstack([corners.T, np.ones(len(corners))]))
    weights = sp.Matrix(inverse) * sp.Matrix([*symbols, 1])
    return sp.And(*(weight >= 0 for weight in weights))
