"""Polynomials beside potentials: a basis for domains that something is cut from.

Where a domain has a hole, no polynomial of all of it follows what happens there, be its
degree 20, and a plate with four cooling pipes is taken to be as warm as one without. So
potentials with poles in the holes (`poles`) stand beside the polynomials. They solve
Laplace's equation; times polynomials of low degree, of which least squares take what is
best, they do for others: a conductivity that varies, what is carried along, absorbed or
made by a reaction. Many such functions nearly are sums of others, which would look like
a solution that is left open, so a basis is made of them that is orthonormal at points,
without what is nothing there.
"""

import itertools
import math

import numpy as np

from keraspinn.declaration.probe_points import sampled
from keraspinn.declaration.scaling.poles import poles_of
from keraspinn.declaration.scaling.polynomials import Polynomials

FACTORS = 1  # the degree of the polynomials that potentials are multiplied by
LEAST = 4  # the degree, below which potentials leave too little room for polynomials
# Of the singular values of all functions at points, below which one is others' sum.
DISTINCT = 1e-10


def functions(domain, field_names, degree, fixed):
    """`Polynomials`; `PolynomialsAndPotentials` in a domain with holes, or corners.

    Args:
        domain, field_names, degree, fixed: As for `Polynomials`.
    """
    poles = poles_of(domain)
    low = Polynomials(domain, field_names, FACTORS, fixed)

    def beside(degree):
        return low.count * sum(len(pole.orders(degree)) for pole in poles)

    own = Polynomials(domain, field_names, degree, fixed, beside)
    if not poles or own.degree < LEAST:
        return Polynomials(domain, field_names, degree, fixed)
    return PolynomialsAndPotentials(domain, own, low, poles)


class PolynomialsAndPotentials:
    """Sums of polynomials and of potentials, orthonormal at points.

    Args:
        domain: The geometry.
        polynomials: The `Polynomials`.
        low: Those that potentials are multiplied by.
        poles: List of `Pole`s.

    Attributes:
        field_names, degree, count, even, points, moved: As of `Polynomials`.
    """

    def __init__(self, domain, polynomials, low, poles):
        self._domain, self._polynomials = domain, polynomials
        self._low, self._poles = low, poles
        self.field_names, self.degree = polynomials.field_names, polynomials.degree
        self.moved = polynomials.moved
        every = sum(len(pole.orders(self.degree)) for pole in poles)
        self.points = 2 * (polynomials.count + low.count * every)
        blocks = (*domain.blocks("interior"), domain.boundary)
        points = self.moved(sampled(domain, blocks, self.points))
        values = self._every(points, (0,) * domain.dimension)
        norms = np.linalg.norm(values, axis=0)
        left, sizes, right = np.linalg.svd(values / norms, full_matrices=False)
        kept = sizes > DISTINCT * sizes[0]
        of_size_one = len(points) ** 0.5
        self._basis = of_size_one * right[kept].T / sizes[kept] / norms[:, None]
        self.count, self.even = int(kept.sum()), left[:, kept].sum(axis=0) / of_size_one

    def inside(self):
        """Values of each function at points all over the domain, `(n, count)`."""
        blocks = self._domain.blocks("interior")
        points = self.moved(sampled(self._domain, blocks, self.points))
        return self.derivative(points, (0,) * self._domain.dimension)

    def derivative(self, points, index):
        """A derivative of each function at points `(n, d)`: `(n, count)`."""
        return self._every(points, index) @ self._basis

    def _every(self, points, index):
        """Derivatives of polynomials, and of products by the product rule."""
        products = 0.0
        for own in itertools.product(*(range(order + 1) for order in index)):
            ways = math.prod(map(math.comb, index, own))
            low = self._low.derivative(points, np.subtract(index, own).tolist())
            found = [pole.derivative(points, own, self.degree) for pole in self._poles]
            found = ways * np.concatenate(found, axis=1)
            products = products + found[:, :, None] * low[:, None]
        polynomials = self._polynomials.derivative(points, index)
        return np.concatenate([polynomials, products.reshape(len(points), -1)], axis=1)
