"""Optimizers by name."""

from typing import Any

import keras

from keraspinn.optimizers.bfgs import BFGS
from keraspinn.optimizers.gauss_newton import GaussNewton
from keraspinn.optimizers.lbfgs import LBFGS
from keraspinn.optimizers.soap import SOAP
from keraspinn.optimizers.ssbroyden import SSBFGS, SSBroyden

OWN = {o.__name__: o for o in (BFGS, LBFGS, SOAP, SSBFGS, GaussNewton, SSBroyden)}


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
    if not isinstance(identifier, str):
        return keras.optimizers.get(identifier)
    for name, optimizer in OWN.items():
        if identifier.lower() == name.lower():
            return optimizer()
    try:
        return keras.optimizers.get(identifier)
    except ValueError as error:
        raise ValueError(
            f"There is no optimizer '{identifier}'. Write the name of one of Keras's, "
            f"such as 'adam', or of keraspinn's: {sorted(OWN)}."
        ) from error
