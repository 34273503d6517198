import math
from typing import Any

from keras import initializers, layers, ops

from keraspinn.common.checks import check_count, positive_number
from keraspinn.derivatives.taylor.rules import SeriesLayer, activate, affine


class SineDense(SeriesLayer, layers.Dense):
    """Dense layer with sines, initialized to preserve variances.

    It computes `sin(ω (X W + b))`. With F input features, the entries of W are uniform
    over ±√(6/F)/ω, so that inputs and outputs have equal distributions. In a first
    layer, with coordinates in [−1, 1], they are uniform over ±1/F.

    Args:
        units: Number of units.
        frequency: The frequency ω. For a first layer, about the highest of the
            solution's, in radians per unit of a coordinate.
        first: Whether the inputs are the coordinates.
        seed: Seed of the weights; random by default.
        **kwargs: `name`, `dtype`, `trainable` of `keras.layers.Layer`.

    Call arguments:
        x: Points or features, `(..., F)`.

    Returns:
        Features, `(..., units)`.

    Raises:
        ValueError: If `units` is not a positive integer or `frequency` not positive.

    Example:

    >>> layer = keraspinn.layers.SineDense(16, frequency=10.0, first=True)
    >>> keras.ops.shape(layer(keras.random.uniform((8, 2))))
    (8, 16)

    Reference:
        Sitzmann et al., "Implicit neural representations with periodic activation
        functions", NeurIPS 2020, section 3.2.
    """

    def __init__(
        self,
        units: int,
        frequency: float = 30.0,
        first: bool = False,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(check_count("units", units), **kwargs)
        self.frequency = positive_number("frequency", frequency)
        self.first, self.seed = bool(first), seed

    def build(self, input_shape):
        features = input_shape[-1]
        bound = 1 / features if self.first else math.sqrt(6 / features) / self.frequency
        self.kernel_initializer = _uniform(bound, self.seed)
        other_seed = None if self.seed is None else self.seed + 1
        self.bias_initializer = _uniform(1 / math.sqrt(features), other_seed)
        super().build(input_shape)

    def call(self, x):  # a tensor, or a series
        return activate(ops.sin, affine(x, self.kernel, self.bias) * self.frequency)


def _uniform(bound, seed):
    return initializers.RandomUniform(-bound, bound, seed)
