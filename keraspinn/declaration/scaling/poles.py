"""Potentials of points, and where they stand: within holes, and beyond corners.

Round a hole a field changes as log r or as a dipole does, over the hole's own radius.
What is harmonic between an outer rim and holes is a smooth function of the whole and,
of each hole, a series of poles within it, by Laurent and Runge: in the plane log r and
powers of 1 / (z − c), in space 1 / r and its derivatives. An ellipse has them between
its foci. At a corner that points inwards derivatives are unbounded; a few poles beyond
it, nearer and nearer, stand for r^(2/3) and the like.

References:
    Trefethen, "Series solution of Laplace problems", ANZIAM J. 60, 2018. Gopal &
    Trefethen, "Solving Laplace problems with corner singularities via rational
    functions", SIAM J. Numer. Anal. 57, 2019. McMurchie & Davidson, "One- and
    two-electron integrals over cartesian gaussian functions", J. Comput. Phys. 26,
    1978, for the recursion.
"""

import functools
import itertools
import math
from dataclasses import dataclass

import numpy as np

from keraspinn.geometry import Union

# How far from a corner poles are, of the shape's half extent: no nearer than points on
# its rim are to one another, or fields are large where no point sees it.
FROM_CORNER = 0.5, 0.15, 0.045
ORDER, ORDER_OF_FOCI = 1, 2  # of their derivatives; about a hole, half of the degree
TIP = 1e-3  # of the half extent, where it is looked at which way a corner points


def poles_of(domain):
    """The poles that polynomials stand beside, a list of `Pole`s.

    Args:
        domain: The geometry.
    """
    return [pole for pole in _poles(domain) if pole.is_outside(domain)]


@dataclass(frozen=True)
class Pole:
    """A potential about a point, and derivatives of it.

    Args:
        columns: The columns of its coordinates.
        centre: The point.
        size: How large the hole is, or how far the corner.
        order: Of the highest derivative, if not half of the degree.
    """

    columns: list
    centre: np.ndarray
    size: float
    order: int | None = None

    def is_outside(self, domain):
        """Whether it is near the domain, not in it."""
        point = domain.centre.copy()
        point[self.columns] = self.centre
        is_near = (abs(point - domain.centre) <= domain.half).all()
        return is_near and not domain.contains(domain.interior, point - domain.centre)

    def orders(self, degree):
        """Multi-indices of derivatives that are no sums of each other."""
        most = degree // 2 if self.order is None else self.order
        every = itertools.product(range(most + 1), repeat=len(self.columns))
        return [index for index in every if index[0] < 2 and sum(index) <= most]

    def derivative(self, points, index, degree):
        """A derivative of each, `(n, orders)`."""
        own, orders = np.array(index)[self.columns], self.orders(degree)
        if sum(own) < sum(index):  # by a coordinate that it does not vary along
            return np.zeros((len(points), len(orders)))
        relative = (points[:, self.columns] - self.centre) / self.size
        found = [potential(relative, tuple(own + order)) for order in orders]
        return np.stack(found, axis=1) / self.size ** sum(own)


def _poles(domain):
    """Yields the `Pole`s of all holes, and of all corners that point inwards."""
    shapes = [domain]
    for shape in shapes:  # which grows
        shapes += dict.fromkeys((*shape.operands, *shape.removed))
    joined = {symbol for shape in shapes for symbol in shape.periodic}
    for shape in shapes:
        columns = [domain.coordinates.index(s) for s in shape.space_coordinates]
        if len(columns) < 2 or joined & {*shape.space_coordinates}:
            continue
        for hole in shape.removed:
            for piece in hole.operands if isinstance(hole, Union) else [hole]:
                yield from _within(columns, piece)
        for corner in shape.corners:
            yield from _beyond(domain, columns, corner, shape.half[:2].min())


def _within(columns, hole):
    """Yields the `Pole` in the middle of a hole; of a long ellipse its foci's too."""
    if len(hole.corners):
        yield Pole(columns, np.mean(hole.corners, axis=0), hole.half.max())
        return
    smallest = hole.half.min()
    focal = np.sqrt(hole.half**2 - smallest**2)
    if focal.max() < smallest:
        yield Pole(columns, hole.centre, hole.half.max())
        return
    for side in (-1, 0, 1):
        yield Pole(columns, hole.centre + side * focal, smallest, ORDER_OF_FOCI)


def _beyond(domain, columns, corner, half):
    """Yields `Pole`s out of a corner that points inwards, none of others."""
    angles = 2 * np.pi * (np.arange(64) + 0.5) / 64
    ways = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    points = np.zeros((64, domain.dimension))
    points[:, columns] = corner - domain.centre[columns] + TIP * half * ways
    inside = np.asarray(domain.contains(domain.interior, points))
    if not 0.55 < inside.mean() < 1:
        return
    way = ways[~inside].sum(axis=0)
    for far in np.multiply(FROM_CORNER, half):
        yield Pole(columns, corner + far * way / np.linalg.norm(way), far, ORDER)


def potential(points, index):
    """A derivative of log r, in space of 1 / r, at points about its pole: `(n,)`.

    Args:
        points: Array `(n, d)`.
        index: Multi-index, of length d.
    """
    square, start = (points**2).sum(axis=1), points.shape[1] - 2

    @functools.cache
    def derived(n, index):
        """Of (2 d/ds)ⁿ of the potential as a function of s = r²."""
        axis = next((k for k, order in enumerate(index) if order), None)
        if axis is None:
            if n == start == 0:
                return np.log(square) / 2
            factors = [-(start + 2 * k) or 1 for k in range(n)]
            return math.prod(factors) * square ** (-n - start / 2)
        less = _less(index, axis)
        found = points[:, axis] * derived(n + 1, less)
        if less[axis]:
            found = found + less[axis] * derived(n + 1, _less(less, axis))
        return found

    return derived(0, tuple(index))


def _less(index, axis):
    return tuple(order - (k == axis) for k, order in enumerate(index))
