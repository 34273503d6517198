"""Rules of Keras layers on truncated Taylor series."""

import functools
import operator
from collections.abc import Callable
from typing import Any, TypeAlias

import keras
from keras import ops

from keraspinn.backend.compatibility import public_function
from keraspinn.common import Registered, arguments_of
from keraspinn.derivatives.taylor import functional
from keraspinn.derivatives.taylor.activations import coefficients_of, registering
from keraspinn.derivatives.taylor.functional import MissingRule, reject
from keraspinn.derivatives.taylor.series import Taylor

Rule: TypeAlias = Callable[..., Taylor]

# Layers that are the identity in inference, as which networks run here.
INACTIVE = (
    keras.layers.AlphaDropout,
    keras.layers.Dropout,
    keras.layers.GaussianDropout,
    keras.layers.GaussianNoise,
)

_RULES: dict[Callable[..., Any], Rule] = {}


def register_rule(*layers: Callable[..., Any]) -> Callable[[Rule], Rule]:
    """Register the Taylor rule of a layer, or of a function of `keras.ops`.

    Rules are looked up by a layer's exact class: a subclass may compute something
    else, and needs its own rule.

    Args:
        *layers: The classes of the layers; or functions of `keras.ops`, for their
            operations in functional models.

    Returns:
        A decorator for the rule, a function of `(layer, *inputs)` from `Taylor`
        series to a `Taylor` series. Apply layers inside the layer by
        `keraspinn.taylor.propagate(inner, series)`. Inputs of operations are the
        function's, constants among them; its options are in
        `operation.get_config()`.

    Example:

    >>> class Squared(keras.layers.Layer):
    ...     def call(self, x):
    ...         return x * x
    >>> @keraspinn.taylor.register_rule(Squared)
    ... def squared_rule(layer, x):
    ...     return x * x
    """
    return registering(_RULES, layers)


class SeriesLayer(Registered, keras.layers.Layer):
    """Base of layers whose `call` takes tensors or `Taylor` series: it is their rule.

    Subclasses outside of this package need `register_rule(Layer)(Layer.call)`.
    """

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if cls.__module__.startswith("keraspinn."):
            register_rule(cls)(cls.call)

    def get_config(self):
        """Return Keras's entries, and attributes named as arguments of `__init__`."""
        known = {name: _saved(name, v) for name, v in arguments_of(self).items()}
        return known | super().get_config()


def _saved(name, value):
    """Return an activation or an initializer as Keras saves it, others unchanged."""
    if name.endswith("_initializer"):
        return keras.initializers.serialize(value)
    return keras.activations.serialize(value) if name == "activation" else value


def propagate(layer: Callable[..., Any], *inputs: Any) -> Taylor:
    """Return the Taylor series of a layer's output from those of its inputs.

    Args:
        layer: A Keras layer or model.
        *inputs: The layer's inputs, with `Taylor` series in place of tensors. Tensors
            alone are given to the layer.

    Returns:
        The `Taylor` series of the layer's output.

    Raises:
        MissingRule: If `layer`, a layer inside it or an activation has no rule.

    Example:

    >>> x = Taylor.of_points(keras.random.uniform((8, 2)), IndexSet([(2, 0)]))
    >>> network = keraspinn.networks.MLP(units=10)
    >>> keras.ops.shape(keraspinn.taylor.propagate(network, x).derivative((2, 0)))
    (8, 1)
    """
    if not any(isinstance(x, Taylor) for x in keras.tree.flatten(inputs)):
        return layer(*inputs)
    try:
        rule = _rule_for(layer)
        if isinstance(layer, keras.layers.Layer):
            inputs = _as_called(layer, inputs)
        return rule(layer, *inputs)
    except MissingRule as error:
        error.layer = error.layer or layer
        raise


def _as_called(layer, inputs):
    """Build a layer, and cast its inputs as a call does."""
    if not layer.built:
        layer(*keras.tree.map_structure(lambda x: x.value, inputs))
    # As Keras before a call, unless a layer declares the type of its inputs.
    declares = isinstance(layer, (keras.Function, keras.layers.InputLayer))
    if layer.autocast and not declares:
        return keras.tree.map_structure(lambda x: x.cast(layer.input_dtype), inputs)
    return inputs


def _rule_for(layer):
    rule = _RULES.get(type(layer))
    # The class of `keras.Model(inputs, outputs)` has no public name, its bases have.
    # A subclass may override `call`, and has other bases.
    if rule is None and type(layer).__bases__ == (keras.Function, keras.Model):
        rule = _functional
    if rule is None and not isinstance(layer, keras.layers.Layer):
        rule = _rule_for_operation(layer)
    # A `call` that was replaced may not match the rule.
    if rule is None or "call" in vars(layer):
        kind = "layer" if isinstance(layer, keras.layers.Layer) else "operation"
        raise MissingRule(
            f"No Taylor rule for {kind} '{layer.name}' of class "
            f"{type(layer).__name__}. Write one with `keraspinn.taylor.register_rule`."
        )
    return rule


