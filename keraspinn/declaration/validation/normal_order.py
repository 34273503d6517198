"""Order of a system of equations across a boundary, or in time.

The order is the largest sum of derivative orders, one in each equation and each of
another field (Jacobi's bound, 1865): two for Laplace's equation or a flux and its
balance, four for plane elasticity or a beam.
"""

import numpy as np
import sympy as sp

from keraspinn.declaration.probe_points import probe_points, run_at
from keraspinn.expressions import At, Field, Parameter, Program, required_derivatives
from keraspinn.expressions.derivatives import field_and_index
from keraspinn.expressions.nodes import distinct_nodes

# Points at which the order is determined.
ORDER_POINTS = 3
# Relative to its largest value inside, a smaller coefficient vanishes, as r on an axis.
VANISHING = 1e-7
# Relative to its largest value inside, a larger coefficient is infinite.
INFINITE = 1e2
# Smallest value of a field that a coefficient depends on: generic, so nothing cancels.
GENERIC = 0.5
# Step between the values of different fields, modulo one, so that no two are alike.
GOLDEN = 0.618
# Smallest component of a normal along a coordinate that it is not perpendicular to.
SMALLEST_COMPONENT = 1e-6
# Order of a field in an equation without it.
ABSENT = -1000


class NormalOrder:
    """Order of equations as ordinary ones, along normals or in time.

    Args:
        domain: The geometry.
        expressions: The equations.
    """

    def __init__(self, domain, expressions):
        self._domain, self._program = domain, None
        self._is_advection = _is_advection(domain, expressions)
        kinds = Parameter, sp.Derivative, Field, At
        names = {n: sp.Dummy(real=True) for n in distinct_nodes(expressions, kinds)}
        if any(isinstance(node, At) for node in names):
            return
        self._symbols = [*domain.coordinates, *names.values()]
        self._terms, coefficients = [], []  # derivatives in equations, and factors
        for row, expression in enumerate(expressions):
            known = expression.xreplace(names)
            for node, name in names.items():
                rate = known.diff(name).replace(sp.DiracDelta, lambda *_: sp.S.Zero)
                if rate != 0 and not isinstance(node, Parameter):
                    field, index = field_and_index(node, domain.coordinates)
                    self._terms.append((row, field, np.array(index)))
                    coefficients.append(rate)
        self._fields = sorted({field for _, field, _ in self._terms})
        self._shape = len(expressions), len(self._fields)
        try:
            self._program = Program(coefficients, self._symbols)
            inside = self._evaluate(probe_points(domain, domain.blocks("interior")))
        except ValueError:  # a derivative that cannot be evaluated
            self._program = None
            return
        inside = np.where(np.isfinite(inside), abs(inside), 0.0)
        self._inside = inside.max(axis=1, initial=0.0)

    def _evaluate(self, points):
        """Return coefficients at points, `(terms, n)`."""
        # Different values, as coefficients may hold differences of fields.
        fields = GENERIC + np.arange(len(self._symbols)) * GOLDEN % 1 / 2
        states = np.tile(fields, (len(points), 1))
        states[:, : points.shape[1]] = points
        return np.array(run_at(self._program, self._symbols, states))

    def order(self, piece, points):
        """Return the order across a piece of the boundary, at points of it."""
        if self._program is None or self._is_advection:
            return 0
        try:
            normals = np.asarray(self._domain.normals(piece, points))
        except ValueError:  # a point cloud without normals
            return 0
        along = np.zeros((len(points), self._domain.dimension), bool)
        along[:, : normals.shape[1]] = abs(normals) > SMALLEST_COMPONENT
        return self._order(np.asarray(self._domain.absolute(piece, points)), along)

    def order_in_time(self):
        """Return the order in time, 0 if unknown.

        It is the smallest of the orders inside and at both ends: a smooth field needs
        fewer conditions where a coefficient vanishes.
        """
        if self._program is None:
            return 0
        domain = self._domain
        points = probe_points(domain, domain.blocks("interior"), ORDER_POINTS)
        along = np.zeros((ORDER_POINTS, domain.dimension), bool)
        along[:, -1] = True  # time is last
        times = points[:, [-1]], domain.lower[-1], domain.upper[-1]
        return min(self._order(np.where(along, t, points), along) for t in times)

    def _order(self, points, along):
        """Return the largest order at points, of derivatives along coordinates."""
        return max(map(self._order_at, abs(self._evaluate(points)).T, along), default=0)

    def _order_at(self, values, along):
        """Return the order at a point, 0 if a coefficient is infinite there."""
        from scipy.optimize import linear_sum_assignment

        values, size = np.where(self._inside > 0, (values, self._inside), 1.0)
        if not (values <= INFINITE * size).all() or self._shape[0] > self._shape[1]:
            return 0
        orders = np.full(self._shape, ABSENT)
        terms = zip(self._terms, values, size, strict=True)
        for (row, field, index), value, largest in terms:
            if value > VANISHING * largest:
                entry = row, self._fields.index(field)
                orders[entry] = max(orders[entry], index[along].sum())
        return max(int(orders[linear_sum_assignment(orders, maximize=True)].sum()), 0)


def _is_advection(domain, expressions):
    """Return whether all fields obey advection equations, of first order in time.

    Characteristics then decide which part needs a condition.
    """
    if domain.time_coordinate is None:
        return False
    needed = required_derivatives(expressions, domain.coordinates).values()
    return all(max(map(sum, ds)) == 1 and any(d[-1] for d in ds) for ds in needed)
