"""Corners of a plane domain, at which gradients of the fields are unbounded.

Beside a corner of angle ω a field grows as r^λ: with λ = π/ω if conditions of one kind
hold on both sides, and with λ = π/(2ω) between a value and a flux. The angle may be π,
where a condition on a value ends within a side. Gradients are unbounded if λ < 1. Where
prescribed values jump, λ is 0: the field depends on the angle.

Reference:
    Grisvard, "Elliptic problems in nonsmooth domains", 1985.
"""

import contextlib
import dataclasses
import itertools
import math

import numpy as np
import sympy as sp

from keraspinn.declaration.probe_points import evaluate_at, initial_values
from keraspinn.declaration.steps import prescribed_value
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
# Difference of prescribed values at two points beside a corner, relative to their
# range, from which on they jump.
LEAST_JUMP = 0.05
# Distance outside of the domain, relative to it, of the point where features are
# singular: their gradients in the corner are infinite.
OUTSIDE = 1e-6
# Value of a field where none is prescribed.
FREE = 1e300
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
        exponent: The power λ < 1 of the distance, 0 where values jump.
        radius: Distance within which the ray opposite of the bisector is outside of the
            domain, `None` if it is outside altogether.
    """

    at: tuple
    direction: float
    exponent: float
    radius: float | None


def corner_features(problem, scales):
    """Return the parts of z^λ for corners of the exponents λ, a list of expressions.

    z = r exp(iφ) is the position relative to a corner, and φ the angle to the bisector.
    With λ = π/ω this maps a corner of the angle ω to a straight side, on which the
    solution of an elliptic equation is smooth. With λ = 0 the feature is φ.

    Args:
        problem: The `Problem`.
        scales: `Scales` of some of its coordinates.
    """
    plane = problem.domain.space_coordinates
    is_whole = len(plane) == 2 and set(plane) <= set(scales.coordinates)
    is_whole = is_whole and not problem.domain.periodic
    if not (is_whole and _is_used(problem, 1.0)):
        return []
    size = max(scales.coordinates[symbol][1] for symbol in plane)
    corners = (c for c in singular_corners(problem) if _is_used(problem, c.exponent))
    return [e for c in corners for e in _features(c, size, *plane)]


def _features(corner, size, x, y):
    """Return the features of a corner, in two coordinates of some size."""
    cosine, sine = math.cos(corner.direction), math.sin(corner.direction)
    x, y = (x - corner.at[0]) / size, (y - corner.at[1]) / size
    along, across = x * cosine + y * sine + OUTSIDE, y * cosine - x * sine
    square, power = along**2 + across**2, corner.exponent
    angle = 2 * sp.atan(across / (sp.sqrt(square) + along))
    parts = [part(power * angle) for part in (sp.cos, sp.sin)]
    features = [square ** (power / 2) * part for part in parts] if power else [angle]
    if corner.radius is None:
        return features
    inside = 1 - square * (size / corner.radius) ** 2
    return [sp.Piecewise((f * inside**3, inside > 0), (0, True)) for f in features]


def _is_used(problem, exponent):
    """Return whether residuals of features of a corner have a finite mean square.

    Second derivatives of z^λ have none, but their sum vanishes in a Laplacian. First
    derivatives, which an energy holds, have one, except those of the angle.
    """
    expressions = equation_expressions(problem.all_terms)
    order = highest_order(expressions, problem.coordinates)
    if problem.energy is not None:
        return order < 2 and exponent > 0
    plane = problem.domain.space_coordinates
    pairs = itertools.product(expressions, problem.fields)
    factors = [_laplacian(*pair, plane) for pair in pairs]
    is_bounded = exponent > LEAST_EXPONENT or (exponent == 0 and all(factors))
    return order <= 2 and None not in factors and is_bounded


def _laplacian(expression, field, plane):
    """Return the factor of a field's Laplacian, 1 without derivatives of the field.

    `None` if second derivatives occur in another combination.
    """
    if not set(plane) <= set(field.args):
        return sp.S.One
    pairs = itertools.combinations_with_replacement(plane, 2)
    second = {field.diff(*pair): sp.Dummy() for pair in pairs}
    plain = expression.xreplace(second)
    xx, xy, yy = (plain.diff(symbol) for symbol in second.values())
    if xy != 0 or sp.expand(xx - yy) != 0:
        return None
    return xx if xx != 0 or plain.has(*map(field.diff, plane)) else sp.S.One


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
            corner = tuple(at.tolist()), math.atan2(*bisector[::-1])
            exponents = [0.0, float(pairs.exponents[number])]
            exponents = exponents if pairs.jumps[number] else exponents[1:]
            used = [power for power in exponents if power < LARGEST_EXPONENT]
            corners += [Corner(*corner, power, radius) for power in used]
        left = left[1:][~is_near[1:]]
    return sorted(corners, key=lambda corner: corner.exponent)[:MOST_CORNERS]


def _values(problem):
    """Return lists of parts with values of a field, for fields of the domain.

    Each is a pair: a block of parts, and the value, zero unless all are explicit.
    """
    values = {}
    for term in condition_terms(problem.all_terms):
        is_pointwise = term.table is None and not term.regions
        for expression in term.expressions if is_pointwise else ():
            if not expression.has(sp.Derivative, At):
                expression = expression.xreplace(initial_values(expression))
                _, value = prescribed_value(expression) or (None, sp.nan)
                pairs = [(block, value) for block in term.blocks]
                for field in fields_of([expression]):
                    values.setdefault(field, []).extend(pairs)
    whole = [p for field, p in values.items() if problem.field_parts[field] is None]
    return [
        [(b, sp.S.Zero) for b, _ in p] if sp.nan in dict(p).values() else p
        for p in whole
    ]


class _Pairs:
    """Pairs of points on two sides of a corner, at the middle of time and parameters.

    Attributes:
        size: The domain's diameter.
        points: Array `(pairs, 2, spatial)`.
        normals: Outward unit normals there, of the same shape.
        angles: Angles inside, between the two faces; π on one side.
        exponents: The powers λ of the distance.
        jumps: Mask of pairs between which values jump.
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
        known = [column[column != FREE] for column in held.T]
        ranges = np.array([np.ptp(column) if len(column) else 0.0 for column in known])
        self._ranges = np.where(ranges > 0, ranges, 1.0)
        change = self._change(*held[near].swapaxes(0, 1))
        self.points, self.normals = points[near], normals[near]
        one, other = self.normals.swapaxes(0, 1)
        cosines, is_end = (one * other).sum(axis=1), change >= FREE / 2
        step = np.diff(self.points, axis=1)[:, 0]
        self._lengths = np.linalg.norm(step, axis=1)
        turns = np.arccos(np.clip(cosines, -1, 1)) * (cosines < OTHER_DIRECTION)
        self.angles = np.pi + np.copysign(turns, (step * (one - other)).sum(axis=1))
        with np.errstate(divide="ignore"):
            self.exponents = np.pi / self.angles / np.where(is_end, 2, 1)
        self.jumps = (change > LEAST_JUMP) & ~is_end

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
        is_singular = self.jumps | (self.exponents < LARGEST_EXPONENT)
        numbers = np.flatnonzero(is_singular & has_bisector)
        return numbers[self._lengths[numbers].argsort(kind="stable")]

    def location(self, number):
        """Return the corner between two points."""
        (one, other), normals = self.points[number], self.normals[number]
        if self.angles[number] != np.pi:
            return np.linalg.solve(normals, (normals * [one, other]).sum(axis=1))
        for _ in range(HALVINGS):
            middle = (one + other) / 2
            before, here, behind = self._held(np.stack([one, middle, other]))
            is_before = self._change(before, here) < self._change(here, behind)
            one, other = (middle, other) if is_before else (one, middle)
        # A steep value is no jump.
        change = self._change(*self._held(np.stack([one, other])))
        self.jumps[number] &= change > LEAST_JUMP
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
        """Return prescribed values of fields, `FREE` where none is, `(n, fields)`."""
        relative = self._relative(points)
        values = np.full((len(points), len(self._values)), FREE)
        for number, pairs in enumerate(self._values):
            for block, value in pairs:
                is_here = is_on(self._domain, block, relative)
                at = relative[is_here] + self._domain.centre
                (there,) = evaluate_at([value], self._domain.coordinates, at)
                values[is_here, number] = there
        return values

    def _change(self, one, other):
        """Return the largest change of values relative to their ranges."""
        change = np.abs(one - other)
        scaled = np.where(change < FREE / 2, change / self._ranges, FREE)
        return scaled.max(axis=-1, initial=0.0)

    def _relative(self, points):
        relative = np.zeros((len(points), self._domain.dimension))
        relative[:, self._axes] = points - self._domain.centre[self._axes]
        return relative
