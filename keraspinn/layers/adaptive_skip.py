from typing import Any

import keras

from keraspinn.derivatives.taylor.rules import register_rule


@keras.saving.register_keras_serializable("keraspinn")
class AdaptiveSkip(keras.layers.Layer):
    """A residual connection that starts shut and opens as it is trained.

    Computes `α H + (1 − α) X` with one trained number α, which starts from zero: a
    deep network of such blocks starts as a shallow one.

    Args:
        initial: What α starts from.
        **kwargs: `name`, `dtype`, `trainable` of `keras.layers.Layer`.

    Call arguments:
        x: What the block was given, X, `(..., F)`.
        h: What it made of it, H, `(..., F)`.

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
        self.alpha = self.add_weight(
            name="alpha",
            shape=(),
            initializer=keras.initializers.Constant(self.initial),
        )

    def call(self, x, h):
        return x + self.alpha * (h - x)

    def compute_output_shape(self, x_shape, h_shape):
        return x_shape

    def get_config(self):
        return {**super().get_config(), "initial": self.initial}


@register_rule(AdaptiveSkip)
def adaptive_skip(layer, x, h):
    return x + (h - x) * keras.ops.cast(layer.alpha, x.dtype)
