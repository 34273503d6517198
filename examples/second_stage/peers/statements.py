"""Three problems of the study as numerical functions, for packages without SymPy.

Multi-indices name the derivatives of the field: `(2, 0)` is u_xx.
"""

import dataclasses
import math
from collections.abc import Callable

PI = math.pi


@dataclasses.dataclass(frozen=True)
class Condition:
    """Condition for a derivative of the field on sides of the box.

    Attributes:
        sides: Tuple of `(axis, coordinate)`.
        derivative: Multi-index.
        value: Function of `(module, columns)`, as in `Statement`.
    """

    sides: tuple
    derivative: tuple
    value: Callable


@dataclasses.dataclass(frozen=True)
class Statement:
    """Problem on the box from `low` to `high`.

    Attributes:
        low, high: Corners of the box.
        derivatives: Multi-indices in the equation.
        equation: Function of `(module, columns, derivatives)` that returns the
            residual. The arguments are a module of array functions, a list of
            coordinates and a dict.
        size: Magnitude of the terms of the equation.
        conditions: Tuple of `Condition`.
        factor: Function of the columns by which the network is multiplied, as a hard
            constraint.
    """

    low: tuple
    high: tuple
    derivatives: tuple
    equation: Callable
    size: float = 1.0
    conditions: tuple = ()
    factor: Callable | None = None


def helmholtz_hard():
    def equation(m, x, d):
        source = (1 - 17 * PI**2) * m.sin(PI * x[0]) * m.sin(4 * PI * x[1])
        return d[2, 0] + d[0, 2] + d[0, 0] - source

    return Statement(
        low=(-1.0, -1.0),
        high=(1.0, 1.0),
        derivatives=((0, 0), (2, 0), (0, 2)),
        equation=equation,
        size=17 * PI**2,
        factor=lambda x: (1 - x[0] ** 2) * (1 - x[1] ** 2),
    )


def klein_gordon():
    def exact(m, columns):
        x, t = columns
        return x * m.cos(5 * PI * t) + (x * t) ** 3

    def equation(m, columns, d):
        x, t = columns
        waves = 25 * PI**2 * x * m.cos(5 * PI * t)
        source = exact(m, columns) ** 3 - waves + 6 * x**3 * t - 6 * x * t**3
        return d[0, 2] - d[2, 0] + d[0, 0] ** 3 - source

    return Statement(
        low=(0.0, 0.0),
        high=(1.0, 1.0),
        derivatives=((0, 0), (2, 0), (0, 2)),
        equation=equation,
        size=25 * PI**2,
        conditions=(
            Condition(((0, 0.0), (0, 1.0)), (0, 0), exact),
            Condition(((1, 0.0),), (0, 0), lambda m, x: x[0]),
            Condition(((1, 0.0),), (0, 1), lambda m, x: 0 * x[0]),
        ),
    )


def burgers():
    def equation(m, x, d):
        return d[0, 1] + d[0, 0] * d[1, 0] - 0.01 / PI * d[2, 0]

    return Statement(
        low=(-1.0, 0.0),
        high=(1.0, 1.0),
        derivatives=((0, 0), (1, 0), (0, 1), (2, 0)),
        equation=equation,
        conditions=(
            Condition(((0, -1.0), (0, 1.0)), (0, 0), lambda m, x: 0 * x[0]),
            Condition(((1, 0.0),), (0, 0), lambda m, x: -m.sin(PI * x[0])),
        ),
    )


STATEMENTS = {
    "helmholtz_hard": helmholtz_hard,
    "klein_gordon": klein_gordon,
    "burgers": burgers,
}
