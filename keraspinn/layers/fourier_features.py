from typing import Any

from keras import initializers, ops

from keraspinn.common.checks import check_count, positive_number
from keraspinn.derivatives.taylor import SeriesLayer
from keraspinn.derivatives.taylor.rules import activate, affine, concatenated


class FourierFeatures(SeriesLayer):
    """Fourier features with random directions and frequencies.

    The layer computes `[cos(X B), sin(X B)]`. The entries of B are drawn once from a
    normal distribution and not trained. Networks learn low frequencies first; these
    features provide higher ones from the start.

    Args:
        units: Number of waves, the columns of B; there are twice as many features.
        scale: Standard deviation of B's entries, in radians per unit of a coordinate:
            about the highest frequency of the solution. 1 to 10 is usual for
            coordinates of size one.
        seed: Seed of B; random by default.
        **kwargs: `name`, `dtype` of `keras.layers.Layer`.

    Call arguments:
        x: Points, `(..., d)`.

    Returns:
        Features, `(..., 2 * units)`.

    Raises:
        ValueError: If `units` is not a positive integer or `scale` not positive.

    Example:

    >>> layer = keraspinn.layers.FourierFeatures(16, scale=2.0)
    >>> keras.ops.shape(layer(keras.random.uniform((8, 2))))
    (8, 32)

    Reference:
        Tancik et al., "Fourier features let networks learn high frequency functions
        in low dimensional domains", NeurIPS 2020; Wang, Wang & Perdikaris, "On the
        eigenvector bias of Fourier feature networks", CMAME 2021.
    """

    def __init__(
        self, units: int, scale: float = 1.0, seed: int | None = None, **kwargs: Any
    ) -> None:
        super().__init__(**kwargs)
        self.units = check_count("units", units)
        self.scale = positive_number("scale", scale)
        self.seed = seed

    def build(self, input_shape):
        normal = initializers.RandomNormal(stddev=self.scale, seed=self.seed)
        shape = input_shape[-1], self.units
        self.kernel = self.add_weight(shape, normal, trainable=False, name="kernel")

    def call(self, x):  # a tensor, or a series
        phase = affine(x, self.kernel)
        return concatenated([activate(ops.cos, phase), activate(ops.sin, phase)])

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], 2 * self.units)
