"""Parts of the boundary on which nothing is said, though equations ask for it.

Finite elements take what is not said for an insulated wall. A network takes nothing for
it: beside such a part it learns any of many fields, and its loss is none the worse.
"""

import itertools

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from keraspinn import backend
from keraspinn.expressions import Parameter, Program, required_derivatives
from keraspinn.expressions.derivatives import field_and_index
from keraspinn.expressions.image import At
from keraspinn.expressions.nodes import distinct_nodes
from keraspinn.geometry.arrays import on_host
from keraspinn.geometry.part import quasi_random
from keraspinn.spec.sampled import columns, sampled, values_at
from keraspinn.spec.terms import RESIDUAL, lack_of_normals

# Points of a part; the share of them that makes it bare: who leaves out a corner means
# it; and at how many of these the equations are looked at.
TRIED, BARE, LOOKED_AT = 512, 0.05, 3
# Of a coefficient's largest value inside, below which it vanishes on a part, as r does
# on an axis, and above which it is infinite there.
VANISHING, INFINITE = 1e-7, 1e2
# Of the sum of absolute values, below which a sum is rounding.
ROUNDING = 1e-9
GENERIC = 0.7  # what a field is where a coefficient depends on it
MANY = 10  # fields: a determinant of more takes too long
NAMED = 3  # parts, in words


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
        return ""
    places = []
    for part, share, point in found[:NAMED]:
        pairs = zip(domain.coordinates, point, strict=True)
        near = ", ".join(f"{symbol} = {value:.3g}" for symbol, value in pairs)
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
    places = [place for term in held for place in _places(domain, term)]
    images = [points for term in held for points in _images(domain, term)]
    pieces = [piece for part in domain.boundary for piece in part.pieces()]
    counts = [_counts(domain, piece, places, images) for piece in pieces]
    # What is said on some of a part may be enough.
    most = max((np.quantile(own, 1 - BARE) for _, own, _ in counts), default=0)
    if domain.dimension == 1:  # so may values inside, and integrals
        most = max(most, _said(held) - len(_unknowns(terms)))
    found, across = [], None
    for piece, (points, _, is_said) in zip(pieces, counts, strict=True):
        bare = points[~is_said]
        if len(bare) <= BARE * len(points):
            continue
        across = across or _Across(domain, terms[RESIDUAL].expressions)
        if across.order(piece, bare[:LOOKED_AT]) > max(most, 1):
            point = on_host(domain.absolute(piece, bare[:1]))[0]
            found.append((piece, len(bare) / len(points), point))
    return found


def _places(domain, term):
    """Pairs of how many equations a condition has across a part, and the part."""
    number = len(term.expressions)
    if any(e.has(At) for e in term.expressions):  # of two sides, half of them for each
        number = (number + 1) // 2
    for part in itertools.chain.from_iterable(term.blocks):
        is_face = not lack_of_normals(domain, part)
        if is_face or not (term.regions or part is domain.interior):
            yield number if is_face and not term.regions else 0, part


def _said(held):
    return sum(len(term.expressions) * max(len(term.blocks), 1) for term in held)


def _unknowns(terms):
    every = [e for term in terms.values() for e in term.expressions]
    return set().union(*(e.atoms(Parameter) for e in every))


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
    count, is_said = np.zeros(len(points)), np.zeros(len(points), bool)
    for number, part in places:
        is_here = part is piece or on_host(domain.contains(part, points))
        count, is_said = count + number * is_here, is_said | is_here
    if any(np.mean(on_host(domain.contains(piece, own))) > BARE for own in images):
        is_said[:] = True
    return points, count, is_said


