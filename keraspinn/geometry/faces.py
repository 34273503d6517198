"""Parts of a boundary that are named by what they lie on, and not by themselves."""

import functools
import itertools

import keras
import numpy as np
import sympy as sp
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from keraspinn.expressions import Program
from keraspinn.geometry.arrays import columns_of, library, like, on_host
from keraspinn.geometry.intervals import names, written
from keraspinn.geometry.part import TOLERANCE, quasi_random
from keraspinn.geometry.rejection import portion

_TRIED = 2**13
_PARALLEL = 1e-10
"""The squared sine of the angle between normals, below which two boundaries are one.
Where they are only tangent, and so within the tolerance, it is larger."""


def lying_on(domain, other):
    """The block of what of a domain's boundary lies on another geometry.

    Of one that the domain is made of that is what is left of its own boundary: the
    outer rim of a ring, which is one disk without another. Of any other it is what
    lies in it.

    Raises:
        ValueError: If none of it does, or the other has coordinates of its own.
    """
    operand, text = _made_of(domain, other), f"on {other}"
    if operand is None:
        found = select(domain, domain.boundary, _inside(domain, other), text)
    else:
        keep = _on_rim(domain, operand)
        each = (select(domain, (p,), keep(p), text) for p in domain.boundary)
        found = tuple(itertools.chain.from_iterable(each))
    if not found:
        raise ValueError(
            f"No part of the domain's boundary lies on {other}. {domain.advice()}"
        )
    return found


def within(domain, other):
    """The block of what of a domain lies in another geometry, else of its boundary.

    Raises:
        ValueError: If nothing does, or the other has coordinates of its own.
    """
    keep = _inside(domain, other)
    found = select(domain, (domain.interior,), keep, f"in {other}")
    return found or lying_on(domain, other)


def _made_of(domain, other):
    """Of a domain's operands, and theirs, the one that another geometry is, or `None`.

    A hole in space that is taken from a shape with time leaves a product, of the shape
    without the hole and of time: such a shape is itself what the domain is made of.
    """
    if not other.boundary:
        return None
    for operand in domain.operands:
        found = operand if _same(operand, other) else _made_of(operand, other)
        if found is not None:
            return found
    for own in domain.operands if other.has_coordinates else ():
        if not set(own.coordinates) < set(other.coordinates):
            continue
        try:
            (_, rest), (across, along) = (
                geometry.split(own.coordinates) for geometry in (domain, other)
            )
        except ValueError:  # one of them is no product
            continue
        if _same(rest, along) and _made_of(own, across) is not None:
            return other
    return None


def _same(operand, other):
    if operand is other:
        return True
    if type(operand) is not type(other) or operand.dimension != other.dimension:
        return False
    both = operand, _in_coordinates_of(operand, other)
    first, second = map(keras.saving.serialize_keras_object, both)
    return first == second


def _in_coordinates_of(domain, other):
    """A geometry that has no coordinates yet, in those of a domain that has."""
    if other.has_coordinates or not domain.has_coordinates:
        return other
    return other.with_coordinates(domain.space_coordinates[: other.dimension])


def _inside(domain, other):
    """Whether points of a domain lie in another geometry, as a predicate."""
    located = _located(domain, _in_coordinates_of(domain, other))
    return lambda points: other.interior.contains(located(points))


def _on_rim(domain, operand):
    """Whether points of a part lie along an operand's boundary: a predicate for each.

    Where the two are tangent, or meet at an angle, their normals differ.
    """
    located = _located(domain, operand)
    columns = [domain.space_coordinates.index(s) for s in operand.space_coordinates]

    def is_along(rim, part, points):
        lib, own = library(points), located(points)
        try:
            with np.errstate(invalid="ignore"):  # far from a rim it may have no normal
                mine = columns_of(part.normals(points), columns)
                its = rim.normals(own)
        except ValueError:  # a cloud without normals
            return rim.contains(own)
        sine = mine - lib.sum(mine * its, axis=-1, keepdims=True) * its
        is_parallel = lib.sum(sine**2, axis=-1) < _PARALLEL
        return lib.logical_and(rim.contains(own), is_parallel)

    def on_rim_of(part):
        def keep(points):
            along = [is_along(rim, part, points) for rim in operand.boundary]
            return functools.reduce(library(points).logical_or, along)

        return keep

    return on_rim_of


