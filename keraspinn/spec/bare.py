"""Parts of the boundary on which nothing is said, though equations ask for it.

Finite elements take what is not said for an insulated wall. A network takes nothing for
it: beside such a part it learns any of many fields, and its loss is none the worse.
"""

import itertools

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef
from sympy.polys.matrices import DomainMatrix

from keraspinn import backend
from keraspinn.expressions import Parameter, Program
from keraspinn.expressions.derivatives import field_and_index
from keraspinn.expressions.image import At
from keraspinn.expressions.nodes import distinct_nodes
from keraspinn.geometry.arrays import on_host
from keraspinn.geometry.part import quasi_random
from keraspinn.spec.sampled import columns
from keraspinn.spec.terms import RESIDUAL

# Points of a part, the share of them that makes it bare, and those of them at which
# equations are looked at.
TRIED, BARE, LOOKED_AT = 512, 0.01, 3
# Of a coefficient's largest value inside, below which it vanishes on a part, as r does
# on an axis, and the inverse of which makes it infinite there.
VANISHING = 1e-9
GENERIC = 0.7  # what a field is where a coefficient depends on it
MANY = 8  # fields: a determinant of more takes too long
NAMED = 3  # parts, in words

_S = sp.Symbol("s")


def said_nothing_of(domain, terms):
    """What to say of parts of the boundary without a condition that is needed, or "".

    It is needed where the equations, as functions of the way across the part, are of an
    order of two or more together, unless another part has conditions enough for that
    order, as a wave's start has. Silent with `Data`, which may stand for conditions,
    and where there is no condition at all.

    Args:
        domain: The geometry.
        terms: Dict from names to `Term`s, hard ones included.
    """
    found = bare_parts(domain, terms)
    if not found:
        return ""
    places = [
        f"{domain.describe(part)}, as at ({', '.join(f'{c:.4g}' for c in point)})"
        for part, point in found[:NAMED]
    ]
    places += [f"{len(found) - NAMED} more"] * (len(found) > NAMED)
    return (
        f"A condition is missing on {' and on '.join(places)}: the equations need one "
        "there. Without it infinitely many fields solve them, and any of these may be "
        "learned. Saying nothing does not mean that nothing flows through, as in "
        "finite elements: declare that, keraspinn.Condition(keraspinn.normal_derivative"
        "(u, domain), on=...). What the network keeps by the way it is built may be "
        "declared too."
    )


def bare_parts(domain, terms):
    """Parts of the boundary on which a condition is missing, each with such a point."""
    held = [term for name, term in terms.items() if name != RESIDUAL]
    if not held or any(term.table is not None for term in held):
        return []
    places = [
        (len(term.expressions), part)
        for term in held
        for part in itertools.chain.from_iterable(term.blocks)
        if part is not domain.interior
    ]
    images = _images(held, domain)
    if images is None:
        return []
    places += [(0, part) for part in images]
    pieces = [piece for part in domain.boundary for piece in part.pieces()]
    counts = [_counts(domain, piece, places) for piece in pieces]
    most = max((np.median(count) for _, count in counts), default=0)
    found = []
    for piece, (points, count) in zip(pieces, counts, strict=True):
        bare = points[count < 0]
        if len(bare) > BARE * len(points):
            order = _order_across(domain, piece, bare[:LOOKED_AT], terms[RESIDUAL])
            if order > 1 and order > most:
                found.append((piece, on_host(domain.absolute(piece, bare[:1]))[0]))
    return found


def _images(held, domain):
    """Parts at whose points conditions take fields besides their own, or `None`."""
    found = []
    for image in set().union(*(e.atoms(At) for term in held for e in term.expressions)):
        place = dict(image.images)
        if not all(value.is_number for value in place.values()):
            return None  # anywhere
        try:
            found += domain.faces(place)
        except ValueError:  # in the interior
            continue
    return found


def _counts(domain, piece, places):
    """Points of a piece and how many equations hold at each, −1 where no condition."""
    draws = domain.draws(piece)
    uniform = quasi_random(TRIED, draws) if draws else np.zeros((1, 0))
    points = on_host(domain.sample(piece, uniform))
    count = np.full(len(points), -1)
    for number, part in places:
        is_here = part is piece or on_host(domain.contains(part, points))
        count += np.where(is_here, np.where(count < 0, number + 1, number), 0)
    return points, count


