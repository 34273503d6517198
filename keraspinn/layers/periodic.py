import math
from collections.abc import Sequence
from typing import Any

import keras

from keraspinn.common.checks import positive_number
from keraspinn.derivatives.taylor import SeriesLayer
from keraspinn.derivatives.taylor.rules import activate, columns, concatenated


class Periodic(SeriesLayer):
    """Map of periodic coordinates to circles, which makes a network periodic.

    The layer replaces every coordinate x of period P by cos(2πx/P) and sin(2πx/P). A
    network of these has equal values and derivatives at x and at x + P, to round-off,
    and needs no boundary condition there. Other coordinates pass unchanged.

    Args:
        periods: A sequence with the period of each coordinate, in the coordinate's
            units, or `None` for one that is not periodic.
        **kwargs: `name`, `dtype` of `keras.layers.Layer`.

    Call arguments:
        x: Points, `(..., d)`.

    Returns:
        Features, `(..., d + p)` with p periods: all cosines, all sines, and the other
        coordinates.

    Raises:
        ValueError: If `periods` has other entries than positive numbers and `None`, or
            another length than the number of coordinates.

    Example:

    >>> layer = keraspinn.layers.Periodic([2.0, None])  # in x, not in t
    >>> keras.ops.shape(layer(keras.random.uniform((8, 2))))
    (8, 3)

    Reference:
        Dong & Ni, "A method for representing periodic functions and enforcing exactly
        periodic boundary conditions with deep neural networks", JCP 2021.
    """

    def __init__(self, periods: Sequence[float | None], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.periods = [
            None if p is None else positive_number("periods", p) for p in periods
        ]
        self._circles = [k for k, p in enumerate(self.periods) if p is not None]
        self._others = [k for k, p in enumerate(self.periods) if p is None]

    def build(self, input_shape):
        if input_shape[-1] != len(self.periods):
            raise ValueError(
                "`periods` must have an entry or `None` for each coordinate. "
                f"Received: periods={self.periods} and {input_shape[-1]} coordinates"
            )

    def frequencies(self, dtype):
        """Return 2π/P of the periodic coordinates, a tensor `(p,)`."""
        values = [2 * math.pi / self.periods[column] for column in self._circles]
        return keras.ops.convert_to_tensor(values, dtype)

    def call(self, x):  # a tensor, or a series
        phase = columns(x, self._circles) * self.frequencies(x.dtype)
        parts = [activate(keras.ops.cos, phase), activate(keras.ops.sin, phase)]
        if self._others:
            parts.append(columns(x, self._others))
        return concatenated(parts)

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], input_shape[-1] + len(self._circles))
