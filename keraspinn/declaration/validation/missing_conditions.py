"""Parts of the boundary, and starts, of which too little is said for the equations.

Finite elements take what is not said for an insulated wall. A network takes nothing for
it: beside such a part it learns any of many fields, and its loss is none the worse.
"""

import itertools

import numpy as np
import sympy as sp

from keraspinn.declaration.probe_points import sampled, values_at
from keraspinn.declaration.terms import (
    RESIDUAL,
    fields_of_fewer_coordinates,
    lack_of_normals,
)
from keraspinn.declaration.validation.equations import short
from keraspinn.declaration.validation.normal_order import Across
from keraspinn.expressions import Parameter, required_derivatives
from keraspinn.expressions.image import At
from keraspinn.geometry.arrays import on_host
from keraspinn.geometry.intervals import written
from keraspinn.geometry.part import quasi_random

# Points of a part; the share of them that makes it bare: who leaves out a corner means
# it; and at how many of these the equations are looked at.
TRIED, BARE, LOOKED_AT = 512, 0.05, 3
NAMED, FEW = 3, 4  # parts, in words; points that tell a moment


def said_nothing_of(domain, terms):
    """What to say of parts of the boundary without a condition that is needed, or "".

    It is needed where the equations, as functions of the way across the part, are of an
    order of two or more together, unless another part has conditions enough for that
    order, as a wave's start has. Silent with `Data`, which may stand for conditions,
    where there is no condition at all, and where all is carried along in time.

    Args:
        domain: The geometry.
        terms: Dict from names to `Term`s, hard ones included.
    """
    found = bare_parts(domain, terms)
    if not found:
        return _nothing_of_the_start(domain, terms)
    places = []
    for part, share, point in found[:NAMED]:
        pairs = zip(domain.coordinates, point, strict=True)
        near = ", ".join(f"{symbol} = {written(value)}" for symbol, value in pairs)
        of = "" if share == 1 else f"{share:.0%} of "
        places.append(f"{of}{part} (at {near})")
    places += [f"{len(found) - NAMED} more"] * (len(found) > NAMED)
    or_else = ", or one more elsewhere" if domain.dimension == 1 else ""
    return (
        f"A condition is missing on {', '.join(places)}: the equations need one there"
        f"{or_else}. Without it infinitely many fields solve them, and any of these "
        f"may be learned. {_insulated(domain, terms)}What the network keeps by the "
        "way it is built may be declared too."
    )


def _nothing_of_the_start(domain, terms):
    """What to say where less is said of single moments than equations need, or ""."""
    time, equations = domain.time_coordinate, terms[RESIDUAL].expressions
    held = [term for name, term in terms.items() if name != RESIDUAL]
    if time is None or time in domain.periodic or not held:
        return ""
    if any(term.table is not None or _fills(domain, term) for term in held):
        return ""
    moments = [term for term in held if _at_moments(domain, term)]
    said = sum(_at_moments(domain, term) for term in moments)
    if domain.dimension == 1:  # so do integrals
        said = _said(terms)
    start = list(_of_a_start(domain, equations))
    if said >= len(start):  # their order is no more than that
        return ""
    across = Across(domain, equations)
    needed = across.order_in_time()
    if said >= needed or _has_all_on_a_side(domain, terms, across):
        return ""
    one = "is one equation" if said == 1 else f"are {max(said, 0) or 'no'} equations"
    known = set().union(
        *(e.atoms() for t in moments for e in map(short, t.expressions))
    )
    missing = [text for text in start if text not in known]
    wanted = ", ".join(f"{text.name} - ..." for text in missing) or "..."
    return (
        f"A condition is missing at the start: together the equations are of order "
        f"{needed} in {time}, and of single moments there {one}. Without it infinitely "
        "many fields solve them, and any of these may be learned. Declare what is "
        f'missing, such as keraspinn.Condition([{wanted}], on="initial"), there or at '
        "another moment. What the network keeps by the way it is built may be declared "
        "too."
    )


def _of_a_start(domain, equations):
    """What one says of fields at a start, as `short` writes it: u, u_t, …"""
    place = domain.coordinates.index(domain.time_coordinate)
    for field, own in required_derivatives(equations, domain.coordinates).items():
        for count in range(max(index[place] for index in own)):
            by = domain.time_coordinate.name * count
            yield sp.Symbol(f"{field}_{by}" if by else field)


def _at_moments(domain, term):
    """How many equations a condition has that hold at single moments."""
    column = domain.coordinates.index(domain.time_coordinate)
    return len(term.expressions) * sum(
        np.ptp(sampled(domain, (block,), FEW)[:, column]) == 0 for block in term.blocks
    )


def _fills(domain, term):
    """Whether a condition holds all over some of the domain, and not on its average."""
    return not term.regions and any(
        lack_of_normals(domain, part)
        and np.ptp(sampled(domain, ((part,),), FEW), axis=0).all()
        for block in term.blocks
        for part in block
    )


