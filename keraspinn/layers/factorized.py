from typing import Any

import keras

from keraspinn.common.checks import check_count
from keraspinn.common.typing import Activation, Initializer, Tensor
from keraspinn.derivatives.taylor.rules import SeriesLayer, activate, affine
from keraspinn.layers import activations


class FactorizedDense(SeriesLayer):
    """Dense layer with a kernel factorized into scales and directions.

    It computes `φ(X W + b)` with `W = V diag(exp(s))`, and trains s and V. The scale s
    gives each unit its own learning rate, and spreads the scales at which the network
    learns. Initially W follows `kernel_initializer`.

    Args:
        units: Number of units.
        activation: The activation φ, as for `keras.layers.Dense`, or `"sin"`.
        mean: Mean of the normal distribution of the initial s; the paper uses 0.5
            to 1.
        deviation: Its standard deviation.
        kernel_initializer: Initializer of W.
        bias_initializer: Initializer of b.
        seed: Seed of s; random by default.
        **kwargs: `name`, `dtype`, `trainable` of `keras.layers.Layer`.

    Call arguments:
        x: Points or features, `(..., F)`.

    Returns:
        Features, `(..., units)`.

    Raises:
        ValueError: If `units` is not a positive integer.

    Example:

    >>> layer = keraspinn.layers.FactorizedDense(16, "tanh")
    >>> keras.ops.shape(layer(keras.random.uniform((8, 2))))
    (8, 16)

    Reference:
        Wang, Wang, Seidman & Perdikaris, "Random weight factorization improves the
        training of continuous neural representations", 2022.
    """

    def __init__(
        self,
        units: int,
        activation: Activation = None,
        mean: float = 1.0,
        deviation: float = 0.1,
        kernel_initializer: Initializer = "glorot_normal",
        bias_initializer: Initializer = "zeros",
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.units = check_count("units", units)
        self.activation = activations.get(activation)
        self.mean, self.deviation, self.seed = mean, deviation, seed
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.bias_initializer = keras.initializers.get(bias_initializer)

    def build(self, input_shape):
        # An initializer returns the same numbers in each call.
        scale = keras.initializers.RandomNormal(self.mean, self.deviation, self.seed)

        def direction(shape, dtype=None):
            kernel = self.kernel_initializer(shape, dtype=dtype)
            return kernel / keras.ops.exp(scale(shape[-1:], dtype=dtype))

        shape = input_shape[-1], self.units
        self.scale = self.add_weight(shape[1:], scale, name="scale")
        self.direction = self.add_weight(shape, direction, name="direction")
        self.bias = self.add_weight(shape[1:], self.bias_initializer, name="bias")

    @property
    def kernel(self) -> Tensor:
        """W, `(F, units)`."""
        return self.direction * keras.ops.exp(self.scale)

    def call(self, x):  # a tensor, or a series
        return activate(self.activation, affine(x, self.kernel, self.bias))

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], self.units)
