"""Wider networks that keep the function learned so far."""

from typing import Any

import keras

from keraspinn.common.checks import check_type
from keraspinn.networks.mlp import MLP


def widened(network: MLP, units: int, **kwargs: Any) -> MLP:
    """Return a wider network with the same values as a trained one.

    Old weights are copied. New units receive random weights from below and zero weights
    above, so that they change nothing at first and are trained from then on.

    Args:
        network: A built `MLP`.
        units: Number of units of the hidden layers, at least the network's.
        **kwargs: Other arguments of the wider `MLP`, such as `kernel_initializer`.

    Raises:
        TypeError: If the network is no `MLP`.

    Example:

    >>> network = keraspinn.networks.MLP(units=4, depth=2)
    >>> points = keras.random.uniform((5, 2))
    >>> values = network(points)
    >>> wider = keraspinn.networks.widened(network, 6)
    >>> bool(keras.ops.max(keras.ops.abs(wider(points) - values)) < 1e-6)
    True

    Reference:
        Chen, Goodfellow & Shlens, "Net2Net: Accelerating learning via knowledge
        transfer", arXiv 1511.05641.
    """
    check_type("network", network, MLP, "a keraspinn.networks.MLP")
    wider = MLP.from_config({**network.get_config(), "units": int(units), **kwargs})
    wider.build(network.input_spec and (None, network.input_spec.axes[-1]))
    layers = [[*n.hidden, n.head] for n in (network, wider)]
    for old, new in zip(*layers, strict=True):
        kernel, bias = (keras.ops.convert_to_numpy(w).copy() for w in new.weights)
        known, shift = map(keras.ops.convert_to_numpy, old.weights)
        rows, columns = known.shape
        kernel[rows:, :columns] = 0.0  # none in the first layer
        kernel[:rows, :columns] = known
        bias[:columns] = shift
        new.set_weights([kernel, bias])
    return wider
