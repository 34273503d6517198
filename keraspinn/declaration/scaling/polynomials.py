"""Polynomial and Fourier basis of spectral solutions in a domain."""

import itertools
import math

import numpy as np
from numpy.polynomial import chebyshev

from keraspinn.declaration.field_parts import extents_of
from keraspinn.declaration.probe_points import probe_points

# Number of coefficients of all fields in up to two coordinates, for speed.
MOST_COEFFICIENTS = 300
# Number of coefficients of all fields in more coordinates.
MOST_COEFFICIENTS_BEYOND = 150
# Collocation points on each part for each degree.
POINTS_PER_DEGREE = 10


class Polynomials:
    """Products of Chebyshev polynomials in the coordinates, from −1 to 1.

    Args:
        domain: The geometry. Sines and cosines replace polynomials in its periodic
            coordinates.
        field_names: Names of the fields, each a sum of all products up to a degree.
        degree: The largest degree, reduced if there are too many products.
        fixed: Dict from coordinates that are constant to their values.
        parts: Optional dict from names of fields to the blocks to whose extents their
            polynomials are scaled; `None` means all of the domain.
        share: Share of the time, from its start, in which they stand for the fields.
        density: Multiple of the points that determine all coefficients.

    Attributes:
        field_names: Names of the fields.
        degree: The largest degree.
        count: Number of products.
        degrees: Degree of each product, `(count,)`.
        points: Number of points on each part.
    """

    def __init__(
        self, domain, field_names, degree, fixed, parts=None, share=1.0, density=1
    ):
        self.field_names = list(field_names)
        self._domain = domain
        blocks = [(parts or {}).get(name) for name in field_names]
        whole = domain.blocks("interior")
        self._blocks = [whole if b is None else (b,) for b in blocks]
        self._shares = np.ones(domain.dimension)
        self._shares[domain.dimension - (domain.time_coordinate is not None) :] = share
        boxes = [extents_of(domain, b) for b in blocks]
        self._boxes = [(self._in_share(c), h * self._shares) for c, h in boxes]
        self._is_wave = [symbol in domain.periodic for symbol in domain.coordinates]
        self._fixed = [fixed.get(symbol) for symbol in domain.coordinates]
        axes = [k for k, value in enumerate(self._fixed) if value is None]
        d = len(axes)
        most = MOST_COEFFICIENTS if d <= 2 else MOST_COEFFICIENTS_BEYOND
        degrees, fields = range(1, int(degree) + 1), len(self.field_names)
        fitting = (n for n in degrees if fields * math.comb(n + d, d) <= most)
        self.degree = max(fitting, default=1)
        # Products of as many factors as the degree, each a coordinate or 1 (None).
        products = itertools.combinations_with_replacement([*axes, None], self.degree)
        columns = range(domain.dimension)
        self._orders = np.array([[p.count(k) for k in columns] for p in products])
        self.degrees = self._orders.sum(axis=1)
        self.count = len(self.degrees)
        self.points = density * max(POINTS_PER_DEGREE * self.degree, 2 * self.count)

    def inside(self):
        """Return values of each field's products in its part, `(fields, n, count)`."""
        values, index = [], (0,) * self._domain.dimension
        for k, blocks in enumerate(self._blocks):
            points = probe_points(self._domain, blocks, self.points)
            chosen = np.linspace(0, len(points) - 1, self.points).astype(int)
            values.append(self.derivative(self._in_share(points[chosen]), index, k))
        return np.stack(values)

    def _in_share(self, points):
        return points - (points - self._domain.lower) * (1 - self._shares)

    def with_fixed_values(self, points):
        """Return points with the fixed coordinates' values, `(n, d)`, in the share."""
        pairs = zip(self._in_share(points).T, self._fixed, strict=True)
        return np.stack([x if v is None else np.full_like(x, v) for x, v in pairs], -1)

    def derivative(self, points, index, field=0):
        """Return a derivative of a field's products at points: `(n, count)`."""
        centre, halves = self._boxes[field]
        relative = (points - centre) / halves
        total = np.ones((len(points), self.count))
        for x, half, order, degrees, is_wave in zip(
            relative.T, halves, index, self._orders.T, self._is_wave, strict=True
        ):
            if is_wave:
                basis = _waves(x, self.degree, order)
            else:
                unit = chebyshev.chebder(np.eye(self.degree + 1), order)
                basis = chebyshev.chebval(x, unit).T
            total *= basis[:, degrees] / half**order
        return total


def _waves(x, degree, order):
    """Return derivatives of 1, cos πx, sin πx, … at points, `(n, degree + 1)`."""
    number = np.arange(degree + 1)
    rates = np.pi * ((number + 1) // 2)
    phase = np.where(number % 2, order, order - 1) * np.pi / 2
    phase[0] = order * np.pi / 2
    return rates**order * np.cos(rates * x[:, None] + phase)
