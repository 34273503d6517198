"""What a `PINNModel` may be made of."""

import numbers
import re

import keras

from keraspinn.problem import Problem

WHOLE = ("float32", "float64")


def check_parts(problem, network):
    """Raises `TypeError` unless these are a problem and a network."""
    if not isinstance(problem, Problem):
        raise TypeError(f"`problem` must be a keraspinn.Problem, not {problem!r}")
    if not isinstance(network, keras.Layer):
        raise TypeError(
            "`network` must be a Keras layer or model, such as "
            f"keraspinn.networks.MLP(). Received: {network!r}"
        )


def deserialized(config):
    """A saved part of a model; `ValueError` if it is of an unknown class."""
    try:
        return keras.saving.deserialize_keras_object(config)
    except TypeError as error:
        missing = re.search(r"Could not locate class '(\w+)'", str(error))
        if missing is None:
            raise
        raise ValueError(
            f"The file holds a layer of the class {missing[1]}, which is not known "
            "here. Decorate it with `@keras.saving.register_keras_serializable()`, and "
            "import its module before you load the model."
        ) from error


def checked_seed(seed):
    """The seed as an int, or `ValueError`."""
    whole = isinstance(seed, numbers.Integral) and not isinstance(seed, bool)
    if not whole or not 0 <= seed < 2**32:
        raise ValueError(
            "`seed` must be an integer, zero or more and below 2**32. Received: "
            f"{seed!r}"
        )
    return int(seed)


def check_network(problem, network, points):
    """Raises `ValueError` unless a network makes a column of points for each field.

    Args:
        problem: The `Problem`.
        network: The Keras layer or model.
        points: Symbolic tensor `(None, d)`.
    """
    coordinates = [symbol.name for symbol in problem.coordinates]
    try:
        outputs = network(points)
    except ValueError as error:
        raise ValueError(
            f"The network must take points (n, {len(coordinates)}), a column for each "
            f"of {coordinates}. Received: {network!r}, which does not: the error above "
            "says why. A network is made for each problem anew."
        ) from error
    if not hasattr(outputs, "shape"):
        raise ValueError(
            "The network must output one tensor, with a column for each field. "
            f"Received: an object of type {type(outputs).__name__}. Join several "
            "tensors with keras.layers.Concatenate."
        )
    names, outputs = problem.field_names, outputs.shape[-1]
    if outputs != len(names):
        raise ValueError(
            f"The network must output one column for each field {list(names)}. "
            f"Received a network with {outputs} output(s). Write, for example, "
            f"keraspinn.networks.MLP(outputs={len(names)})."
        )


def check_one_type(model, network):
    """Raises `ValueError` unless all computes in float32, or all in float64.

    Args:
        model: The `PINNModel`, whose policy is that of points and losses.
        network: Its network, built.
    """
    policies = {model.dtype_policy.name, *(p.name for p in _policies(network))}
    types = {model.compute_dtype, model.variable_dtype}
    types |= {p.compute_dtype for p in _policies(network)}
    types |= {v.dtype for v in network.variables if "float" in v.dtype}
    if not types <= set(WHOLE):
        raise ValueError(
            "Derivatives of a network need float32 or float64: float16 has 3 digits "
            "and ends at 65504, bfloat16 has 2 digits, and each order of derivative "
            f"loses some. Received: {sorted(policies)}. Set one for the model and its "
            'network with `keras.config.set_dtype_policy("float32")`.'
        )
    if len(types) > 1:
        raise ValueError(
            "The model and its network must compute in one floating-point type. "
            f"Received: {sorted(types)}. Set it for both with "
            "`keras.config.set_dtype_policy`."
        )


def _policies(layer):
    """The policies of a layer and of those it is made of."""
    yield layer.dtype_policy
    for inner in getattr(layer, "layers", ()):
        if isinstance(inner, keras.Layer):
            yield from _policies(inner)
