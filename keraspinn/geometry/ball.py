import math
from dataclasses import dataclass

import numpy as np
import sympy as sp

from keraspinn.common.checks import positive_number
from keraspinn.geometry.arrays import library, like
from keraspinn.geometry.base import Geometry
from keraspinn.geometry.checks import Number, Numbers, Symbols, checked_numbers
from keraspinn.geometry.part import TOLERANCE, Part, exact_number


def direction(uniform, dimension):
    """Sample unit vectors uniformly, from `direction_draws` uniform numbers each."""
    lib = library(uniform)
    if dimension > 3:
        from scipy import special

        inner = 1e-7 + (1 - 2e-7) * uniform  # 0 and 1 would map to infinity
        normal = (special if lib is np else lib).erfinv(2 * inner - 1)
        return normal / length(normal)
    angle = 2 * math.pi * uniform[..., 0]
    circle = [lib.cos(angle), lib.sin(angle)]
    if dimension == 3:  # Archimedes: heights on a sphere are uniform
        height = 2 * uniform[..., 1] - 1
        radius = lib.sqrt(1 - lib.square(height))
        circle = [radius * circle[0], radius * circle[1], height]
    return lib.stack(circle, axis=-1)


def direction_draws(dimension):
    """Return the number of uniform numbers that a direction needs."""
    return dimension - 1 if dimension <= 3 else dimension


def length(vectors):
    """Return Euclidean lengths, `(..., n, 1)`."""
    squares = (vectors[..., k : k + 1] ** 2 for k in range(vectors.shape[-1]))
    return library(vectors).sqrt(sum(squares))


@dataclass(frozen=True)
class Inside(Part):
    """Interior of a ball or an ellipsoid about the centre.

    Args:
        axes: Half axes, one per coordinate.
    """

    axes: tuple
    text = "the interior"

    @property
    def draws(self):
        """Number of uniform numbers: a direction's and one for the radius."""
        return direction_draws(len(self.axes)) + 1

    def sample(self, uniform):
        """Sample a direction, and a radius distributed by enclosed volume."""
        along = direction(uniform[..., 1:], len(self.axes))
        radius = library(uniform).power(uniform[..., :1], 1 / len(self.axes))
        return radius * along * like(self.axes, uniform)

    def contains(self, points):
        """Test which points have a radius ratio of 1 at most."""
        return length(points / like(self.axes, points))[..., 0] <= 1 + 2 * TOLERANCE

    def measure(self):
        """Return the area or volume."""
        half = len(self.axes) / 2
        return math.pi**half / math.gamma(half + 1) * math.prod(self.axes)


@dataclass(frozen=True)
class Rim(Part):
    """Boundary of a ball or an ellipsoid; subclasses sample it.

    Args:
        axes: Half axes, one per coordinate.
    """

    axes: tuple

    def contains(self, points):
        """Test which points have a radius ratio of 1."""
        ratio = length(points / like(self.axes, points))[..., 0]
        return library(points).abs(ratio - 1) <= 2 * TOLERANCE

    def normals(self, points):
        """Return the normalized gradient of the squared radius ratio."""
        gradient = points * like(min(self.axes) / np.square(self.axes), points)
        return gradient / length(gradient)

    def distance(self, coordinates, outside=False):
        """Return 1 - ρ² inside, log ρ or 1 - ρ^(2-d) outside; ρ is the radius ratio.

        The latter two are harmonic about a ball. A field near a small hole behaves
        like them, so the network fits a smooth remainder.
        """
        pairs = zip(coordinates, map(exact_number, self.axes), strict=True)
        ratio = sum((c / axis) ** 2 for c, axis in pairs)
        if not outside:
            return 1 - ratio
        exponent = 1 - sp.Rational(len(self.axes), 2)
        return 1 - ratio**exponent if exponent else sp.log(ratio) / 2


@dataclass(frozen=True)
class Sphere(Rim):
    """Sphere about the centre; a circle in the plane."""

    @property
    def draws(self):
        """Number of uniform numbers a direction needs."""
        return direction_draws(len(self.axes))

    def sample(self, uniform):
        """Sample the point in a uniform direction."""
        return direction(uniform, len(self.axes)) * like(self.axes, uniform)

    def measure(self):
        """Return the circumference or area."""
        return Inside(self.axes).measure() * len(self.axes) / self.axes[0]

    def __str__(self):
        return "the circle" if len(self.axes) == 2 else "the sphere"


class Ball(Geometry):
    """Ball of any dimension from two.

    Args:
        center: Its centre, one number per coordinate, in the user's units.
        radius: Its radius, in the same units.
        coordinates: Its symbols. Leave them out if it is combined with a domain that
            has them.

    Raises:
        ValueError: If the radius is not positive or the centre is not a point.

    Example:

    >>> x, y, z = sp.symbols("x y z")
    >>> ball = keraspinn.geometry.Ball((0, 0, 0), radius=1, coordinates=(x, y, z))
    >>> round(ball.measure(ball.interior), 3)
    4.189
    """

    _dimension: int | None = None

    def __init__(
        self, center: Numbers, radius: Number, coordinates: Symbols = None
    ) -> None:
        self.center = checked_numbers("center", center, self._dimension)
        self.radius = positive_number("radius", radius)
        center = np.array(self.center)
        super().__init__(coordinates, center - self.radius, center + self.radius)
        axes = (self.radius,) * self.dimension
        self.interior = Inside(axes)
        self.boundary = (Sphere(axes),)

    def __str__(self):
        at = ", ".join(f"{c:g}" for c in self.center)
        return f"{type(self).__name__}(({at}), {self.radius:g})"


class Disk(Ball):
    """Disk in the plane.

    Args:
        center: Its centre, two numbers, in the user's units.
        radius: Its radius, in the same units.
        coordinates: Its two symbols. Leave them out if it is combined with a domain
            that has them.

    Raises:
        ValueError: If the radius is not positive or the centre is not a point.

    Example:

    >>> x, y = sp.symbols("x y")
    >>> hole = keraspinn.geometry.Disk(center=(0, 0), radius=0.01)
    >>> plate = keraspinn.geometry.Box({x: (-0.1, 0.1), y: (-0.05, 0.05)}) - hole
    >>> ((rim,),) = plate.blocks(hole)
    >>> plate.normals(rim, np.array([[0.01, 0.0]]))
    array([[-1., -0.]])
    """

    _dimension = 2
