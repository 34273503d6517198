"""Optimizers beyond Keras's, most of them second-order."""

from typing import Any

import keras

from keraspinn.optimizers.base import Objective, Optimizer
from keraspinn.optimizers.bfgs import BFGS
from keraspinn.optimizers.gauss_newton import GaussNewton
from keraspinn.optimizers.lbfgs import LBFGS
from keraspinn.optimizers.soap import SOAP
from keraspinn.optimizers.ssbroyden import SSBFGS, SSBroyden

__all__ = [
    "BFGS",
    "LBFGS",
    "SOAP",
    "SSBFGS",
    "GaussNewton",
    "Objective",
    "Optimizer",
    "SSBroyden",
    "get",
]

CLASSES = (BFGS, LBFGS, SOAP, SSBFGS, GaussNewton, SSBroyden)
BY_NAME = {optimizer.__name__.lower(): optimizer for optimizer in CLASSES}


def get(identifier: Any) -> keras.optimizers.Optimizer | None:
    """Return an optimizer of this package or of Keras by name, as `compile` does.

    Args:
        identifier: A name, in any case, for an optimizer with its defaults; or another
            argument of `keras.optimizers.get`: an instance, a configuration, or
            `None`.

    Raises:
        ValueError: If there is no such optimizer.

    Example:

    >>> type(keraspinn.optimizers.get("ssbroyden")).__name__
    'SSBroyden'
    >>> type(keraspinn.optimizers.get("adam")).__name__
    'Adam'
    """
    if isinstance(identifier, str) and identifier.lower() in BY_NAME:
        return BY_NAME[identifier.lower()]()
    return keras.optimizers.get(identifier)
