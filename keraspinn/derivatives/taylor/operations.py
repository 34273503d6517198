"""Rules for operations of `keras.ops` in functional models.

Elementwise operations need only coefficients, in `activations`. Series have shape
(..., N, F), or (..., N) after `x[..., 0]`. Operations on other axes than the features
would mix points, and are rejected.
"""

import operator

import keras
from keras import ops

from keraspinn.derivatives.taylor.activations import power
from keraspinn.derivatives.taylor.rules import (
    MissingRule,
    activate,
    affine,
    concatenated,
    register_rule,
)
from keraspinn.derivatives.taylor.series import Taylor


def _reject(operation, fault):
    raise MissingRule(f"Operation '{operation.name}' {fault}.")


def _alike(operation, left, right):
    """Convert two operands, also constants, to the type of their result in Keras."""
    types = [_type(left), _type(right)]
    dtype = keras.backend.result_type(*types)
    rank = max(len(x.value.shape) for x in (left, right) if isinstance(x, Taylor))

    def convert(x):
        if isinstance(x, Taylor):
            return x.cast(dtype)
        x = ops.convert_to_tensor(x, dtype)
        if len(x.shape) > rank:
            _reject(operation, "has a constant of more axes than the points")
        return x

    return convert(left), convert(right)


def _type(x):
    dtype = getattr(x, "dtype", None)
    return type(x) if dtype is None else keras.backend.standardize_dtype(dtype)


@register_rule(ops.add)
def add(operation, left, right):
    left, right = _alike(operation, left, right)
    return left + right if isinstance(left, Taylor) else right + left


@register_rule(ops.subtract)
def subtract(operation, left, right):
    left, right = _alike(operation, left, right)
    return left - right if isinstance(left, Taylor) else -right + left


@register_rule(ops.multiply)
def multiply(operation, left, right):
    left, right = _alike(operation, left, right)
    return left * right if isinstance(left, Taylor) else right * left


@register_rule(ops.divide, ops.true_divide)
def divide(operation, left, right):
    left, right = _alike(operation, left, right)
    if not isinstance(right, Taylor):
        return left.map(lambda coefficient: coefficient / right)
    reciprocal = right.compose(power(-1))
    return left * reciprocal if isinstance(left, Taylor) else reciprocal * left


@register_rule(ops.power)
def raised(operation, base, exponent):
    if isinstance(exponent, Taylor) or getattr(exponent, "shape", ()):
        _reject(operation, "has an exponent that is not one number")
    base, _ = _alike(operation, base, exponent)
    return base.compose(power(float(exponent)))


@register_rule(ops.negative)
def negative(operation, x):
    return -x


@register_rule(ops.gelu)
def gelu(operation, x):
    exact = not operation.get_config()["approximate"]
    return activate(keras.activations.gelu if exact else ops.gelu, x)


@register_rule(ops.relu)
def relu(operation, x):
    options = {"negative_slope", "max_value", "threshold"}  # `keras.activations.relu`
    if any(operation.get_config().get(option) for option in options):
        _reject(operation, "has a maximum, a negative slope or a threshold")
    return activate(ops.relu, x)


@register_rule(ops.matmul)
def matmul(operation, x, kernel):
    constant = isinstance(x, Taylor) and not isinstance(kernel, Taylor)
    if not constant or len(kernel.shape) != 2 or len(x.value.shape) < 2:
        _reject(operation, "is not a product of features and a constant matrix")
    x, kernel = _alike(operation, x, kernel)
    return affine(x, kernel)


@register_rule(ops.concatenate)
def concatenate(operation, inputs):
    rank = len(inputs[0].value.shape) if isinstance(inputs[0], Taylor) else 0
    axis = operation.get_config()["axis"]
    if rank < 2 or axis not in (-1, rank - 1):
        _reject(operation, f"joins axis {axis}, which is not the features' axis")
    return _joined(operation, inputs)


@register_rule(ops.stack)
def stack(operation, inputs):
    rank = len(inputs[0].value.shape) if isinstance(inputs[0], Taylor) else 0
    axis = operation.get_config()["axis"]
    if not rank or axis not in (-1, rank):
        _reject(operation, f"stacks on axis {axis}, which is not the features' axis")
    columns = [
        x.map(lambda c: c[..., None]) if isinstance(x, Taylor) else x for x in inputs
    ]
    return _joined(operation, columns)


def _joined(operation, inputs):
    if not all(isinstance(x, Taylor) for x in inputs):
        _reject(operation, "joins a constant")
    dtype = keras.backend.result_type(*(x.dtype for x in inputs))
    return concatenated([x.cast(dtype) for x in inputs])


@register_rule(ops.expand_dims)
def expand_dims(operation, x):
    axis = operation.get_config()["axis"]
    if axis not in (-1, len(x.value.shape)):
        _reject(operation, f"adds axis {axis}, which is not the last")
    return x.map(lambda coefficient: coefficient[..., None])


@register_rule(ops.sum)
def total(operation, x):
    config, rank = operation.get_config(), len(x.value.shape)
    if rank < 2 or config["axis"] not in (-1, rank - 1, [-1], [rank - 1]):
        _reject(operation, f"sums over axis {config['axis']}, not over features")
    return _whole(x).map(lambda c: ops.sum(c, axis=-1, keepdims=config["keepdims"]))


@register_rule(operator.getitem)
def get_item(operation, x, key):
    """Apply x[..., k] and similar keys, also with new axes at the end."""
    rank = len(x.value.shape)
    key = list(key) if isinstance(key, (list, tuple)) else [key]
    if not any(part is Ellipsis for part in key):
        key.append(Ellipsis)
    position = [part is Ellipsis for part in key].index(True)
    indexed = sum(part is not None for part in key) - 1
    key[position : position + 1] = [slice(None)] * (rank - indexed)
    points, features = key[: max(rank - 1, 1)], key[max(rank - 1, 1) :]
    if not all(isinstance(part, slice) and part == slice(None) for part in points):
        _reject(operation, "takes other parts than features")
    if not all(part is None or isinstance(part, (int, slice)) for part in features):
        _reject(operation, "takes features that are not a number or a slice")
    return _whole(x).map(
        lambda coefficient: coefficient[(..., *points[-1:], *features)]
    )


def _whole(x):
    """Return broadcast every coefficient of a series to all its features."""
    rank, width = len(x.value.shape), x.value.shape[-1]

    def spread(coefficient):
        if len(coefficient.shape) == rank and coefficient.shape[-1] in (width, None):
            return coefficient
        return ops.broadcast_to(coefficient, ops.shape(x.value))

    return x if rank < 2 else x.map(spread)
