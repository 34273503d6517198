import math
from collections.abc import Sequence
from typing import Any

import keras

from keraspinn.derivatives.taylor import register_rule
from keraspinn.derivatives.taylor.rules import activate, columns, concatenated


@keras.saving.register_keras_serializable("keraspinn")
class Kinks(keras.layers.Layer):
    """Features with a kink, for fields whose gradient jumps at an interface.

    The layer appends max(p, 0) for each polynomial p in the coordinates. A smooth
    network of these features is continuous, and its gradient may jump where p = 0.

    Args:
        polynomials: List of polynomials, each a list of pairs of the coordinates'
            exponents and a factor: `[[(1, 0), 2.0], [(0, 0), -1.0]]` is 2x - 1.
        **kwargs: `name`, `dtype` of `keras.layers.Layer`.

    Call arguments:
        x: Points, `(..., d)`.

    Returns:
        The points and the features, `(..., d + p)`.

    Example:

    >>> layer = keraspinn.layers.Kinks([[[(1,), 2.0], [(0,), -1.0]]])
    >>> points = np.array([[0.25], [1.0]])
    >>> keras.ops.convert_to_numpy(layer(points)).tolist()
    [[0.25, 0.0], [1.0, 1.0]]

    Reference:
        Tseng, Lin, Hu & Lai, "A cusp-capturing PINN for elliptic interface problems",
        JCP 2023.
    """

    def __init__(self, polynomials: Sequence[Any], **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.polynomials = [
            [[tuple(map(int, powers)), float(factor)] for powers, factor in polynomial]
            for polynomial in polynomials
        ]

    def call(self, x):  # a tensor, or a series
        values = (sum(_monomial(x, *term) for term in p) for p in self.polynomials)
        return concatenated([x, *(activate(keras.ops.relu, value) for value in values)])

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], input_shape[-1] + len(self.polynomials))

    def get_config(self):
        return {**super().get_config(), "polynomials": self.polynomials}


register_rule(Kinks)(Kinks.call)


def _monomial(x, powers, factor):
    """Return a factor times a product of powers of the coordinates."""
    coordinates = (columns(x, [k]) for k, n in enumerate(powers) for _ in range(n))
    return math.prod(coordinates, start=factor)
