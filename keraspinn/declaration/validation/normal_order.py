"""Equations as ordinary ones along one way: of which order they are together.

All other derivatives are numbers there. The order is the degree in s of the determinant
of what equations are of exp(s x): two for Laplace's, four for those of elasticity in
the plane and for a beam's, two as well for a flux and its balance.
"""

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from keraspinn import backend
from keraspinn.declaration.probe_points import columns, sampled
from keraspinn.expressions import Parameter, Program, required_derivatives
from keraspinn.expressions.derivatives import field_and_index
from keraspinn.expressions.image import At
from keraspinn.expressions.nodes import distinct_nodes
from keraspinn.geometry.arrays import on_host

INSIDE = 512  # points at which coefficients are looked at
# Of a coefficient's largest value inside, below which it vanishes on a part, as r does
# on an axis, and above which it is infinite there.
VANISHING, INFINITE = 1e-7, 1e2
# Of the sum of absolute values, below which a sum is rounding.
ROUNDING = 1e-9
# What a field is, at least, where a coefficient depends on it; and how others differ.
GENERIC, GOLDEN = 0.5, 0.618
MANY = 10  # fields: a determinant of more takes too long
FEW = 3  # points inside at which the order in time is looked at


class Across:
    """The equations as ordinary ones, along normals or in time.

    Args:
        domain: The geometry.
        expressions: The equations.
    """

    def __init__(self, domain, expressions):
        self._domain, self._program = domain, None
        self._is_carried = _is_carried(domain, expressions)
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
                    self._terms.append((row, field, np.array(index)))
                    slopes.append(slope)
        self._fields = sorted({field for _, field, _ in self._terms})
        self._rows = len(expressions)
        dummies = [s for s in stand_ins.values() if s.is_Dummy]
        self._symbols = [*domain.coordinates, *dummies]
        self._program = Program(slopes, self._symbols)
        self._inside = self._slopes(sampled(domain, domain.blocks("interior"), INSIDE))

    def _slopes(self, points):
        # Each its own: where all are alike, what holds their differences vanishes.
        fields = GENERIC + np.arange(len(self._symbols)) * GOLDEN % 1 / 2
        places = np.tile(fields, (len(points), 1))
        places[:, : points.shape[1]] = points
        with backend.double_precision(), np.errstate(all="ignore"):
            found = self._program.on_host(columns(self._symbols, places), {})
        return [np.broadcast_to(slope, len(points)) for slope in found]

    def order(self, piece, points):
        """The order across a piece of the boundary, at points of it."""
        if self._is_carried or not self._is_known():
            return 0
        try:
            normals = on_host(self._domain.normals(piece, points))
        except ValueError:  # a cloud's, without any
            return 0
        slopes = self._slopes(on_host(self._domain.absolute(piece, points)))
        pairs = zip(slopes, self._inside, strict=True)
        slopes = np.stack([_on_part(*own) for own in pairs], axis=-1)
        columns_ = [
            self._domain.coordinates.index(s) for s in self._domain.space_coordinates
        ]
        found = []
        for own, normal in zip(slopes, normals, strict=True):
            if np.isfinite(normal).all():
                normal = np.where(abs(normal) > 1e-6, normal, 0.0)
                rates = np.ones(self._domain.dimension)
                rates[columns_] = normal
                # A derivative by time is a factor of one, and does not count.
                found.append(self._degree(own, rates, columns_))
        return max(found, default=0)

    def order_in_time(self):
        """The order in time, with numbers for all derivatives in space.

        It is the least of that inside and at both ends: where a coefficient vanishes, a
        smooth field needs less. 0 where it is not known.
        """
        if not self._is_known() or self._rows != len(self._fields):
            return 0
        domain = self._domain
        column = domain.coordinates.index(domain.time_coordinate)
        rates = GENERIC + np.arange(domain.dimension) / 7
        rates[column] = 1.0
        found = []
        for moment in (None, domain.lower[column], domain.upper[column]):
            points = sampled(domain, domain.blocks("interior"), FEW)
            if moment is not None:
                points[:, column] = moment
            pairs = zip(self._slopes(points), self._inside, strict=True)
            slopes = np.stack([_on_part(*own) for own in pairs], axis=-1)
            degrees = [self._degree(own, rates, [column], False) for own in slopes]
            found.append(max(degrees))
        return min(found)

    def _is_known(self):
        return self._program is not None and self._rows <= len(self._fields)

    def _degree(self, slopes, rates, along, or_highest=True):
        """Degree of the determinant; 0 where an equation has no value.

        Args:
            slopes: Coefficients of the terms, `(terms,)`.
            rates: What a derivative by each coordinate is a factor of, `(d,)`.
            along: Coordinates whose derivatives count.
            or_highest: Whether the sum of the fields' highest orders will do where the
                determinant says nothing.
        """
        if not np.isfinite(slopes).all():
            return 0
        counts = [int(index[along].sum()) for *_, index in self._terms]
        symbol = np.zeros((self._rows, len(self._fields), max(counts) + 1))
        sizes = np.zeros_like(symbol)
        for (row, field, index), slope, count in zip(
            self._terms, slopes, counts, strict=True
        ):
            place = row, self._fields.index(field), count
            own = slope * np.prod(rates**index)
            symbol[place] += own
            sizes[place] += abs(own)
        symbol[abs(symbol) <= ROUNDING * sizes] = 0.0
        if self._rows == len(self._fields) <= MANY:
            total = _determinant(symbol, True)
            there = abs(total) > ROUNDING * _determinant(sizes, False)
            if there.any():
                return int(np.flatnonzero(there)[-1])
        if not or_highest:
            return 0
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
