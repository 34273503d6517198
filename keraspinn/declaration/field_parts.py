"""Parts of a domain where fields live, such as a temperature for each material."""

from types import MappingProxyType

import numpy as np
import sympy as sp

from keraspinn.declaration.probe_points import probe_normals, probe_points
from keraspinn.declaration.terms import LARGEST_SHARE, RESIDUAL, is_on
from keraspinn.expressions import At, fields_of, required_derivatives

# Points that measure the extents of a part.
EXTENT_POINTS = 4096
# Smallest extents of a part, relative to the domain's.
SMALLEST_EXTENT = 1e-9
# Distance from a face to its two sides, relative to the domain's half extents.
STEP = 1e-5


def field_terms(domain, terms, names):
    """Return the equation terms on whose parts each field lives, tuples by name.

    A field lives where equations differentiate it; if none does, where any mention it.
    The tuple is empty for a field that lives in all of the domain.

    Args:
        domain: The geometry.
        terms: Dict from names to `Term`s.
        names: Names of the fields.
    """
    equations = [term for term in terms.values() if term.is_equation]
    interior, fields = domain.blocks("interior"), {}
    for name in names:
        homes = [t for t in equations if _differentiates(t, name, domain)]
        homes = homes or [t for t in equations if name in fields_of(t.expressions)]
        is_whole = any(t.is_energy or t.blocks == interior for t in homes)
        fields[name] = () if is_whole else tuple(homes)
    return fields


def attributes_of(domain, conditions, terms, names):
    """Return the attributes of a `Problem` that follow from its domain and terms.

    Args:
        domain, terms, names: As for `field_terms`.
        conditions: Dict from names to `Condition` and `Data`.
    """
    homes = field_terms(domain, terms, names).items()
    owners = {name: tuple(t.name for t in home) or (RESIDUAL,) for name, home in homes}
    return {
        "domain": domain,
        "conditions": MappingProxyType(conditions),
        "terms": MappingProxyType({n: t for n, t in terms.items() if not t.hard}),
        "field_parts": MappingProxyType(parts_of_fields(domain, terms, names)),
        "field_terms": MappingProxyType(owners),
        "all_terms": terms,
    }


def parts_of_fields(domain, terms, names):
    """Return the block where each field lives, by name; `None` is all of the domain.

    Args:
        domain, terms, names: As for `field_terms`.
    """
    homes = field_terms(domain, terms, names).items()
    return {n: tuple(p for t in home for p in t.parts) or None for n, home in homes}


def extents_of(domain, block):
    """Return centre and half extents of the box about a block, `(d,)` each.

    Args:
        domain: The geometry.
        block: Tuple of its parts, or `None` for all of it.
    """
    if block is None:
        return domain.centre, domain.half
    points = probe_points(domain, (block,), EXTENT_POINTS)
    low, high = points.min(axis=0), points.max(axis=0)
    return (low + high) / 2, np.maximum(high - low, SMALLEST_EXTENT * domain.half) / 2


def lives_at(domain, parts, expression, points):
    """Return where an expression's fields live, a mask of points `(n, d)` or True.

    A Piecewise tells itself which field it takes where.

    Args:
        domain: The geometry.
        parts: As `parts_of_fields` returns them.
        expression: A normalized SymPy expression.
        points: Array, in the user's units.
    """
    if expression.has(sp.Piecewise):
        return True
    blocks = filter(None, map(parts.get, fields_of([expression])))
    masks = [is_on(domain, block, points - domain.centre) for block in blocks]
    return np.all(masks, axis=0)


def check_field_parts(domain, terms, names):
    """Raise `ValueError` if a term takes a field outside of the part where it lives.

    Args:
        domain, terms, names: As for `field_terms`.
    """
    blocks = parts_of_fields(domain, terms, names)
    for term in terms.values():
        fields = [name for name in fields_of(term.expressions) if blocks[name]]
        if not fields or any(e.has(At) for e in term.expressions):
            continue
        sides = _sides(domain, term)
        for name in fields:
            masks = [is_on(domain, blocks[name], p - domain.centre) for p in sides]
            inside = np.any(masks, axis=0)
            if np.mean(~inside) > LARGEST_SHARE:
                where = ", ".join(map(str, blocks[name]))
                raise ValueError(
                    f"'{term.names[0]}' takes {name} where it does not live: its "
                    f"equations hold on {where} alone. Received: a point at "
                    f"{sides[0][inside.argmin()]}. Write the field that lives there, "
                    "or restrict the condition to the same part, where=..., a geometry."
                )


def _sides(domain, term):
    """Return the points of a term, and those on either side of a face."""
    points = term.points(domain)
    try:
        normals = probe_normals(domain, term.blocks)
    except ValueError:  # inside, at a time, or no blocks of measured points
        return [points]
    step = np.zeros_like(points)
    space = [domain.coordinates.index(s) for s in domain.space_coordinates]
    step[:, space] = STEP * domain.half[space] * normals
    return [points, points + step, points - step]


def _differentiates(term, name, domain):
    needed = required_derivatives(term.expressions, domain.coordinates)
    return any(map(any, needed.get(name, ())))
