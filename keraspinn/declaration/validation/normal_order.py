"""Order of a system of equations across a boundary, or in time.

The order is the degree in s of the determinant of the system's symbol, with exp(s x)
along the normal x and numbers for all other derivatives: two for Laplace's equation or
a flux and its balance, four for plane elasticity or a beam.
"""

import numpy as np
import sympy as sp
from sympy.core.function import AppliedUndef

from keraspinn import backend
from keraspinn.declaration.probe_points import columns, probe_points
from keraspinn.expressions import Parameter, Program, required_derivatives
from keraspinn.expressions.derivatives import field_and_index
from keraspinn.expressions.image import At
from keraspinn.expressions.nodes import distinct_nodes
from keraspinn.geometry.arrays import on_host

# Points inside at which a coefficient's magnitude is evaluated.
INTERIOR_POINTS = 512
# Points inside at which the order in time is determined.
TIME_POINTS = 3
# Relative to its largest value inside, a smaller coefficient vanishes, as r on an axis.
VANISHING = 1e-7
# Relative to its largest value inside, a larger coefficient is infinite.
INFINITE = 1e2
# Relative to the sum of absolute values, a smaller sum is round-off.
ROUND_OFF = 1e-9
# Smallest value of a field that a coefficient depends on: generic, so nothing cancels.
GENERIC = 0.5
# Step between the values of different fields, modulo one, so that no two are alike.
GOLDEN = 0.618
# Number of fields above which the determinant takes too long.
MOST_FIELDS = 10


class NormalOrder:
    """Order of equations as ordinary ones, along normals or in time.

    Args:
        domain: The geometry.
        expressions: The equations.
    """

    def __init__(self, domain, expressions):
        self._domain, self._program = domain, None
        self._is_advection = _is_advection(domain, expressions)
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
        self._terms, coefficients = (
            [],
            [],
        )  # derivatives in equations, and their factors
        for row, expression in enumerate(expressions):
            plain = expression.xreplace(stand_ins)
            for node, stand_in in stand_ins.items():
                if isinstance(node, Parameter):
                    continue
                coefficient = plain.diff(stand_in)
                coefficient = coefficient.replace(sp.DiracDelta, lambda *_: sp.S.Zero)
                if coefficient:
                    field, index = field_and_index(node, domain.coordinates)
                    self._terms.append((row, field, np.array(index)))
                    coefficients.append(coefficient)
        self._fields = sorted({field for _, field, _ in self._terms})
        self._rows = len(expressions)
        dummies = [s for s in stand_ins.values() if s.is_Dummy]
        self._symbols = [*domain.coordinates, *dummies]
        self._program = Program(coefficients, self._symbols)
        points = probe_points(domain, domain.blocks("interior"), INTERIOR_POINTS)
        self._inside = self._evaluate(points)

    def _evaluate(self, points):
        # Different values, as coefficients may hold differences of fields.
        fields = GENERIC + np.arange(len(self._symbols)) * GOLDEN % 1 / 2
        states = np.tile(fields, (len(points), 1))
        states[:, : points.shape[1]] = points
        with backend.double_precision(), np.errstate(all="ignore"):
            values = self._program.on_host(columns(self._symbols, states), {})
        return [np.broadcast_to(coefficient, len(points)) for coefficient in values]

    def _coefficients(self, points):
        """Return snapped coefficients at points, `(n, terms)`."""
        pairs = zip(self._evaluate(points), self._inside, strict=True)
        return np.stack([_snap_coefficient(*pair) for pair in pairs], axis=-1)

    def order(self, piece, points):
        """Return the order across a piece of the boundary, at points of it."""
        if self._is_advection or not self._is_known():
            return 0
        try:
            normals = on_host(self._domain.normals(piece, points))
        except ValueError:  # a point cloud without normals
            return 0
        values = self._coefficients(on_host(self._domain.absolute(piece, points)))
        domain = self._domain
        axes = [domain.coordinates.index(s) for s in domain.space_coordinates]
        degrees = []
        for coefficients, normal in zip(values, normals, strict=True):
            if np.isfinite(normal).all():
                rates = np.ones(domain.dimension)  # time's derivative is a factor of 1
                rates[axes] = np.where(abs(normal) > 1e-6, normal, 0.0)
                degrees.append(self._degree(coefficients, rates, axes))
        return max(degrees, default=0)

    def order_in_time(self):
        """Return the order in time, with numbers for all derivatives in space.

        It is the smallest of the orders inside and at both ends: a smooth field needs
        fewer conditions where a coefficient vanishes. It is 0 if unknown.
        """
        if not self._is_known() or self._rows != len(self._fields):
            return 0
        domain = self._domain
        column = domain.coordinates.index(domain.time_coordinate)
        rates = GENERIC + np.arange(domain.dimension) / 7
        rates[column] = 1.0
        orders = []
        for moment in (None, domain.lower[column], domain.upper[column]):
            points = probe_points(domain, domain.blocks("interior"), TIME_POINTS)
            if moment is not None:
                points[:, column] = moment
            values = self._coefficients(points)
            orders.append(max(self._degree(c, rates, [column], False) for c in values))
        return min(orders)

    def _is_known(self):
        return self._program is not None and self._rows <= len(self._fields)

    def _degree(self, coefficients, rates, along, or_highest=True):
        """Return the degree of the determinant, 0 if a coefficient is not finite.

        Args:
            coefficients: Coefficients of the terms, `(terms,)`.
            rates: Factors that stand for derivatives by each coordinate, `(d,)`.
            along: Coordinates whose derivatives count.
            or_highest: Whether the sum of the fields' highest orders replaces a
                determinant that vanishes.
        """
        if not np.isfinite(coefficients).all():
            return 0
        counts = [int(index[along].sum()) for *_, index in self._terms]
        symbol = np.zeros((self._rows, len(self._fields), max(counts) + 1))
        sizes = np.zeros_like(symbol)
        for (row, field, index), coefficient, count in zip(
            self._terms, coefficients, counts, strict=True
        ):
            entry = row, self._fields.index(field), count
            value = coefficient * np.prod(rates**index)
            symbol[entry] += value
            sizes[entry] += abs(value)
        symbol[abs(symbol) <= ROUND_OFF * sizes] = 0.0
        if self._rows == len(self._fields) <= MOST_FIELDS:
            total = _determinant(symbol, True)
            is_nonzero = abs(total) > ROUND_OFF * _determinant(sizes, False)
            if is_nonzero.any():
                return int(np.flatnonzero(is_nonzero)[-1])
        if not or_highest:
            return 0
        orders = [np.flatnonzero(c.any(axis=0)) for c in symbol.swapaxes(0, 1)]
        highest = [int(order[-1]) if len(order) else 0 for order in orders]
        return sum(highest) if max(highest) > 1 else 0


