"""Checks, before training, that a network can satisfy the equations."""

import warnings

import keras
import numpy as np
from keras import ops

from keraspinn.backend.compatibility import every_layer
from keraspinn.derivatives.taylor.rules import INACTIVE

SCALES = (1.0, 0.3)  # scales of random weights tried besides the network's own
# Functions whose derivative of order 0, 1 or 2 jumps.
JUMPS = (
    {"ceil", "discretization", "floor", "hardshrink", "round", "sign", "threshold"},
    {"abs", "absolute", "hardsigmoid", "hardsilu", "hardtanh", "leakyrelu", "prelu"}
    | {"relu", "relu6", "selu", "softshrink", "sparsesigmoid"},
    {"celu", "elu", "softsign", "sparseplus"},
)


def check_derivatives(network, derivatives, coordinates):
    """Reject a network with a derivative that is zero for all weights.

    A network of ReLUs has no second derivative: the residual of Laplace's equation is
    zero from the first step, whatever the field. The check evaluates derivatives with
    the current weights. Those that are zero at every point are evaluated again with
    random weights, so that a head initialized with zeros passes.

    Args:
        network: The network, built. One without trained variables, such as a solution
            in closed form, passes.
        derivatives: Function without arguments that returns a dict from pairs
            `(field name, multi-index)` to tensors, the derivatives in the equations
            and conditions, at about 64 points inside the domain.
        coordinates: Names of the coordinates, in the order of the multi-indices.

    Raises:
        ValueError: If a derivative is zero at all points; the message names the
            responsible layers.

    Example:

    >>> from keraspinn.derivatives.engines import jvp_derivatives
    >>> network = keras.Sequential([keras.Input((1,)), keras.layers.Dense(1)])
    >>> x = keras.random.uniform((64, 1))
    >>> def derivatives():
    ...     return {("u", (2,)): jvp_derivatives(network, x, [(2,)])[2,]}
    >>> check_derivatives(network, derivatives, ["x"])
    Traceback (most recent call last):
        ...
    ValueError: The equations need ∂²u/∂x², zero for this network whatever its ...
    """
    variables = [v for v in network.trainable_weights if v.shape and "float" in v.dtype]
    vanishing = _vanishing(derivatives()) if variables else set()
    for scale in SCALES:
        if vanishing:
            with keras.StatelessScope(_redrawn(variables, scale)):
                vanishing &= _vanishing(derivatives())
    if not vanishing:
        return
    suspects = _kinked_layers(network, min(sum(index) for _, index in vanishing))
    shown = [notation(*pair, coordinates) for pair in sorted(vanishing)]
    blamed = f" because of {_enumerated(suspects)}" if suspects else ""
    raise ValueError(
        f"The equations need {_enumerated(shown)}, zero for this network whatever its "
        f"weights{blamed}. Use a smooth activation, such as "
        '"tanh", "gelu" or `keraspinn.activations.sin`, and start with a layer that '
        "scales coordinates to about one. If the network is meant to be "
        "this way, leave the vanishing derivatives out of the equations."
    )


def warn_of_kinks(network, order):
    """Warn of layers with jumps, or with kinks if second derivatives are needed.

    Piecewise linear layers next to smooth ones have second derivatives, as has the
    curved side of "selu". But no point sees the contribution of a kink: u'' = f may
    hold everywhere on a field with arbitrary bends. Likewise a third derivative misses
    the jumps of the second, such as those of "elu", and a first one misses steps.

    Args:
        network: The network, built.
        order: The highest order of derivative that is needed.

    Warns:
        UserWarning: With the layers' names.
    """
    if kinked := _kinked_layers(network, order):
        warnings.warn(
            f"The network has kinks because of {_enumerated(kinked)}, or jumps, which "
            "no derivative at a point sees: a loss of zero may belong to a wrong "
            'field. Use a smooth activation, such as "tanh", "gelu" or '
            "`keraspinn.activations.sin`.",
            stacklevel=5,
        )


