from typing import Any

import keras

from keraspinn.derivatives.taylor import SeriesLayer, Taylor


class AdaptiveSkip(SeriesLayer):
    """Residual connection that starts as the identity.

    It computes `α H + (1 − α) X` with one trained number α, initially zero: a deep
    network of such blocks starts as a shallow one.

    Args:
        initial: Initial value of α.
        **kwargs: `name`, `dtype`, `trainable` of `keras.layers.Layer`.

    Call arguments:
        x: Input X of the block, `(..., F)`.
        h: Output H of the block, `(..., F)`.

    Returns:
        Features, `(..., F)`.

    Example:

    >>> layer = keraspinn.layers.AdaptiveSkip()
    >>> x, h = keras.random.normal((2, 8, 4))
    >>> bool(keras.ops.all(layer(x, h) == x))
    True

    Reference:
        Wang, Li, Chen & Perdikaris, "PirateNets: physics-informed deep learning with
        residual adaptive networks", JMLR 2024.
    """

    def __init__(self, initial: float = 0.0, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.initial = float(initial)

    def build(self, x_shape, h_shape):
        initial = keras.initializers.Constant(self.initial)
        self.alpha = self.add_weight((), initial, name="alpha")

    def call(self, x, h):  # tensors, or series
        is_series = isinstance(x, Taylor)
        alpha = keras.ops.cast(self.alpha, x.dtype) if is_series else self.alpha
        return x + (h - x) * alpha

    def compute_output_shape(self, x_shape, h_shape):
        return x_shape