def _is_advection(domain, expressions):
    """Return whether all fields obey advection equations, of first order in time.

    Characteristics then decide which part needs a condition.
    """
    if domain.time_coordinate is None:
        return False
    axis = domain.coordinates.index(domain.time_coordinate)
    needed = required_derivatives(expressions, domain.coordinates).values()
    return all(
        max(map(sum, indices)) == 1 and any(index[axis] for index in indices)
        for indices in needed
    )


def _snap_coefficient(values, inside):
    """Return a coefficient, 0 for round-off, NaN if infinite, 1 if unknown inside."""
    inside = inside[np.isfinite(inside)]
    size = np.max(np.abs(inside), initial=0.0)
    if not size:
        return np.ones_like(values)
    small, large = abs(values) <= VANISHING * size, abs(values) > INFINITE * size
    return np.where(small, 0.0, np.where(large, np.nan, values))


def _determinant(matrix, has_signs):
    """Return the coefficients of a determinant of polynomials, `(n, n, coefficients)`.

    It is expanded row by row over sets of columns. Without signs it is the permanent.
    """
    minors = {0: np.ones(1)}
    for row in matrix:
        longer = {}
        for taken, minor in minors.items():
            for column, entry in enumerate(row):
                if taken >> column & 1 or not entry.any():
                    continue
                is_odd = has_signs and (taken >> column).bit_count() % 2
                product = np.convolve(minor, -entry if is_odd else entry)
                chosen = taken | 1 << column
                longer[chosen] = longer.get(chosen, 0.0) + product
        minors = longer
    return sum(minors.values(), np.zeros(1))
