"""Parts of a boundary that are named by what they lie on, and not by themselves."""

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

_TRIED = 2**13


def lying_on(domain, other):
    """The block of what of a domain's boundary lies in another geometry.

    Raises:
        ValueError: If none of it does, or the other has coordinates of its own.
    """
    found = select(domain, domain.boundary, _inside(domain, other), f"on {other}")
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


def _inside(domain, other):
    """Whether points of a domain lie in another geometry, as a predicate."""
    if not other.has_coordinates:
        other = other.with_coordinates(domain.space_coordinates[: other.dimension])
    strange = [s for s in other.coordinates if s not in domain.coordinates]
    if strange:
        raise ValueError(
            f"`on` must be a geometry in the domain's coordinates, "
            f"{names(domain.coordinates)}. Received: {other}, in {names(strange)}"
        )
    columns = [domain.coordinates.index(symbol) for symbol in other.coordinates]
    shift = domain.centre[columns] - other.centre

    def keep(points):
        own = library(points).stack([points[..., c] for c in columns], axis=-1)
        return other.interior.contains(own + like(shift, points))

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


def select(domain, parts, keep, text):
    """What a predicate keeps of parts: whole parts as they are, portions of others."""
    found = []
    for part in parts:
        share = _share(domain, part, keep)
        if share == 1:
            found.append(part)
        elif share > 0 and part.pieces() != (part,):
            found += select(domain, part.pieces(), keep, text)
        elif share > 0:
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