def _located(domain, other):
    """Function from a domain's points to another geometry's, in some of its columns."""
    strange = [s for s in other.coordinates if s not in domain.coordinates]
    if strange:
        raise ValueError(
            f"`on` must be a geometry in the domain's coordinates, "
            f"{names(domain.coordinates)}. Received: {other}, in {names(strange)}"
        )
    columns = [domain.coordinates.index(symbol) for symbol in other.coordinates]
    shift = domain.centre[columns] - other.centre
    return lambda points: columns_of(points, columns) + like(shift, points)


def at_values(domain, on):
    """The block of what of a domain's boundary lies at given values, or nothing."""
    if not set(on) <= set(domain.coordinates):
        return ()
    columns = [domain.coordinates.index(symbol) for symbol in on]
    places = np.array([float(value) for value in on.values()])
    relative = places - domain.centre[columns]

    def keep(points):
        lib = library(points)
        kept = None
        for column, place in zip(columns, relative, strict=True):
            margin = 2 * TOLERANCE * domain.half[column]
            near = lib.abs(points[..., column] - float(place)) <= float(margin)
            kept = near if kept is None else lib.logical_and(kept, near)
        return kept

    text = ", ".join(f"{symbol.name} = {float(v):g}" for symbol, v in on.items())
    return select(domain, domain.boundary, keep, text)


def inside_at(domain, on):
    """The block of what of a domain's interior lies at given values, or nothing."""
    from keraspinn.geometry.box import Box  # which is a geometry itself

    ends = zip(domain.lower.tolist(), domain.upper.tolist(), strict=True)
    around = Box(dict(zip(domain.coordinates, ends, strict=True)))
    try:
        (face,) = around.faces(on)
    except ValueError:  # outside
        return ()
    if any(abs(place) == 1 for _, place in face.fixed):  # where a shape is touched
        return ()
    draws, shift = around.draws(face), around.centre - domain.centre
    inner = portion(face, domain.interior.contains, draws, shift, sharp=True)
    return (inner,) if inner else ()


def beyond(domain, on):
    """What of given values lies outside of a domain's bounding box, for a message."""
    for symbol, value in on.items():
        if symbol not in domain.coordinates:
            return f": the domain has no coordinate {symbol}"
        column = domain.coordinates.index(symbol)
        low, high = domain.lower[column], domain.upper[column]
        if not low <= float(value) <= high:
            return f": {symbol} goes from {written(low)} to {written(high)}"
    return ""


def restricted(domain, block, where):
    """A block, restricted by a SymPy relation in the coordinates.

    Raises:
        TypeError: If `where` is no relation.
        ValueError: If it holds other symbols, or nothing fulfils it.
    """
    if not isinstance(where, Boolean) or where.is_Symbol:
        raise TypeError(
            "`where` must be a SymPy relation in the coordinates, such as x > 0. "
            f"Received: {where!r}"
        )
    strange = where.free_symbols - set(domain.coordinates)
    if strange:
        raise ValueError(
            f"`where` must be a relation in {names(domain.coordinates)} alone. "
            f"Received: {where}, which holds {sorted(map(str, strange))}"
        )
    found = select(domain, block, _holds(domain, where), f"where {where}")
    if not found:
        raise ValueError(
            f"No point of {' or '.join(map(str, block))} fulfils where={where}."
        )
    return found


def select(domain, parts, keep, text):
    """What a predicate keeps of parts: whole parts as they are, portions of others."""
    found = []
    for part in parts:
        share = _share(domain, part, keep)
        if share == 1:
            found.append(part)
        elif share and part.pieces() != (part,):
            found += select(domain, part.pieces(), keep, text)
        elif share:
            how = {"sharp": True, "text": f"{part} {text}"}
            found.append(portion(part, keep, domain.draws(part), **how))
    return tuple(found)


def _share(domain, part, keep):
    points = on_host(part.sample(quasi_random(_TRIED, domain.draws(part))))
    return np.mean(on_host(keep(points)))


def _holds(domain, where):
    """The relation as a predicate on points relative to the centre."""
    middles = dict(zip(domain.coordinates, map(sp.Float, domain.centre), strict=True))
    moved = where.xreplace({s: s + middle for s, middle in middles.items()})
    # Constants are taken together while they have all their digits.
    moved = moved.replace(
        lambda node: isinstance(node, Relational),
        lambda node: node.func(sp.expand(node.lhs - node.rhs), 0),
    )
    indicator = sp.Piecewise((1, moved), (0, True))
    program = Program([indicator], domain.coordinates)

    def keep(points):
        columns = {
            symbol.name: points[..., column]
            for column, symbol in enumerate(domain.coordinates)
        }
        run = program.on_host if isinstance(points, np.ndarray) else program
        (values,) = run(columns, {})
        return values > 0.5

    return keep
