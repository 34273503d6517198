"""Parts of a domain."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, SupportsFloat, TypeAlias

import numpy as np
import sympy as sp

from keraspinn.common.typing import Tensor

if TYPE_CHECKING:
    from keraspinn.geometry.base import Geometry
    from keraspinn.geometry.regions import Interface


class Part:
    """Part of a domain to sample from: the interior, a face, a curve or a point.

    Points are arrays `(..., n, d)` relative to the centre of the domain, in the
    user's lengths, so that an interval far from zero keeps its digits in float32.
    Every method is a pure function of tensors or NumPy arrays;
    `geometry.library` returns the functions for either. Methods may also use
    `keras.ops` throughout.

    A part equals only itself, unless its class defines equality. The shortest way is
    a frozen dataclass of its numbers.

    To add one, write `sample` and `contains`, and `normals` if it bounds the domain.

    Raises:
        NotImplementedError: By `sample` and `contains`, if a class lacks them.
        ValueError: By `normals`, `measure` and `distance`, likewise.

    Attributes:
        draws: Number of uniform numbers that a point needs; `None` for one per
            coordinate.
        is_point: Whether the part is a single point.
        text: Its name in messages; the class's by default.

    Example:

    >>> x = sp.Symbol("x")
    >>> (left, right) = keraspinn.geometry.Box({x: (0, 2)}).boundary
    >>> print(left, left.is_point, left.sample(np.zeros((1, 1))))
    x = 0 True [[-1.]]
    """

    draws: int | None = None
    is_point: bool = False
    text: str | None = None

    @property
    def is_curve(self) -> bool:
        """True if one uniform number is enough for a point."""
        return self.draws == 1

    def sample(self, uniform: Tensor) -> Tensor:
        """Map numbers uniform in [0, 1), `(..., n, draws)`, to points `(..., n, d)`."""
        raise NotImplementedError

    def contains(self, points: Tensor) -> Tensor:
        """Test which points lie here, to 1e-6 of the domain's extent: `(..., n)`."""
        raise NotImplementedError

    def normals(self, points: Tensor) -> Tensor:
        """Return outward unit normals at points of this part, `(..., n, spatial)`.

        Raises:
            ValueError: If this part has none.
        """
        raise ValueError(
            f"There is no normal on {self}. Only faces and boundaries have normals; "
            "inside write the derivative that is meant, such as u.diff(x)."
        )

    def measure(self) -> float:
        """Return the length, area or volume, in the user's units; 1 for a point.

        Raises:
            ValueError: If it is not known.
        """
        raise ValueError(f"The size of {self} is not known.")

    def distance(self, coordinates: list[sp.Expr], outside: bool = False) -> sp.Expr:
        """Return a smooth expression, zero here and positive in the domain.

        Args:
            coordinates: SymPy expressions, the coordinates less the centre.
            outside: Whether it must be positive on the other side.

        Raises:
            ValueError: If none is known.
        """
        raise ValueError(
            f"No smooth function is known that vanishes on {self} alone. Known are "
            "those of whole sides of boxes, balls, ellipses and sectors of half a turn "
            "at most, and of polygons and polyhedra of up to 12 planes. Write an L as "
            "one Polygon, cut holes one by one, plate - one - another, declare it "
            "without `hard=True`, or define `Part.distance` in a class of your own."
        )

    def pieces(self) -> tuple["Part", ...]:
        """Return smaller parts that make up this one, or this one alone."""
        return (self,)

    def __str__(self):
        return self.text or type(self).__name__


# Parts that share one mean, as the four sides of `"boundary"` do.
Block: TypeAlias = tuple[Part, ...]

# Type of `on=` of a condition: the name of parts, or a list of names.
On: TypeAlias = (
    "str | Mapping[sp.Symbol, SupportsFloat] | Geometry | Interface | Sequence[Any]"
)

# Largest distance of a point from a part, relative to each coordinate's extent.
TOLERANCE = 1e-6


def quasi_random(count, draws):
    """Return evenly spread numbers in [0, 1), `(count, draws)`, always the same.

    They form a Richtmyer sequence: multiples of the square roots of primes, less their
    whole part.

    Reference:
        Niederreiter, "Random Number Generation and Quasi-Monte Carlo Methods", 1992.
    """
    steps = np.sqrt([float(sp.prime(k + 1)) for k in range(draws)])
    # Number 0 would be a corner.
    return (np.arange(1, count + 1)[:, None] * steps) % 1


def sobol(count, draws, seed=0):
    """Return scrambled Sobol points, `(count, draws)`; `count` is a power of two.

    Means over them are several times as exact as over `quasi_random`, and SciPy's
    module takes most of a second to load.
    """
    from scipy.stats import qmc

    return qmc.Sobol(draws, scramble=True, rng=seed).random(count)


def exact_number(value):
    """Return a float as a SymPy number, a fraction if a short one prints the same."""
    fraction = sp.Rational(repr(float(value)))
    return fraction if fraction.q < 10**9 else sp.Float(value)


def relative_to(point, coordinates):
    """Return SymPy coordinates less those of a point, exact numbers, as a list."""
    return [c - exact_number(p) for c, p in zip(coordinates, point, strict=True)]