def _rule_for_operation(operation):
    """Return the rule of an operation's function, from coefficients if elementwise."""
    function = public_function(operation)
    rule = _RULES.get(function)
    has_options = set(operation.get_config()) - {"name"}
    if rule is None and coefficients_of(function) and function and not has_options:
        return lambda operation, x: activate(function, x)
    return rule


def activate(activation, x):
    """Apply an activation function to a series, or to a tensor."""
    if not isinstance(x, Taylor):
        return activation(x)
    coefficients = coefficients_of(activation)
    if coefficients is None:
        name = getattr(activation, "__name__", repr(activation))
        raise MissingRule(
            f"No Taylor coefficients for activation '{name}'. Write them with "
            "`keraspinn.taylor.register_activation`."
        )
    return x if coefficients is coefficients_of(None) else x.compose(coefficients)


def affine(x, kernel, bias=None):
    """Return x W + b of a tensor or a series, with a product for each coefficient."""
    if not isinstance(x, Taylor):  # perhaps of integers, which Keras promotes
        y = ops.matmul(x, kernel)
        return y if bias is None else y + bias
    kernel = ops.cast(kernel, x.dtype)
    rows, width = kernel.shape[-2:]
    if width == 1:
        # XLA turns a product with one column into a loop that evaluates the other
        # factor again for every entry: 14 % of a step's time.
        kernel = ops.pad(kernel, ((0, 0), (0, 1)))
    y = x.map(lambda coefficient: ops.matmul(spread(coefficient, rows), kernel))
    y = y if width > 1 else y.map(lambda coefficient: coefficient[..., :1])
    return y if bias is None else y + ops.cast(bias, x.dtype)


def spread(coefficient, width):
    """Repeat a coefficient that is equal in all features."""
    if coefficient.shape[-1] == width:
        return coefficient
    return ops.repeat(coefficient, width, axis=-1)


def columns(x, selected):
    """Return some features of a series or a tensor, in the order of `selected`."""
    if isinstance(x, Taylor):
        return x.map(lambda c: columns(spread(c, x.value.shape[-1]), selected))
    return ops.stack([x[..., int(column)] for column in selected], axis=-1)


def concatenated(series):
    """Concatenate the features of several series, or of tensors."""
    if not isinstance(series[0], Taylor):
        return ops.concatenate(series, axis=-1)
    indices = series[0].indices
    keys = [k for k in indices.keys if any(k in one.coefficients for one in series)]
    joined = {k: ops.concatenate([s.scaled(k) for s in series], axis=-1) for k in keys}
    return Taylor(indices, joined)


@register_rule(keras.layers.Dense)
def dense(layer, x):
    if layer.quantization_mode is not None:
        reject(layer, "is quantized")
    bias = layer.bias if layer.use_bias else None
    return activate(layer.activation, affine(x, layer.kernel, bias))


register_rule(keras.layers.Activation)(lambda layer, x: activate(layer.activation, x))
register_rule(keras.layers.InputLayer)(lambda layer, x: x.cast(layer.dtype))
register_rule(keras.layers.Identity, *INACTIVE)(lambda layer, x: x)


@register_rule(keras.layers.Rescaling)
def rescaling(layer, x):
    return x * ops.cast(layer.scale, x.dtype) + ops.cast(layer.offset, x.dtype)


@register_rule(keras.layers.Normalization)
def normalization(layer, x):
    if layer.invert:
        reject(layer, "inverts; its Taylor rule normalizes features, axis -1")
    check_axis(layer, x)
    deviation = ops.sqrt(ops.cast(layer.variance, x.dtype))
    factor = 1.0 / ops.maximum(deviation, keras.config.epsilon())
    # The layer computes the value, the chain rule the rest.
    coefficients = (x * factor).coefficients | {x.indices.zero: layer(x.value)}
    return Taylor(x.indices, coefficients)


def check_axis(layer, x, added=0):
    """Reject a layer or an operation along another axis than the features'.

    Args:
        layer: The layer or operation, with `axis` in its configuration.
        x: Its first input, a series.
        added: Number of axes that it adds after those of `x`.
    """
    axis, rank = layer.get_config()["axis"], len(x.value.shape) + added
    if rank < 2 or {*keras.tree.flatten(axis)} - {-1, rank - 1}:
        reject(layer, f"has axis {axis}; its Taylor rule is for features, axis -1")


def _merged_by(combine):
    """Return the rule of a layer that merges its inputs two at a time."""
    return lambda layer, inputs: functools.reduce(combine, inputs)


register_rule(keras.layers.Add)(_merged_by(operator.add))
register_rule(keras.layers.Subtract)(_merged_by(operator.sub))
register_rule(keras.layers.Multiply)(_merged_by(operator.mul))


@register_rule(keras.Sequential)
def sequential(model, x):
    for layer in model.layers:
        x = propagate(layer, x)
    return x


def _functional(model, *inputs):
    pairs = zip(functional.in_order(model, inputs), model.inputs, strict=True)
    return functional.replay(
        model, propagate, [x.cast(tensor.dtype) for x, tensor in pairs]
    )
