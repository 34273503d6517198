"""Corners of a plane domain, at which gradients of the fields are unbounded.

Beside a corner of angle ω a field grows as r^λ: with λ = π/ω if conditions of one kind
hold on both sides, and with λ = π/(2ω) between a value and a flux. The angle may be π,
where a condition on a value ends within a side. Gradients are unbounded if λ < 1.

Reference:
    Grisvard, "Elliptic problems in nonsmooth domains", 1985.
"""

import dataclasses
import itertools
import math

import numpy as np
import sympy as sp
from scipy.spatial import cKDTree

from keraspinn.declaration.terms import (
    condition_terms,
    equation_expressions,
    is_on,
)
from keraspinn.expressions import fields_of, required_derivatives
from keraspinn.expressions.image import At
from keraspinn.geometry.arrays import on_host

# Points on the boundary, at least, and on each of its parts.
POINTS = 10_000
PART_POINTS = 1_000
# Distance between two points beside a corner, relative to the domain's diameter.
NEAR = 5e-3
# Cosine of the angle between normals, below which their faces meet in a corner.
OTHER_DIRECTION = 0.7
# Exponent from which on a corner needs no features.
LARGEST_EXPONENT = 0.95
# Corners that get features, those of the smallest exponents.
MOST_CORNERS = 16
# Halvings of the distance between two points beside the end of a condition.
HALVINGS = 40
# Length of the sum of two opposite normals, which have no bisector.
ROUND_OFF = 1e-6
# Points on the ray from a corner out of the domain.
RAY_POINTS = 200


@dataclasses.dataclass(frozen=True)
class Corner:
    """A corner with unbounded gradients.

    Attributes:
        at: Its two coordinates, in the user's units.
        direction: Angle of the bisector, into the domain.
        exponent: The power λ < 1 of the distance.
        radius: Distance within which the ray opposite of the bisector is outside of the
            domain, `None` if it is outside altogether.
    """

    at: tuple
    direction: float
    exponent: float
    radius: float | None


def scaled_corners(problem, scales):
    """Return corners with features in scaled coordinates, for `layers.Corners`.

    Args:
        problem: The `Problem`.
        scales: `Scales` of some of its coordinates.
    """
    plane = problem.domain.space_coordinates
    is_whole = len(plane) == 2 and set(plane) <= set(scales.coordinates)
    if not is_whole or not _has_finite_loss(problem):
        return []
    symbols = list(scales.coordinates)
    columns = [symbols.index(symbol) for symbol in plane]
    centre, half = (np.array(n)[columns] for n in (scales.centre, scales.half))
    return [
        {
            "plane": columns,
            "at": ((corner.at - centre) / half).tolist(),
            "stretch": (half / half.max()).tolist(),
            "direction": corner.direction,
            "exponent": corner.exponent,
            "radius": corner.radius and corner.radius / float(half.max()),
        }
        for corner in singular_corners(problem.domain, problem.all_terms)
    ]


def _has_finite_loss(problem):
    """Return whether residuals of features have a finite mean square.

    Second derivatives of z^λ have none, but their sum vanishes in a Laplacian. First
    derivatives, which an energy holds, have one.
    """
    if problem.energy is not None:
        return True
    expressions = equation_expressions(problem.all_terms)
    orders = required_derivatives(expressions, problem.coordinates).values()
    if any(sum(index) > 2 for indices in orders for index in indices):
        return False
    return all(
        _is_isotropic(expression, field, problem.domain.space_coordinates)
        for expression in expressions
        for field in problem.fields
    )


def _is_isotropic(expression, field, plane):
    """Return whether second derivatives occur in the field's Laplacian alone."""
    if not set(plane) <= set(field.args):
        return True
    pairs = itertools.combinations_with_replacement(plane, 2)
    second = {field.diff(*pair): sp.Dummy() for pair in pairs}
    plain = expression.xreplace(second)
    xx, xy, yy = (plain.diff(symbol) for symbol in second.values())
    return xy == 0 and sp.expand(xx - yy) == 0


def has_reentrant_corner(domain):
    """Return whether two faces meet at an angle of more than 180 degrees inside.

    Args:
        domain: The geometry, of any dimension.
    """
    has_corners = len(domain.space_coordinates) > 1
    return has_corners and bool((_Pairs(domain, {}).angles > math.pi).any())


