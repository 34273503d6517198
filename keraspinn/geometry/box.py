import math

import keras
import numpy as np
import sympy as sp
from keras import ops

from keraspinn.configs import reading
from keraspinn.expressions import from_json, to_json


@keras.saving.register_keras_serializable("keraspinn")
class Box:
    """An interval, a rectangle, a box of any dimension, with or without time.

    Args:
        space: Dict from each spatial coordinate, a SymPy symbol, to its interval
            `(start, end)`, in the units the equations are written in.
        time: Optional dict of the same form with the time coordinate alone. Its
            start is where `on="initial"` points; its two ends are not part of
            `"boundary"`.

    Attributes:
        coordinates: The symbols, time last: the columns of an array of points.

    Raises:
        TypeError: If a coordinate is not a SymPy symbol.
        ValueError: If an interval is empty, reversed or not finite, or a coordinate
            is declared twice.

    Example:

    >>> x, y, t = sp.symbols("x y t")
    >>> domain = keraspinn.geometry.Box({x: (-1, 1), y: (0, 2)}, time={t: (0, 1)})
    >>> domain.coordinates
    (x, y, t)
    """

    def __init__(self, space, time=None):
        self.space = _intervals(space, "space")
        self.time = _intervals(time or {}, "time")
        if len(self.time) > 1:
            raise ValueError(
                f"`time` must hold one coordinate. Received: {_names(self.time)}"
            )
        names = [symbol.name for symbol in (*self.space, *self.time)]
        if not names or len(set(names)) < len(names):
            raise ValueError(
                "A domain needs at least one coordinate, each declared once. "
                f"Received: space={_names(self.space)}, time={_names(self.time)}"
            )
        self.coordinates = (*self.space, *self.time)
        intervals = [*self.space.values(), *self.time.values()]
        self._lower = np.array([start for start, _ in intervals])
        self._extent = np.array([end - start for start, end in intervals])

    @property
    def dimension(self):
        """Number of coordinates, time included."""
        return len(self.coordinates)

    @property
    def mean(self):
        """Mean of points uniform in the box, `(d,)`."""
        return self._lower + self._extent / 2

    @property
    def variance(self):
        """Variance of points uniform in the box, `(d,)`."""
        return self._extent**2 / 12

    def blocks(self, on):
        """The parts of the domain that `on=` of a `Condition` names.

        Args:
            on: `"interior"`, `"boundary"` (every spatial face), `"initial"` (time at
                its start), a dict from coordinates to a value at an end of their
                interval (`{y: 1}` is a face, `{x: 0, y: 0}` the edge or corner where
                two meet), or a list of these.

        Returns:
            Tuple of blocks, one for each entry of a list, else one. A block is a
            tuple of regions; a region is the tuple of pairs `(column, value)` held
            fixed on it, `()` being the interior.

        Raises:
            ValueError: If `on` names no part of this domain.
        """
        if isinstance(on, (list, tuple)):
            if not on:
                raise ValueError(f"`on` must not be empty. {self._advice()}")
            return tuple(block for part in on for block in self.blocks(part))
        if isinstance(on, dict) and on:
            return ((self._face(on),),)
        if on == "interior":
            return (((),),)
        if on == "boundary" and self.space:
            return (
                tuple(
                    ((column, float(end)),)
                    for column, interval in enumerate(self.space.values())
                    for end in interval
                ),
            )
        if on == "initial" and self.time:
            ((start, _),) = self.time.values()
            return ((((self.dimension - 1, float(start)),),),)
        raise ValueError(f"`on` names no part of the domain: {on!r}. {self._advice()}")

    def sample(self, region, uniform):
        """Points of a region from numbers uniform in [0, 1), `(..., n, d)`."""
        origin, extent = self._lower.copy(), self._extent.copy()
        for column, value in region:
            origin[column], extent[column] = value, 0.0
        return ops.cast(origin, uniform.dtype) + uniform * ops.cast(
            extent, uniform.dtype
        )

    def contains(self, region, points):
        """Which points lie on a region, to rounding: booleans `(..., n)`."""
        tolerance = 1e-6 * float(self._extent.max())
        upper = self._lower + self._extent
        inside = ops.all(
            ops.logical_and(
                points >= ops.cast(self._lower - tolerance, points.dtype),
                points <= ops.cast(upper + tolerance, points.dtype),
            ),
            axis=-1,
        )
        for column, value in region:
            near = ops.abs(points[..., column] - value) <= tolerance
            inside = ops.logical_and(inside, near)
        return inside

    def grid(self, n):
        """Equidistant points, ends included: `(n**d, d)`, the last column fastest."""
        if isinstance(n, bool) or not isinstance(n, int) or n < 2:
            raise ValueError(
                f"`n` must be an integer, the points a side, at least 2. Received: {n}"
            )
        axes = [
            np.linspace(start, end, n)
            for start, end in zip(self._lower, self._lower + self._extent, strict=True)
        ]
        mesh = np.meshgrid(*axes, indexing="ij")
        return np.stack([axis.ravel() for axis in mesh], axis=-1)

    def describe(self, region):
        """Text for a region, such as `x = -1`."""
        return (
            ", ".join(f"{self.coordinates[c].name} = {v:g}" for c, v in region)
            or "the interior"
        )

    def __str__(self):
        intervals = (self.space | self.time).items()
        return " × ".join(f"{s} ∈ [{a:g}, {b:g}]" for s, (a, b) in intervals)

    def get_config(self):
        return {
            "space": [[to_json(s), *ends] for s, ends in self.space.items()],
            "time": [[to_json(s), *ends] for s, ends in self.time.items()],
        }

    @classmethod
    @reading
    def from_config(cls, config):
        def intervals(saved):
            return {from_json(symbol): tuple(ends) for symbol, *ends in saved}

        return cls(intervals(config["space"]), intervals(config["time"]))

    def _face(self, on):
        fixed = []
        for symbol, value in on.items():
            if symbol not in self.coordinates:
                raise ValueError(
                    f"`on` must be a face of the domain. Received {on}: the domain "
                    f"has no coordinate {symbol}. {self._advice()}"
                )
            column = self.coordinates.index(symbol)
            ends = (self.space | self.time)[symbol]
            match = [end for end in ends if _close(end, value)]
            if not match:
                raise ValueError(
                    f"`on` must be a face of the domain. Received {on}. "
                    f"{self._advice()}"
                )
            fixed.append((column, match[0]))
        return tuple(sorted(fixed))

    def _advice(self):
        faces = [
            f"{{{symbol.name}: {end:g}}}"
            for symbol, ends in (self.space | self.time).items()
            for end in ends
        ]
        words = ['"interior"']
        words += ['"boundary"'] if self.space else []
        words += ['"initial"'] if self.time else []
        words.append(f"a face ({', '.join(faces)})")
        return f"Write {', '.join(words)}, or a list of these."


def _intervals(declared, what):
    if not isinstance(declared, dict):
        raise TypeError(
            f"`{what}` must be a dict from SymPy symbols to intervals, such as "
            f"{{x: (0, 1)}}. Received: {declared!r}"
        )
    intervals = {}
    for symbol, interval in declared.items():
        if not isinstance(symbol, sp.Symbol):
            raise TypeError(
                f"A coordinate must be a SymPy symbol, such as `sympy.Symbol('x')`. "
                f"Received: {symbol!r} of type {type(symbol).__name__}"
            )
        try:
            start, end = (float(bound) for bound in interval)
        except (TypeError, ValueError):
            raise ValueError(
                f"The interval of {symbol} must be two numbers, (start, end). "
                f"Received: {interval!r}"
            ) from None
        if not (math.isfinite(start) and math.isfinite(end)) or start >= end:
            raise ValueError(
                f"The interval of {symbol} must be finite and start below its end. "
                f"Received: {interval!r}"
            )
        intervals[symbol] = (start, end)
    return intervals


def _close(end, value):
    try:
        return math.isclose(end, float(value), rel_tol=1e-12, abs_tol=1e-12)
    except (TypeError, ValueError):
        return False


def _names(intervals):
    return [symbol.name for symbol in intervals]
