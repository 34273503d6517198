"""Polynomials in a domain's coordinates, which a declaration is looked at by."""

import itertools
import math

import numpy as np
from numpy.polynomial import chebyshev

from keraspinn.declaration.probe_points import sampled

MOST, MOST_BEYOND = 300, 150  # factors, in up to two coordinates and in more
POINTS = 10  # on each part, for each degree


class Polynomials:
    """Products of Chebyshev polynomials in the coordinates, from −1 to 1.

    Args:
        domain: The geometry; along its periodic coordinates, waves.
        field_names: Names of the fields, each a sum of all products up to a degree.
        degree: The largest degree, less where that makes too many products.
        fixed: Dict from coordinates that have one value to this.

    Attributes:
        field_names: As given.
        degree: The largest degree.
        count: Number of products.
        even: The factors of the product that is one everywhere, `(count,)`.
        points: Number of points on each part that tell all products apart.
    """

    def __init__(self, domain, field_names, degree, fixed):
        self.field_names = list(field_names)
        self._domain = domain
        self._centre, self._half = domain.centre, domain.half
        self._is_wave = [symbol in domain.periodic for symbol in domain.coordinates]
        self._fixed = [fixed.get(symbol) for symbol in domain.coordinates]
        axes = [k for k, value in enumerate(self._fixed) if value is None]
        d, most = len(axes), MOST if len(axes) <= 2 else MOST_BEYOND
        self.degree = max(
            n
            for n in range(1, int(degree) + 1)
            if n == 1 or len(self.field_names) * math.comb(n + d, d) <= most
        )
        # Of as many factors as the degree, each a coordinate or one.
        factors = itertools.combinations_with_replacement([*axes, None], self.degree)
        places = range(domain.dimension)
        self._degrees = np.array([[own.count(k) for k in places] for own in factors])
        self.count = len(self._degrees)
        self.even = (self._degrees.sum(axis=1) == 0).astype(float)
        self.points = max(POINTS * self.degree, 2 * self.count)

    def inside(self):
        """Values of each product at points all over the domain, `(n, count)`."""
        points = sampled(self._domain, self._domain.blocks("interior"), self.points)
        return self.derivative(points, (0,) * self._domain.dimension)

    def moved(self, points):
        """Points with the fixed coordinates' values, `(n, d)`."""
        pairs = zip(points.T, self._fixed, strict=True)
        return np.stack([x if own is None else x * 0 + own for x, own in pairs], -1)

    def derivative(self, points, index):
        """A derivative of each product at points `(n, d)`: `(n, count)`."""
        relative = (points - self._centre) / self._half
        total = np.ones((len(points), self.count))
        for x, half, order, own, is_wave in zip(
            relative.T, self._half, index, self._degrees.T, self._is_wave, strict=True
        ):
            if is_wave:
                every = _waves(x, self.degree, order)
            else:
                unit = chebyshev.chebder(np.eye(self.degree + 1), order)
                every = chebyshev.chebval(x, unit).T
            total *= every[:, own] / half**order
        return total


def _waves(x, degree, order):
    """Derivatives of 1, cos πx, sin πx, cos 2πx, … at points: `(n, degree + 1)`."""
    number = np.arange(degree + 1)
    rates = np.pi * ((number + 1) // 2)
    turned = np.where(number % 2, order, order - 1) * np.pi / 2
    turned[0] = order * np.pi / 2
    return rates**order * np.cos(rates * x[:, None] + turned)