def singular_corners(domain, terms):
    """Return the `Corner`s of a plane domain, the sharpest first.

    Args:
        domain: The geometry.
        terms: Dict from names to `Term`s, hard ones included.
    """
    if len(domain.space_coordinates) != 2:
        return []
    pairs, corners = _Pairs(domain, terms), []
    left = pairs.singular()
    while len(left):
        at = pairs.location(left[0])
        bisector = -pairs.normals[left[0]].sum(axis=0)
        direction, radius = math.atan2(*bisector[::-1]), pairs.radius(at, bisector)
        exponent = float(pairs.exponents[left[0]])
        corners.append(Corner(tuple(at.tolist()), direction, exponent, radius))
        distances = np.linalg.norm(pairs.points[left].mean(axis=1) - at, axis=1)
        left = left[distances > 2 * NEAR * pairs.size]
    return sorted(corners, key=lambda corner: corner.exponent)[:MOST_CORNERS]


class _Pairs:
    """Pairs of points on two sides of a corner, at the middle of time and parameters.

    Attributes:
        size: The domain's diameter.
        points: Array `(pairs, 2, spatial)`.
        normals: Outward unit normals there, of the same shape.
        angles: Angles inside, between the two faces; π on one side.
        exponents: The powers λ of the distance.
    """

    def __init__(self, domain, terms):
        self._domain = domain
        self._axes = [domain.coordinates.index(s) for s in domain.space_coordinates]
        values = {}
        for term in condition_terms(terms):
            is_pointwise = term.table is None and not term.regions
            for expression in term.expressions if is_pointwise else ():
                if not expression.has(sp.Derivative, At):
                    for field in fields_of([expression]):
                        values.setdefault(field, []).extend(term.blocks)
        self._blocks = [sum(blocks, ()) for blocks in values.values()]
        points, normals = self._boundary()
        self.size = float(np.linalg.norm(np.ptp(points, axis=0)))
        near = cKDTree(points).query_pairs(NEAR * self.size, output_type="ndarray")
        held = self._held(points)
        is_end = (held[near[:, 0]] != held[near[:, 1]]).any(axis=1)
        one, other = normals[near].swapaxes(0, 1)
        cosines = (one * other).sum(axis=1)
        is_corner = cosines < OTHER_DIRECTION
        used = is_corner | is_end
        step = np.diff(points[near], axis=1)[:, 0]
        turns = np.arccos(np.clip(cosines, -1, 1)) * is_corner
        angles = np.pi + np.copysign(turns, (step * (one - other)).sum(axis=1))
        self.points, self.normals = points[near[used]], normals[near[used]]
        self.angles, self._lengths = angles[used], np.linalg.norm(step, axis=1)[used]
        with np.errstate(divide="ignore"):
            self.exponents = np.pi / self.angles / np.where(is_end[used], 2, 1)

    def _boundary(self):
        """Return points on the boundary, `(n, spatial)`, and normals there."""
        domain, random = self._domain, np.random.default_rng(0)
        pairs = [np.zeros((2, 1, len(self._axes)))]  # without a boundary
        count = max(PART_POINTS, POINTS // (len(domain.boundary) or 1))
        for part in domain.boundary:
            uniform = random.uniform(size=(count, domain.draws(part)))
            relative = domain.sample(part, uniform)
            points = on_host(domain.absolute(part, relative))[:, self._axes]
            pairs.append(np.stack([points, on_host(domain.normals(part, relative))]))
        return np.concatenate(pairs[1:] or pairs, axis=1)

    def singular(self):
        """Return the numbers of the pairs at singular corners, the closest first."""
        has_bisector = np.linalg.norm(self.normals.sum(axis=1), axis=1) > ROUND_OFF
        is_singular = (self.exponents < LARGEST_EXPONENT) & has_bisector
        numbers = np.flatnonzero(is_singular)
        return numbers[self._lengths[numbers].argsort(kind="stable")]

    def location(self, number):
        """Return the corner between two points."""
        (one, other), normals = self.points[number], self.normals[number]
        if self.angles[number] != np.pi:
            return np.linalg.solve(normals, (normals * [one, other]).sum(axis=1))
        before = self._held(one[None])
        for _ in range(HALVINGS):
            middle = (one + other) / 2
            is_before = (self._held(middle[None]) == before).all()
            one, other = (middle, other) if is_before else (one, middle)
        return (one + other) / 2

    def radius(self, at, bisector):
        """Return how far the ray opposite of a bisector is outside, or `None`."""
        lengths = np.linspace(2 * NEAR, 1, RAY_POINTS) * self.size
        ray = at - lengths[:, None] * bisector / np.linalg.norm(bisector)
        inside = is_on(self._domain, (self._domain.interior,), self._relative(ray))
        return float(lengths[inside.argmax()]) if inside.any() else None

    def _held(self, points):
        """Return which fields have conditions on their values, `(n, fields)`."""
        relative = self._relative(points)
        masks = [is_on(self._domain, parts, relative) for parts in self._blocks]
        return np.array(masks, bool).reshape(-1, len(points)).T

    def _relative(self, points):
        relative = np.zeros((len(points), self._domain.dimension))
        relative[:, self._axes] = points - self._domain.centre[self._axes]
        return relative
