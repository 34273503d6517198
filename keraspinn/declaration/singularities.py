"""Corners of a plane domain, at which gradients of the fields are unbounded.

Beside a corner of angle ω a field grows as r^λ: with λ = π/ω if conditions of one kind
hold on both sides, and with λ = π/(2ω) between a value and a flux. The angle may be π,
where a condition on a value ends within a side. Gradients are unbounded if λ < 1.

Reference:
    Grisvard, "Elliptic problems in nonsmooth domains", 1985.
"""

import contextlib
import dataclasses
import itertools
import math

import numpy as np
import sympy as sp

from keraspinn.declaration.terms import condition_terms, equation_expressions, is_on
from keraspinn.expressions import At, fields_of, highest_order

# Points on the boundary, in proportion to its parts, and on each part at least.
POINTS = 10_000
PART_POINTS = 300
# Distance between two points beside a corner, relative to the domain's diameter.
NEAR = 2e-3
# The same in space, where points are sparser.
NEAR_IN_SPACE = 1e-2
# Cosine of the angle between normals, below which their faces meet in a corner.
OTHER_DIRECTION = 0.88
# Exponent from which on a corner needs no features.
LARGEST_EXPONENT = 0.95
# Exponent above which the residuals of a strong form have a finite mean square.
LEAST_EXPONENT = 0.45
# Corners that get features, those of the smallest exponents.
MOST_CORNERS = 16
# Halvings of the distance between two points beside the end of a condition.
HALVINGS = 40
# Length of the sum of two opposite normals, which have no bisector.
ROUND_OFF = 1e-6
# Raised by a user's shape that has no normals, sizes or test of points.
UNKNOWN_SHAPE = (NotImplementedError, ValueError)
# Points on the ray from a corner out of the domain, and the first of them.
RAY_POINTS = 2_000
RAY_START = 1e-4


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
        for corner in singular_corners(problem)
        if problem.energy is not None or corner.exponent > LEAST_EXPONENT
    ]


def _has_finite_loss(problem):
    """Return whether residuals of features have a finite mean square.

    Second derivatives of z^λ have none, but their sum vanishes in a Laplacian. First
    derivatives, which an energy holds, have one.
    """
    expressions = equation_expressions(problem.all_terms)
    most = 2 if problem.energy is None else 1
    if highest_order(expressions, problem.coordinates) > most:
        return False
    return problem.energy is not None or all(
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
    if len(domain.space_coordinates) > 1:
        with contextlib.suppress(*UNKNOWN_SHAPE):
            return bool((_Pairs(domain, []).angles > math.pi).any())
    return False


def singular_corners(problem):
    """Return the `Corner`s of a plane domain, the sharpest first.

    A user's shape without sizes, normals or a test of points has none.

    Args:
        problem: The `Problem`.
    """
    if len(problem.domain.space_coordinates) == 2:
        with contextlib.suppress(*UNKNOWN_SHAPE):
            return _find_corners(problem)
    return []


def _find_corners(problem):
    pairs, corners = _Pairs(problem.domain, _values(problem)), []
    left = pairs.singular()
    while len(left):
        number, *_ = left
        at = pairs.location(number)
        middles = pairs.points[left].mean(axis=1)
        is_near = np.linalg.norm(middles - at, axis=1) < 2 * NEAR * pairs.size
        bisector = -pairs.normals[number].sum(axis=0)
        radius = pairs.radius(at, bisector) if is_near[0] else 0.0
        if radius != 0:
            direction, exponent = math.atan2(*bisector[::-1]), pairs.exponents[number]
            corner = Corner(tuple(at.tolist()), direction, float(exponent), radius)
            corners.append(corner)
        left = left[1:][~is_near[1:]]
    return sorted(corners, key=lambda corner: corner.exponent)[:MOST_CORNERS]


def _values(problem):
    """Return lists of the parts with values of a field, for fields of the domain."""
    values = {}
    for term in condition_terms(problem.all_terms):
        is_pointwise = term.table is None and not term.regions
        for expression in term.expressions if is_pointwise else ():
            if not expression.has(sp.Derivative, At):
                for field in fields_of([expression]):
                    values.setdefault(field, []).extend(term.blocks)
    whole = [field for field in values if problem.field_parts[field] is None]
    return [sum(values[field], ()) for field in whole]


class _Pairs:
    """Pairs of points on two sides of a corner, at the middle of time and parameters.

    Attributes:
        size: The domain's diameter.
        points: Array `(pairs, 2, spatial)`.
        normals: Outward unit normals there, of the same shape.
        angles: Angles inside, between the two faces; π on one side.
        exponents: The powers λ of the distance.
    """

    def __init__(self, domain, values):
        from scipy.spatial import cKDTree

        self._domain, self._values = domain, values
        self._axes = [domain.coordinates.index(s) for s in domain.space_coordinates]
        points, normals = self._boundary()
        self.size = float(np.linalg.norm(np.ptp(points, axis=0)))
        distance = (NEAR_IN_SPACE if len(self._axes) > 2 else NEAR) * self.size
        near = cKDTree(points).query_pairs(distance, output_type="ndarray")
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
        sizes = [domain.measure(part) for part in domain.boundary]
        for part, size in zip(domain.boundary, sizes, strict=True):
            count = max(PART_POINTS, int(POINTS * size / sum(sizes)))
            uniform = random.uniform(size=(count, domain.draws(part)))
            relative = domain.sample(part, uniform)
            points = np.asarray(domain.absolute(part, relative))[:, self._axes]
            pairs.append(np.stack([points, domain.normals(part, relative)]))
        return np.concatenate(pairs[1:] or pairs, axis=1)

    def singular(self):
        """Return the numbers of the pairs at singular corners, the closest first."""
        has_bisector = np.linalg.norm(self.normals.sum(axis=1), axis=1) > ROUND_OFF
        numbers = np.flatnonzero((self.exponents < LARGEST_EXPONENT) & has_bisector)
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
        lengths = np.geomspace(RAY_START, 1, RAY_POINTS) * self.size
        ray = at - lengths[:, None] * bisector / np.linalg.norm(bisector)
        inside = is_on(self._domain, (self._domain.interior,), self._relative(ray))
        if not inside.any():
            return None
        first = int(inside.argmax())
        return float(lengths[first - 1]) if first else 0.0

    def _held(self, points):
        """Return which fields have conditions on their values, `(n, fields)`."""
        relative = self._relative(points)
        masks = [is_on(self._domain, parts, relative) for parts in self._values]
        return np.array(masks, bool).reshape(-1, len(points)).T

    def _relative(self, points):
        relative = np.zeros((len(points), self._domain.dimension))
        relative[:, self._axes] = points - self._domain.centre[self._axes]
        return relative
