import inspect
import math
from collections.abc import Mapping, Sequence
from typing import Any

import keras
from keras import ops

from keraspinn.derivatives.taylor import Taylor, register_rule
from keraspinn.derivatives.taylor.rules import activate, columns, concatenated

# Square of the distance from a corner, below which features do not change: their
# gradient at the corner itself is infinite.
SMALLEST_SQUARE = 1e-8


@keras.saving.register_keras_serializable("keraspinn")
class Corners(keras.layers.Layer):
    """Features of corners, for fields whose gradients are unbounded there.

    The layer appends the real and the imaginary part of z^λ for each corner, where
    z = r exp(iφ) is the position relative to it, and φ the angle to the bisector. With
    λ = π/ω this maps a corner of the angle ω to a straight side, on which the solution
    of an elliptic equation is smooth.

    Args:
        corners: List of dicts: `at`, the corner's two coordinates; `direction`, the
            angle of the bisector into the domain; `exponent`, the power λ; and
            optionally `radius`, beyond which the features vanish; `plane`, the numbers
            of its coordinates; `stretch`, a factor for each of them.
        **kwargs: `name`, `dtype` of `keras.layers.Layer`.

    Call arguments:
        x: Points, `(..., d)`.

    Returns:
        The points and the features, `(..., d + 2 c)` with c corners.

    Raises:
        TypeError: If a corner has other keys, or lacks one.

    Example:

    >>> corner = {"at": (0.0, 0.0), "direction": 0.0, "exponent": 0.5}
    >>> layer = keraspinn.layers.Corners([corner])
    >>> keras.ops.convert_to_numpy(layer(np.array([[4.0, 0.0]]))).tolist()
    [[4.0, 0.0, 2.0, 0.0]]

    Reference:
        Grisvard, "Elliptic problems in nonsmooth domains", 1985.
    """

    def __init__(self, corners: Sequence[Mapping[str, Any]], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.corners = [dict(corner) for corner in corners]
        for corner in self.corners:  # TypeError for another key, or one that lacks
            inspect.signature(_features).bind(None, **corner)

    def call(self, x):  # a tensor, or a series
        features = (f for corner in self.corners for f in _features(x, **corner))
        return concatenated([x, *features])

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], input_shape[-1] + 2 * len(self.corners))

    def get_config(self):
        return {**super().get_config(), "corners": self.corners}


def _features(x, at, direction, exponent, radius=None, plane=(0, 1), stretch=(1, 1)):
    first, second = (
        (columns(x, [column]) - start) * factor
        for column, start, factor in zip(plane, at, stretch, strict=True)
    )
    cosine, sine = math.cos(direction), math.sin(direction)
    along, across = first * cosine + second * sine, second * cosine - first * sine
    features = _power(along, across, exponent)
    if radius is not None:
        squares = along * along + across * across
        inside = activate(ops.relu, squares * (-1 / radius**2) + 1.0)
        features = [feature * inside * inside * inside for feature in features]
    return features


def _power(x, y, exponent):
    """Return the real and the imaginary part of (x + iy)^λ, by its Taylor series."""
    is_series = isinstance(x, Taylor)
    values = (x.value, y.value) if is_series else (x, y)
    squares = ops.maximum(values[0] ** 2 + values[1] ** 2, SMALLEST_SQUARE)
    angle = ops.arctan2(values[1], values[0])

    def coefficient(order):
        """Return the parts of the coefficient of (dx + i dy)^k."""
        left = exponent - order
        binomial = math.prod((exponent - k) / (k + 1) for k in range(order))
        size = binomial * ops.power(squares, left / 2)
        return size * ops.cos(left * angle), size * ops.sin(left * angle)

    real, imaginary = coefficient(0)
    if not is_series:
        return [real, imaginary]
    dx, dy = x - values[0], y - values[1]
    parts, power = [dx * 0.0 + real, dy * 0.0 + imaginary], (dx, dy)
    for order in range(1, x.indices.order + 1):
        real, imaginary = coefficient(order)
        parts[0] = parts[0] + power[0] * real - power[1] * imaginary
        parts[1] = parts[1] + power[0] * imaginary + power[1] * real
        power = (power[0] * dx - power[1] * dy, power[0] * dy + power[1] * dx)
    return parts


register_rule(Corners)(Corners.call)
