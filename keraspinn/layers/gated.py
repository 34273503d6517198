from typing import Any

import keras

from keraspinn.common.checks import check_count
from keraspinn.common.typing import Activation, Initializer
from keraspinn.derivatives.taylor.rules import SeriesLayer, activate, affine
from keraspinn.layers import activations


class GatedDense(SeriesLayer, keras.layers.Dense):
    """Hidden layer that gates between two encodings of the input.

    It computes `Z = φ(H W + b)` and returns `(1 − Z) ⊙ U + Z ⊙ V`: each unit
    interpolates, point by point, between the encodings U and V.

    Args:
        units: Number of units M, the width of U and V.
        activation: The activation φ, as for `keras.layers.Dense`, or `"sin"`.
        kernel_initializer: Initializer of W.
        **kwargs: Other arguments of `keras.layers.Dense`, such as `bias_initializer`
            and `kernel_regularizer`.

    Call arguments:
        h: Hidden state H, `(..., F)`.
        u: Encoding U, `(..., units)`.
        v: Encoding V, `(..., units)`.

    Raises:
        ValueError: If `units` is not a positive integer, or U or V has another
            width.

    Example:

    >>> layer = keraspinn.layers.GatedDense(4)
    >>> h, u, v = keras.random.normal((3, 8, 4))
    >>> keras.ops.shape(layer(h, u, v))
    (8, 4)

    Reference:
        Wang, Teng & Perdikaris, "Understanding and mitigating gradient pathologies
        in physics-informed neural networks", section 2.6.
    """

    def __init__(
        self,
        units: int,
        activation: Activation = "tanh",
        kernel_initializer: Initializer = "glorot_normal",
        **kwargs: Any,
    ) -> None:
        kwargs |= {"kernel_initializer": kernel_initializer}
        units = check_count("units", units)
        super().__init__(units, activations.get(activation), **kwargs)

    def build(self, h_shape, u_shape, v_shape):
        for name, shape in (("U", u_shape), ("V", v_shape)):
            if shape[-1] != self.units:
                raise ValueError(
                    f"The encoding {name} must have as many features as the layer has "
                    f"units, {self.units}. Received: {name} of shape {shape}"
                )
        super().build(h_shape)

    def call(self, h, u, v):  # tensors, or series
        z = activate(self.activation, affine(h, self.kernel, self.bias))
        return u + z * (v - u)

    def compute_output_shape(self, h_shape, u_shape, v_shape):
        return super().compute_output_shape(h_shape)
