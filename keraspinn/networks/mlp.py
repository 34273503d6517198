from typing import Any

import keras

from keraspinn.networks.base import Network


class MLP(Network):
    """Fully connected network, models M1 and M2 of the paper.

    Args:
        units: Number of units in each hidden layer.
        depth: Number of hidden layers.
        outputs: Number of fields, one column each, in the order of
            `Problem.fields`.
        activation: Activation of the hidden layers, as for `keras.layers.Dense`, or
            `"sin"`; the output is linear.
        kernel_initializer: Initializer of every kernel; Glorot normal, as in the
            paper. Each layer gets different numbers, also from one seed.
        bias_initializer: Initializer of every bias.
        standardize: Whether the network works in the scales of its problem, or in the
            user's coordinates.
        **kwargs: `name`, `dtype` of `keras.Model`.

    Call arguments:
        x: Points, `(..., d)`.

    Returns:
        The fields' values, `(..., outputs)`.

    Raises:
        ValueError: If `units`, `depth` or `outputs` is not a positive integer.

    Example:

    >>> network = keraspinn.networks.MLP(units=50, depth=5)
    >>> keras.ops.shape(network(keras.random.uniform((8, 2))))
    (8, 1)
    """

    def __init__(
        self, units: int = 50, depth: int = 3, outputs: int = 1, **kwargs: Any
    ) -> None:
        super().__init__(units, depth, outputs, **kwargs)
        self.hidden = self._numbered(keras.layers.Dense, "hidden_{}")
        self.head = self._head()

    def forward(self, x, apply):
        for layer in self.hidden:
            x = apply(layer, x)
        return apply(self.head, x)
