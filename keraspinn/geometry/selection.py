"""Parts of a boundary that are named by what they lie on, and not by themselves."""

import functools

import keras
import numpy as np
import sympy as sp
from keras import ops
from sympy.core.relational import Relational
from sympy.logic.boolalg import Boolean

from keraspinn.expressions import Program
from keraspinn.geometry.arrays import library, like, on_host
from keraspinn.geometry.intervals import names
from keraspinn.geometry.kept import portion
from keraspinn.geometry.part import TOLERANCE, quasi_random

CONTACT = 4e-3
"""The share of a circle that is within the tolerance of a line that touches it."""
_TRIED = 2**13


def lying_on(domain, other):
    """The block of what of a domain's boundary lies on another geometry.

    Of one that the domain is made of that is what is left of its own boundary: the
    outer rim of a ring, which is one disk without another. Of any other it is what
    lies in it.

    Raises:
        ValueError: If none of it does, or the other has coordinates of its own.
    """
    if _is_made_of(domain, other):
        keep, least = _on_rim(domain, other), CONTACT
    else:
        keep, least = _inside(domain, other), 0
    found = select(domain, domain.boundary, keep, f"on {other}", least)
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


def _is_made_of(domain, other):
    """Whether a geometry with a boundary is among a domain's operands, or theirs."""
    return bool(other.boundary) and any(
        _same(operand, other) or _is_made_of(operand, other)
        for operand in domain.operands
    )


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
    return _among(domain, other, lambda other: (other.interior,))


def _on_rim(domain, other):
    """Whether points of a domain lie on another's boundary, as a predicate."""
    return _among(domain, other, lambda other: other.boundary)


def _among(domain, other, parts):
    """Whether points of a domain lie in some of another geometry's parts."""
    other = _in_coordinates_of(domain, other)
    strange = [s for s in other.coordinates if s not in domain.coordinates]
    if strange:
        raise ValueError(
            f"`on` must be a geometry in the domain's coordinates, "
            f"{names(domain.coordinates)}. Received: {other}, in {names(strange)}"
        )
    columns = [domain.coordinates.index(symbol) for symbol in other.coordinates]
    shift = domain.centre[columns] - other.centre

    def keep(points):
        lib = library(points)
        own = lib.stack([points[..., c] for c in columns], axis=-1)
        own = own + like(shift, points)
        return functools.reduce(
            lib.logical_or, (part.contains(own) for part in parts(other))
        )

    return keep


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


def select(domain, parts, keep, text, least=0):
    """What a predicate keeps of parts: whole parts as they are, portions of others.

    Of which no more than `least` is kept, as a share of its points, is left out.
    """
    found = []
    for part in parts:
        share = _share(domain, part, keep)
        if share == 1:
            found.append(part)
        elif share > least and part.pieces() != (part,):
            found += select(domain, part.pieces(), keep, text, least)
        elif share > least:
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
            symbol.name: ops.convert_to_tensor(points[..., column])
            for column, symbol in enumerate(domain.coordinates)
        }
        (values,) = program(columns, {})
        held = values > 0.5
        return on_host(held) if isinstance(points, np.ndarray) else held

    return keep
