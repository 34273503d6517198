"""A part of a domain: where one kind of point lies."""

import functools
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, SupportsFloat, TypeAlias

import numpy as np
import sympy as sp

from keraspinn.common.typing import Tensor

if TYPE_CHECKING:
    from keraspinn.geometry.base import Geometry


class Part:
    """What can be drawn from: the interior of a domain, a face, a curve, a point.

    Points are arrays `(..., n, d)` relative to the centre of the domain, in the
    user's lengths, so that an interval far from zero keeps its digits in float32.
    Every method is a pure function of arrays, which may be tensors in a compiled
    program or NumPy's; `geometry.library` finds the functions for either, and who
    writes `keras.ops` throughout is understood as well.

    A part is equal to itself only, unless its class says otherwise; a frozen
    dataclass of its numbers is the shortest way to say so.

    To add one, write `sample` and `contains`, and `normals` if it bounds the domain.

    Raises:
        NotImplementedError: By `sample` and `contains`, if a class lacks them.
        ValueError: By `normals`, `measure` and `distance`, likewise.

    Attributes:
        draws: How many uniform numbers a point needs; `None` stands for one a
            coordinate.
        is_point: Whether this is one point, of which there is no second to draw.

    Example:

    >>> x = sp.Symbol("x")
    >>> (left, right) = keraspinn.geometry.Box({x: (0, 2)}).boundary
    >>> print(left, left.is_point, left.sample(np.zeros((1, 1))))
    x = 0 True [[-1.]]
    """

    draws: int | None = None
    is_point: bool = False

    def sample(self, uniform: Tensor) -> Tensor:
        """Points `(..., n, d)` from numbers uniform in [0, 1), `(..., n, draws)`."""
        raise NotImplementedError

    def contains(self, points: Tensor) -> Tensor:
        """Which points lie here, to 1e-6 of the domain's extent: `(..., n)`."""
        raise NotImplementedError

    def normals(self, points: Tensor) -> Tensor:
        """Outward unit normals at points of this part, `(..., n, spatial)`.

        Raises:
            ValueError: If this part has none.
        """
        raise ValueError(
            f"There is no normal on {self}. Normals are those of a face or a boundary; "
            "inside write the derivative that is meant, such as u.diff(x)."
        )

    def measure(self) -> float:
        """Length, area or volume, in the user's units; 1 for a point.

        Raises:
            ValueError: If it is not known.
        """
        raise ValueError(f"The size of {self} is not known.")

    def distance(self, coordinates: list[sp.Expr], outside: bool = False) -> sp.Expr:
        """A smooth expression, zero here to first order and positive in the domain.

        Args:
            coordinates: SymPy expressions, the coordinates less the centre.
            outside: Whether it is to be positive on the other side.

        Raises:
            ValueError: If none is known.
        """
        raise ValueError(
            f"No smooth function is known that vanishes on {self} alone. Known are "
            "those of whole sides of boxes, balls, ellipses and sectors of half a turn "
            "at most, and of polygons and polyhedra of up to 12 planes. Write an L as "
            "one Polygon, not as a sum or difference of boxes, cut holes one by one, "
            "plate - one - another, or declare the condition without `hard=True`. In a "
            "class of your own, define `Part.distance`."
        )

    def pieces(self) -> tuple["Part", ...]:
        """Smaller parts that make up this one, if it is made of some."""
        return (self,)

    def __str__(self):
        return type(self).__name__


Block: TypeAlias = tuple[Part, ...]
"""Parts that share one mean, as the four sides of `"boundary"` do."""

On: TypeAlias = "str | Mapping[sp.Symbol, SupportsFloat] | Geometry | Sequence[Any]"
"""What names parts of a domain, `on=` of a condition; in a list several of these."""

TOLERANCE = 1e-6
"""How far off a part, relative to each coordinate's extent, a point may lie."""


@functools.lru_cache(maxsize=16)
def quasi_random(count, draws, seed=0):
    """Return evenly spread numbers in [0, 1), `(count, draws)`, always the same.

    They form a Kronecker sequence with the powers of 1/φ as its steps, where φ is the
    root of x^(draws + 1) = x + 1, the golden ratio for one draw. A seed continues the
    sequence of the seed before. The cache is for shapes with many holes.

    Reference:
        Roberts, "The unreasonable effectiveness of quasirandom sequences", 2018.
    """
    root = 2.0
    for _ in range(64):  # the iteration converges to the last bit
        root = (1 + root) ** (1 / (draws + 1))
    steps = root ** -np.arange(1.0, draws + 1)
    rows = np.arange(seed * count, (seed + 1) * count)[:, None]
    numbers = (0.5 + rows * steps) % 1
    numbers.setflags(write=False)
    return numbers


def exact_number(value):
    """A float as a SymPy number: a fraction where a short one prints the same."""
    fraction = sp.Rational(repr(float(value)))
    return fraction if fraction.q < 10**9 else sp.Float(value)
