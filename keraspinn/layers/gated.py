from typing import Any

import keras
from keras import ops

from keraspinn.common.checks import check_count
from keraspinn.common.typing import Activation, Initializer, Regularizer
from keraspinn.derivatives.taylor.rules import activate, affine, register_rule
from keraspinn.layers import activations


@keras.saving.register_keras_serializable("keraspinn")
class GatedDense(keras.layers.Layer):
    """Hidden layer that gates between two encodings of the input.

    It computes `Z = φ(H W + b)` and returns `(1 − Z) ⊙ U + Z ⊙ V`: each unit
    interpolates, point by point, between the encodings U and V.

    Args:
        units: Number of units M, the width of U and V.
        activation: The activation φ, as for `keras.layers.Dense`, or `"sin"`.
        kernel_initializer: Initializer of W.
        bias_initializer: Initializer of b.
        kernel_regularizer: Regularizer of W.
        bias_regularizer: Regularizer of b.
        **kwargs: `name`, `dtype`, `trainable` of `keras.layers.Layer`.

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
        bias_initializer: Initializer = "zeros",
        kernel_regularizer: Regularizer = None,
        bias_regularizer: Regularizer = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.units = check_count("units", units)
        self.activation = activations.get(activation)
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.bias_initializer = keras.initializers.get(bias_initializer)
        self.kernel_regularizer = keras.regularizers.get(kernel_regularizer)
        self.bias_regularizer = keras.regularizers.get(bias_regularizer)

    def build(self, h_shape, u_shape, v_shape):
        for name, shape in (("U", u_shape), ("V", v_shape)):
            if shape[-1] != self.units:
                raise ValueError(
                    f"The encoding {name} must have as many features as the layer has "
                    f"units, {self.units}. Received: {name} of shape {shape}"
                )
        self.kernel = self.add_weight(
            name="kernel",
            shape=(h_shape[-1], self.units),
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
        )
        self.bias = self.add_weight(
            name="bias",
            shape=(self.units,),
            initializer=self.bias_initializer,
            regularizer=self.bias_regularizer,
        )

    def call(self, h, u, v):
        z = self.activation(ops.matmul(h, self.kernel) + self.bias)
        return u + z * (v - u)

    def compute_output_shape(self, h_shape, u_shape, v_shape):
        return (*h_shape[:-1], self.units)

    def get_config(self):
        return {
            **super().get_config(),
            "units": self.units,
            "activation": keras.activations.serialize(self.activation),
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
            "bias_initializer": keras.initializers.serialize(self.bias_initializer),
            "kernel_regularizer": keras.regularizers.serialize(self.kernel_regularizer),
            "bias_regularizer": keras.regularizers.serialize(self.bias_regularizer),
        }


@register_rule(GatedDense)
def gated_dense(layer, h, u, v):
    z = activate(layer.activation, affine(h, layer.kernel, layer.bias))
    return u + z * (v - u)