class _Across:
    """The equations as ordinary ones along normals.

    Args:
        domain: The geometry.
        expressions: The equations.
    """

    def __init__(self, domain, expressions):
        self._domain, self._program = domain, None
        if not _is_carried(domain, expressions):
            try:
                self._read(expressions)
            except ValueError:  # no derivative, or one that cannot be evaluated
                return

    def _read(self, expressions):
        domain, stand_ins = self._domain, {}
        for node in distinct_nodes(expressions):
            if isinstance(node, At):
                return
            if isinstance(node, Parameter):
                stand_ins[node] = sp.Float(node.initial or GENERIC)
            elif isinstance(node, (sp.Derivative, AppliedUndef)):
                stand_ins[node] = sp.Dummy(real=True)
        spatial = [domain.coordinates.index(s) for s in domain.space_coordinates]
        self._terms, slopes = [], []  # of the equations, with their slopes
        for row, expression in enumerate(expressions):
            plain = expression.xreplace(stand_ins)
            for node, stand_in in stand_ins.items():
                if isinstance(node, Parameter):
                    continue
                slope = plain.diff(stand_in)
                slope = slope.replace(sp.DiracDelta, lambda *_: sp.S.Zero)
                if slope:
                    field, index = field_and_index(node, domain.coordinates)
                    own = np.array([index[column] for column in spatial])
                    self._terms.append((row, field, own))
                    slopes.append(slope)
        self._fields = sorted({field for _, field, _ in self._terms})
        self._rows = len(expressions)
        dummies = [s for s in stand_ins.values() if s.is_Dummy]
        self._symbols = [*domain.coordinates, *dummies]
        self._program = Program(slopes, self._symbols)
        self._inside = self._slopes(sampled(domain, domain.blocks("interior"), TRIED))

    def _slopes(self, points):
        places = np.full((len(points), len(self._symbols)), GENERIC)
        places[:, : points.shape[1]] = points
        with backend.double_precision(), np.errstate(all="ignore"):
            found = self._program.on_host(columns(self._symbols, places), {})
        return [np.broadcast_to(slope, len(points)) for slope in found]

    def order(self, piece, points):
        """The order of all equations together, across a piece at points of it.

        It is the degree in s of the determinant of what they are of exp(s n·x): two for
        Laplace's, four for those of elasticity in the plane and for a beam's, two as
        well for a flux and its balance.
        """
        if self._program is None or self._rows > len(self._fields):
            return 0
        try:
            normals = on_host(self._domain.normals(piece, points))
        except ValueError:  # a cloud's, without any
            return 0
        slopes = self._slopes(on_host(self._domain.absolute(piece, points)))
        pairs = zip(slopes, self._inside, strict=True)
        slopes = np.stack([_on_part(*own) for own in pairs], axis=-1)
        pairs = zip(slopes, normals, strict=True)
        return max(self._degree(*own) for own in pairs)

    def _degree(self, slopes, normal):
        """Degree of the determinant; 0 where an equation has no value."""
        if not np.isfinite(slopes).all() or not np.isfinite(normal).all():
            return 0
        normal = np.where(abs(normal) > 1e-6, normal, 0.0)
        orders = max(int(own.sum()) for *_, own in self._terms) + 1
        symbol = np.zeros((self._rows, len(self._fields), orders))
        sizes = np.zeros_like(symbol)
        for (row, field, index), slope in zip(self._terms, slopes, strict=True):
            place = row, self._fields.index(field), index.sum()
            own = slope * np.prod(normal**index)
            symbol[place] += own
            sizes[place] += abs(own)
        symbol[abs(symbol) <= ROUNDING * sizes] = 0.0
        if self._rows == len(self._fields) <= MANY:
            total = _determinant(symbol, True)
            there = abs(total) > ROUNDING * _determinant(sizes, False)
            if there.any():
                return int(np.flatnonzero(there)[-1])
        highest = [np.flatnonzero(own.any(axis=0)) for own in symbol.swapaxes(0, 1)]
        highest = [int(own[-1]) if len(own) else 0 for own in highest]
        return sum(highest) if max(highest) > 1 else 0


def _is_carried(domain, expressions):
    """Whether all fields are carried along: of first order, each with its change in
    time. What comes in where, characteristics say."""
    if domain.time_coordinate is None:
        return False
    place = domain.coordinates.index(domain.time_coordinate)
    found = required_derivatives(expressions, domain.coordinates).values()
    return all(
        max(map(sum, own)) == 1 and any(index[place] for index in own) for own in found
    )


def _on_part(slope, inside):
    """A coefficient on a part: zero where that is rounding, not a number if infinite,
    one if fields of another size would be needed to know it."""
    inside = inside[np.isfinite(inside)]
    size = np.max(np.abs(inside), initial=0.0)
    if not size:
        return np.ones_like(slope)
    small, large = abs(slope) <= VANISHING * size, abs(slope) > INFINITE * size
    return np.where(small, 0.0, np.where(large, np.nan, slope))


def _determinant(matrix, has_signs):
    """Coefficients of the determinant, or without signs the permanent, of a matrix of
    polynomials `(n, n, coefficients)`: of the first rows with every choice of columns.
    """
    found = {0: np.ones(1)}
    for row in matrix:
        longer = {}
        for taken, minor in found.items():
            for column, entry in enumerate(row):
                if taken >> column & 1 or not entry.any():
                    continue
                is_odd = has_signs and (taken >> column).bit_count() % 2
                own = np.convolve(minor, -entry if is_odd else entry)
                chosen = taken | 1 << column
                longer[chosen] = longer.get(chosen, 0.0) + own
        found = longer
    return sum(found.values(), np.zeros(1))