def _order_across(domain, piece, points, term):
    """Order of the equations as ordinary ones along the normal, at some points.

    It is the degree in s of the determinant of what they are of exp(s n·x): two for
    Laplace's, four for those of elasticity in the plane and for a beam's, two as well
    for a flux and its balance.
    """
    try:
        normals = on_host(domain.normals(piece, points))
        symbols, rows = _symbols(domain, term.expressions)
    except ValueError:  # no normal, or no derivative of the equation
        return 0
    inside = quasi_random(TRIED, domain.draws(domain.interior))
    inside = domain.absolute(domain.interior, domain.sample(domain.interior, inside))
    places = np.concatenate([on_host(domain.absolute(piece, points)), on_host(inside)])
    program = Program([slope for row in rows for *_, slope in row], symbols)
    filled = np.full((len(places), len(symbols)), GENERIC)
    filled[:, : domain.dimension] = places
    try:
        with backend.double_precision(), np.errstate(all="ignore"):
            slopes = program.on_host(columns(symbols, filled), {})
    except ValueError:
        return 0
    slopes = [np.broadcast_to(slope, len(places)) for slope in slopes]
    here = [_there(slope[: len(points)], slope[len(points) :]) for slope in slopes]
    orders = [
        _degree(rows, [slope[k] for slope in here], normals[k])
        for k in range(len(points))
    ]
    return max(orders)


def _symbols(domain, expressions):
    """Symbols of a program, and for each equation its derivatives: triples of a field,
    an index by the coordinates of space, and the equation's slope by it."""
    stand_ins, rows = {}, []
    spatial = [domain.coordinates.index(s) for s in domain.space_coordinates]
    for node in distinct_nodes(expressions):
        if isinstance(node, At):
            raise ValueError("It holds at more than one place at once.")
        if isinstance(node, Parameter):
            stand_ins[node] = sp.Float(node.initial or GENERIC)
        elif isinstance(node, (sp.Derivative, AppliedUndef)):
            stand_ins[node] = sp.Dummy(real=True)
    for expression in expressions:
        plain, row = expression.xreplace(stand_ins), []
        for node, stand_in in stand_ins.items():
            if isinstance(node, Parameter) or not plain.has(stand_in):
                continue
            field, index = field_and_index(node, domain.coordinates)
            own = tuple(index[column] for column in spatial)
            row.append((field, own, plain.diff(stand_in)))
        rows.append(row)
    dummies = [s for s in stand_ins.values() if s.is_Dummy]
    return [*domain.coordinates, *dummies], rows


def _there(slope, inside):
    """Values on a part: zero where they are rounding, not a number if infinite."""
    inside = inside[np.isfinite(inside)]
    size = np.max(np.abs(inside), initial=0.0)
    small = np.abs(slope) <= VANISHING * size
    large = np.abs(slope) * VANISHING > size
    return np.where(small, 0.0, np.where(large, np.nan, slope))


def _degree(rows, slopes, normal):
    """Degree of the determinant; 0 where an equation has no value."""
    if not np.isfinite(slopes).all() or not np.isfinite(normal).all():
        return 0
    along = [sp.Rational(float(n)).limit_denominator(1000) for n in normal]
    fields = sorted({field for row in rows for field, *_ in row})
    matrix, remaining = sp.zeros(len(rows), len(fields)), iter(slopes)
    for place, row in enumerate(rows):
        for field, index, _ in row:
            power = sp.Mul(*[n**count for n, count in zip(along, index, strict=True)])
            own = sp.Rational(float(next(remaining))) * power * _S ** sum(index)
            matrix[place, fields.index(field)] += own
    if matrix.is_square and len(fields) <= MANY:
        determinant = DomainMatrix.from_Matrix(matrix).convert_to(sp.QQ[_S]).det()
        if determinant:
            return sp.QQ[_S].to_sympy(determinant).as_poly(_S).degree()
    orders = [
        max((sp.degree(e, _S) for e in matrix[:, k] if e), default=0)
        for k in range(len(fields))
    ]
    return sum(orders) if max(orders) > 1 else 0