def warn_of_inactive_layers(network):
    """Warn of layers such as Dropout, which act in Keras's training but not here.

    Args:
        network: The network, built.

    Warns:
        UserWarning: With the layers' names.
    """
    inactive = [layer for layer in every_layer(network) if isinstance(layer, INACTIVE)]
    active = [layer for layer in inactive if getattr(layer, "rate", True)]
    if names := [f"'{layer.name}' ({type(layer).__name__})" for layer in active]:
        warnings.warn(
            f"The network's {_enumerated(names)} does nothing: equations need "
            "derivatives of one function, so the network runs as in inference "
            "throughout. Leave it out; keraspinn.Ensemble shows how networks differ.",
            stacklevel=5,
        )


def check_no_activity_losses(network, points):
    """Reject a network whose layers add losses when they are called.

    Derivatives are computed without calling the layers, so an `activity_regularizer`
    or `add_loss` would be ignored.

    Args:
        network: The network, built.
        points: Tensor `(N, d)` for the call.

    Raises:
        ValueError: If a layer has a loss other than its weights' regularizers.

    Example:

    >>> layer = keras.layers.Dense(1, activity_regularizer="l2", name="head")
    >>> network = keras.Sequential([keras.Input((2,)), layer])
    >>> check_no_activity_losses(network, keras.ops.ones((1, 2)))
    Traceback (most recent call last):
        ...
    ValueError: A layer has an `activity_regularizer` or calls `add_loss`, ...
    """
    with keras.StatelessScope(collect_losses=True) as scope:
        for training in (False, True):  # some layers add losses only in training
            network(points, training=training)
    if scope.losses:
        raise ValueError(
            "A layer has an `activity_regularizer` or calls `add_loss`, which training "
            "would ignore: its losses are those of the equations and conditions. Write "
            "the requirement as a `keraspinn.Condition`, or regularize weights, as "
            "with `kernel_regularizer`."
        )


def _vanishing(derivatives):
    """Return the derivatives of positive order that are zero everywhere; NaN is not."""
    pairs = [(key, values) for key, values in derivatives.items() if any(key[1])]
    return {key for key, values in pairs if not np.any(ops.convert_to_numpy(values))}


def _redrawn(variables, scale):
    """Yield variables with random values that preserve the scale of outputs."""
    generator = np.random.default_rng(0)
    for variable in variables:
        fan_in = int(np.prod(variable.shape[:-1])) or 1
        values = generator.normal(0.0, scale / fan_in**0.5, variable.shape)
        yield variable, ops.convert_to_tensor(values, variable.dtype)


def _kinked_layers(network, order):
    """Return the names of layers and operations in `JUMPS` up to an order."""
    jumps = set().union(*JUMPS[:order])
    names = []
    for layer in every_layer(network):
        for operation in getattr(layer, "operations", ()):
            is_layer = isinstance(operation, keras.layers.Layer)
            if not is_layer and _plain(type(operation)) in jumps:
                names.append(f"operation '{operation.name}'")
        function = getattr(layer, "activation", None) or type(layer)
        if _plain(function) in jumps and len(every_layer(layer)) == 1:
            names.append(f"layer '{layer.name}' ({function.__name__})")
    return names


def _plain(function):
    return getattr(function, "__name__", "").replace("_", "").lower()


def _enumerated(names, most=3):
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def notation(name, index, coordinates):
    """Return a derivative in the notation ∂³u/∂x²∂y."""
    powers = dict(zip(range(10), "⁰¹²³⁴⁵⁶⁷⁸⁹", strict=True)) | {1: ""}
    pairs = zip(coordinates, index, strict=True)
    below = [f"∂{coordinate}{powers[count]}" for coordinate, count in pairs if count]
    return f"∂{powers[sum(index)]}{name}/{''.join(below)}"
