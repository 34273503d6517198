"""Selection of faces and portions by geometries, values and relations."""

import keras
import numpy as np
import sympy as sp
from sympy.logic.boolalg import Boolean

from keraspinn.common.checks import check_known
from keraspinn.expressions import Program
from keraspinn.expressions.program import columns as by_name
from keraspinn.geometry.arrays import columns_of, library, like
from keraspinn.geometry.checks import written
from keraspinn.geometry.part import TOLERANCE, quasi_random
from keraspinn.geometry.rejection import TEST_POINTS, portion

# Squared sine of the angle between normals, below which two boundaries coincide.
# Where they are only tangent within the tolerance, it is larger.
_PARALLEL = 1e-10


def lying_on(domain, other):
    """Return the block of a domain's boundary that lies on another geometry.

    If the domain was combined from the other geometry, select the remains of that
    geometry's boundary, such as the outer rim of a ring. Otherwise select all
    boundary points inside it.

    Raises:
        ValueError: If no point lies on it, or it has other coordinates.
    """
    operand, text = _find_operand(domain, other), f"on {other}"
    if operand is None:
        block = select(domain, domain.boundary, inside(domain, other), text)
    else:
        block = ()
        for part in domain.boundary:
            block += select(domain, (part,), _on_rim(domain, operand, part), text)
    if not block:
        raise ValueError(
            f"No part of the domain's boundary lies on {other}. {domain.advice()}"
        )
    return block


def _find_operand(domain, other):
    """Return the operand of a domain, at any depth, that equals another geometry.

    Subtracting a spatial hole from a shape with time gives a product, of the shape
    without the hole and of time. Then the hole with time counts as an operand.
    """
    if not other.boundary:
        return None
    for operand in domain.operands:
        match = operand if _same(operand, other) else _find_operand(operand, other)
        if match is not None:
            return match
    for factor in domain.operands if other.has_coordinates else ():
        if not set(factor.coordinates) < set(other.coordinates):
            continue
        try:
            _, rest = domain.split(factor.coordinates)
            across, along = other.split(factor.coordinates)
        except ValueError:  # one of them is not a product
            continue
        if _same(rest, along) and _find_operand(factor, across) is not None:
            return other
    return None


def _same(operand, other):
    if operand is other:
        return True
    if type(operand) is not type(other) or operand.dimension != other.dimension:
        return False
    both = operand, in_coordinates_of(operand, other)
    first, second = map(keras.saving.serialize_keras_object, both)
    return first == second


def in_coordinates_of(domain, other):
    """Return a geometry in a domain's coordinates if it has none itself."""
    if other.has_coordinates or not domain.has_coordinates:
        return other
    return other.with_coordinates(domain.space_coordinates[: other.dimension])


def inside(domain, other):
    """Return a predicate for points of a domain inside another geometry."""
    located = _located(domain, in_coordinates_of(domain, other))
    return lambda points: other.interior.contains(located(points))


def _on_rim(domain, operand, part):
    """Return a predicate for points of a part on an operand's boundary.

    Where the two are tangent, or meet at an angle, their normals differ.
    """
    located = _located(domain, operand)
    columns = [domain.space_coordinates.index(s) for s in operand.space_coordinates]

    def is_along(rim, points):
        lib, relative = library(points), located(points)
        try:
            with np.errstate(invalid="ignore"):  # no normal far from some rims
                normals = columns_of(part.normals(points), columns)
                rim_normals = rim.normals(relative)
        except ValueError:  # a cloud without normals
            return rim.contains(relative)
        cosine = lib.sum(normals * rim_normals, axis=-1, keepdims=True)
        sine = normals - cosine * rim_normals
        return rim.contains(relative) & (lib.sum(sine**2, axis=-1) < _PARALLEL)

    def keep(points):
        lib = library(points)
        along = [is_along(rim, points) for rim in operand.boundary]
        return lib.any(lib.stack(along), axis=0)

    return keep


def _located(domain, other):
    """Return a function from a domain's points to another geometry's columns."""
    check_known(str(other), other.coordinates, domain.coordinates, "coordinates")
    columns = [domain.coordinates.index(symbol) for symbol in other.coordinates]
    shift = domain.centre[columns] - other.centre
    return lambda points: columns_of(points, columns) + like(shift, points)