def _has_all_on_a_side(domain, terms, across):
    """Whether a side has as many conditions as the equations' order across it: they go
    on from there, as from a start.
    """
    places = _places(domain, terms)
    for part in domain.boundary:
        for piece in part.pieces():
            points, count, _ = _counts(domain, piece, places, [])
            order = across.order(piece, points[:LOOKED_AT])
            if 1 < order <= np.median(count):
                return True
    return False


def _insulated(domain, terms):
    """How to say that nothing flows through, where an equation has a field for it."""
    needed = required_derivatives(terms[RESIDUAL].expressions, domain.coordinates)
    orders = {field: max(map(sum, own)) for field, own in needed.items()}
    flows = [field for field, order in orders.items() if order == 2]
    if not flows:
        return ""
    return (
        "Saying nothing does not mean that nothing flows through, as in finite "
        "elements; this does: keraspinn.Condition(keraspinn.normal_derivative("
        f"{flows[0]}, domain), on=...). "
    )


def bare_parts(domain, terms):
    """Parts of the boundary on which a condition is missing: each with the share of it
    that is bare and a point there, in the user's units.
    """
    held = [term for name, term in terms.items() if name != RESIDUAL]
    if not held or any(term.table is not None for term in held):
        return []
    places = _places(domain, terms)
    images = [points for term in held for points in _images(domain, term)]
    pieces = [piece for part in domain.boundary for piece in part.pieces()]
    counts = [_counts(domain, piece, places, images) for piece in pieces]
    # What is said on some of a part may be enough.
    most = max((np.quantile(own, 1 - BARE) for _, own, _ in counts), default=0)
    if domain.dimension == 1:  # so may values inside, and integrals
        most = max(most, _said(terms))
    found, across = [], None
    for piece, (points, _, is_said) in zip(pieces, counts, strict=True):
        bare = points[~is_said]
        if len(bare) <= BARE * len(points):
            continue
        across = across or Across(domain, terms[RESIDUAL].expressions)
        if across.order(piece, bare[:LOOKED_AT]) > max(most, 1):
            point = on_host(domain.absolute(piece, bare[:1]))[0]
            found.append((piece, len(bare) / len(points), point))
    return found


def _places(domain, terms):
    """Pairs of how many equations hold across a part, and the part: -1 for each field
    of fewer coordinates that these must determine first.
    """
    held = [term for name, term in terms.items() if name != RESIDUAL]
    pairs = [pair for term in held for pair in _equations_across(domain, term)]
    for field in fields_of_fewer_coordinates(domain, terms.values()):
        own = [domain.coordinates.index(symbol) for symbol in field.args]
        parts = {
            part
            for term in terms.values()
            if any(e.has(field) for e in term.expressions)
            for part in itertools.chain.from_iterable(term.blocks)
            if np.ptp(sampled(domain, ((part,),), FEW), axis=0)[own].all()
        }
        if len(parts) == 1 and not lack_of_normals(domain, *parts):
            pairs.append((-1, *parts))
    return pairs


def _equations_across(domain, term):
    """Pairs of how many equations a condition has across a part, and the part."""
    number = len(term.expressions)
    if any(e.has(At) for e in term.expressions):  # of two sides, half of them for each
        number = (number + 1) // 2
    for part in itertools.chain.from_iterable(term.blocks):
        is_face = not lack_of_normals(domain, part)
        if is_face or not (term.regions or part is domain.interior):
            yield number if is_face and not term.regions else 0, part


def _said(terms):
    """Count the equations of conditions, less one for each unknown parameter."""
    held = [term for name, term in terms.items() if name != RESIDUAL]
    count = sum(len(term.expressions) * max(len(term.blocks), 1) for term in held)
    every = [e for term in terms.values() for e in term.expressions]
    return count - len(set().union(*(e.atoms(Parameter) for e in every)))


def _images(domain, term):
    """Points at which a condition takes fields besides its own, relative arrays."""
    for image in set().union(*(e.atoms(At) for e in term.expressions)):
        points = sampled(domain, term.blocks, TRIED)
        symbols, values = zip(*image.images, strict=True)
        found = values_at(list(values), domain.coordinates, points)
        for symbol, value in zip(symbols, found, strict=True):
            points[:, domain.coordinates.index(symbol)] = value
        yield points - domain.centre


def _counts(domain, piece, places, images):
    """Points of a piece, how many equations hold at each, and where one is said."""
    draws = domain.draws(piece)
    uniform = quasi_random(TRIED, draws) if draws else np.zeros((1, 0))
    points = on_host(domain.sample(piece, uniform))
    count = np.zeros(len(points))
    is_said, is_taken = np.zeros((2, len(points)), bool)
    for number, part in places:
        is_here = part is piece or on_host(domain.contains(part, points))
        count, is_said = count + number * is_here, is_said | is_here
        is_taken = is_taken | (is_here & (number < 0))
    is_said &= ~is_taken | (count > 0)
    if any(np.mean(on_host(domain.contains(piece, own))) > BARE for own in images):
        is_said[:] = True
    return points, count, is_said
