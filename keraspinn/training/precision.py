"""A model at another precision or width."""

import keras

from keraspinn.backend.compatibility import every_layer
from keraspinn.backend.scopes import assign, setting
from keraspinn.common.checks import check_choice
from keraspinn.networks import widened
from keraspinn.training.checks import WHOLE
from keraspinn.training.frozen import freeze, frozen


def converted(model, dtype):
    """Return the result of `PINNModel.astype`.

    Args:
        model: The `PINNModel`.
        dtype: `"float32"` or `"float64"`.
    """
    check_choice("dtype", dtype, WHOLE)
    others = ("format", "version", "problem", "network", "weighting", "frozen")
    config = {n: v for n, v in model.get_config().items() if n not in others}
    config["problem"] = model.problem
    with policy(dtype), model.replica_scope():
        config["network"] = rebuilt(model.network, dtype)
        other = type(model)(**_replaced(config, dtype))
        for new, old in zip(other.weights, model.weights, strict=True):
            # A cast to the same type is no copy, and a compiled loop writes over it.
            new.assign(keras.ops.copy(keras.ops.cast(old, new.dtype)))
    freeze(other, frozen(model))
    return other


def with_units(model, units, **settings):
    """Return a model with a wider network, the same loss weights and parameters.

    Args:
        model: The `PINNModel` with an `MLP`.
        units: Number of units.
        **settings: Others of the wider `MLP`.
    """
    network = widened(model.network, units, **settings)
    dtype = model.dtype_policy
    wider = type(model)(model.problem, network, seed=model.seed, dtype=dtype)
    assign(wider.loss_weights.values(), model.loss_weights.values())
    assign(wider.coefficients.values(), model.coefficients.values())
    return wider


def policy(dtype):
    """Let layers without a policy take this one, for a while.

    Layers that Keras makes from a configuration are among them: it saves the policy of
    a `Sequential` or functional model and does not read it.

    Args:
        dtype: A type, or a policy or its configuration; `None` changes nothing.
    """
    read, write = keras.config.dtype_policy, keras.config.set_dtype_policy
    return setting(read, write, keras.dtype_policies.get(dtype))


def rebuilt(network, dtype):
    """Make a network of the same configuration with other weights, in some type.

    Args:
        network: The Keras layer or model.
        dtype: `"float32"` or `"float64"`.
    """
    # Keras needs the user's classes that are not registered.
    classes = {type(layer).__name__: type(layer) for layer in every_layer(network)}
    known = {n: c for n, c in classes.items() if not c.__module__.startswith("keras.")}
    with policy(dtype), keras.saving.custom_object_scope(known):
        return type(network).from_config(_replaced(network.get_config(), dtype))


def _replaced(config, dtype, key=None):
    """Return a configuration with all floating-point types replaced, at any depth."""
    if isinstance(config, dict):
        replaced = {k: _replaced(value, dtype, k) for k, value in config.items()}
        if config.get("class_name") == "DTypePolicy":
            replaced["config"] = {**config["config"], "name": dtype}
        return replaced
    if isinstance(config, (list, tuple)):
        return type(config)(_replaced(value, dtype) for value in config)
    # A layer may have the name of a type.
    return dtype if key != "name" and config in WHOLE else config