def at_values(domain, on):
    """Return the block of a domain's boundary at some values, or an empty one."""
    columns = [domain.coordinates.index(symbol) for symbol in on]
    relative = np.array([float(v) for v in on.values()]) - domain.centre[columns]
    margins = 2 * TOLERANCE * domain.half[columns]

    def keep(points):
        lib = library(points)
        apart = lib.abs(columns_of(points, columns) - like(relative, points))
        return lib.all(apart <= like(margins, points), axis=-1)

    text = ", ".join(f"{symbol.name} = {float(v):g}" for symbol, v in on.items())
    return select(domain, domain.boundary, keep, text)


def inside_at(domain, on):
    """Return the block of a domain's interior at some values, or an empty one."""
    from keraspinn.geometry.box import Box  # imports Geometry, which imports this

    around, inner = Box(domain.intervals), domain.interior.contains
    for face in around._at_values(on):
        if all(abs(position) < 1 for _, position in face.fixed):  # no tangent plane
            part = portion(domain, around, face, inner, sharp=True)
            return (part,) if part else ()
    return ()


def beyond(domain, on):
    """Explain which value lies outside a domain's bounding box, for a message."""
    for symbol, value in on.items():
        if symbol not in domain.intervals:
            text = f": the domain has no coordinate {symbol!r}"
            if str(symbol) in map(str, domain.coordinates):
                text += f". Write the same symbol {symbol}, with its assumptions"
            return text
        low, high = domain.intervals[symbol]
        if not low <= float(value) <= high:
            return f": {symbol} goes from {written(low)} to {written(high)}"
    return ""


def restricted(domain, block, where):
    """Restrict a block by a SymPy relation in the coordinates, or to a geometry.

    Raises:
        TypeError: If `where` is not a relation.
        ValueError: If it contains other symbols, or no point fulfils it.
    """
    from keraspinn.geometry.base import Geometry  # which calls this

    if isinstance(where, Geometry):
        keep, text = inside(domain, where), f"in {where}"
    else:
        keep, text = _holds(domain, where), f"where {where}"
    portions = select(domain, block, keep, text)
    if not portions:
        raise ValueError(
            f"No point of {' or '.join(map(str, block))} fulfils where={where}. "
            "Declare a thin part of the interior as a geometry, on=."
        )
    return portions


def select(domain, parts, keep, text):
    """Return the parts that a predicate keeps, whole or as portions."""
    portions = []
    for part in parts:
        points = np.asarray(part.sample(quasi_random(TEST_POINTS, domain.draws(part))))
        kept = np.asarray(keep(points))
        share = np.mean(kept) if np.sum(kept) > 1 else 0  # one point may be chance
        if share == 1:
            portions.append(part)
        elif share and part.pieces() != (part,):
            portions += select(domain, part.pieces(), keep, text)
        elif share:
            how = {"sharp": True, "text": f"{part} {text}"}
            portions.append(portion(domain, domain, part, keep, **how))
    return tuple(portions)


def _holds(domain, where):
    """Return a SymPy relation as a predicate on points relative to the centre."""
    if not isinstance(where, Boolean) or where.is_Symbol:
        raise TypeError(
            "`where` must be a SymPy relation in the coordinates, such as x > 0, or a "
            f"geometry. Received: {where!r}"
        )
    check_known("where", where.free_symbols, domain.coordinates, "coordinates")
    middles = dict(zip(domain.coordinates, map(sp.Float, domain.centre), strict=True))
    moved = where.xreplace({s: s + middle for s, middle in middles.items()})
    # Combine constants before float32 truncates them.
    moved = moved.replace(
        lambda node: isinstance(node, sp.Rel),
        lambda node: node.func(sp.expand(node.lhs - node.rhs), 0),
    )
    program = Program([sp.Piecewise((1, moved), (0, True))], domain.coordinates)

    def keep(points):
        run = program.on_host if isinstance(points, np.ndarray) else program
        (values,) = run(by_name(domain.coordinates, points), {})
        return values > 0.5

    return keep
