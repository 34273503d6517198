"""Activation functions by name: Keras's, and the sine."""

from collections.abc import Callable

import keras
from keras import ops

from keraspinn.common.typing import Activation, Tensor
from keraspinn.derivatives.taylor import activations as taylor


@keras.saving.register_keras_serializable("keraspinn")
def sin(x: Tensor) -> Tensor:
    """Compute the sine; an activation function that is saved and loaded with a model.

    `keras.ops.sin` computes the same, but a layer saved with it does not load. Pass
    the function to Keras layers, `activation=keraspinn.activations.sin`, as Keras looks
    up names among its own activations only.

    Args:
        x: Tensor.

    Returns:
        Tensor of the shape of `x`.

    Example:

    >>> layer = keras.layers.Dense(10, activation=keraspinn.activations.sin)
    >>> network = keraspinn.networks.MLP(units=10, activation="sin")

    Reference:
        Sitzmann et al., "Implicit neural representations with periodic activation
        functions", NeurIPS 2020.
    """
    return ops.sin(x)


taylor.register_activation(sin)(taylor.sin)


def get(identifier: Activation) -> Callable[[Tensor], Tensor]:
    """Return an activation function by its identifier.

    Args:
        identifier: `"sin"`, or any argument of `keras.activations.get`.

    Raises:
        ValueError: If there is no such activation.

    Example:

    >>> keraspinn.activations.get("sin") is keraspinn.activations.sin
    True
    """
    if identifier is ops.sin or (isinstance(identifier, str) and identifier == "sin"):
        return sin
    return keras.activations.get(identifier)
