"""Rules for operations of `keras.ops` in functional models.

Elementwise operations need only coefficients, in `activations`. Series have shape
(..., N, F), or (..., N) after `x[..., 0]`. Operations on other axes than the features
would mix points, and are rejected.
"""

import operator

from keras import activations, backend, layers, ops

from keraspinn.derivatives.taylor.activations import coefficients_of, power
from keraspinn.derivatives.taylor.functional import reject
from keraspinn.derivatives.taylor.rules import (
    affine,
    check_axis,
    concatenated,
    register_rule,
)
from keraspinn.derivatives.taylor.series import Taylor


def _alike(operation, *operands):
    """Convert operands, also constants, to series of the type of their result."""
    dtype = backend.result_type(*(getattr(x, "dtype", type(x)) for x in operands))
    first = next(x for x in operands if isinstance(x, Taylor))
    rank = max(len(x.value.shape) for x in operands if isinstance(x, Taylor))

    def convert(x):
        if isinstance(x, Taylor):
            return x.cast(dtype)
        x = ops.convert_to_tensor(x, dtype)
        if len(x.shape) > rank:
            reject(operation, "has a constant of more axes than the points")
        return Taylor(first.indices, {first.indices.zero: x})

    return map(convert, operands)


def _combined_by(combine):
    """Return the rule of an operation that Python's operators have for series."""
    return lambda operation, *operands: combine(*_alike(operation, *operands))


register_rule(ops.add)(_combined_by(operator.add))
register_rule(ops.subtract)(_combined_by(operator.sub))
register_rule(ops.multiply)(_combined_by(operator.mul))
register_rule(ops.negative)(_combined_by(operator.neg))
register_rule(ops.divide, ops.true_divide)(
    _combined_by(lambda left, right: left * right.compose(power(-1)))
)


@register_rule(ops.power)
def raised(operation, base, exponent):
    if isinstance(exponent, Taylor) or getattr(exponent, "shape", ()):
        reject(operation, "has an exponent that is not one number")
    base, _ = _alike(operation, base, exponent)
    return base.compose(power(float(exponent)))


@register_rule(ops.gelu)
def gelu(operation, x):
    if operation.get_config()["approximate"]:
        reject(operation, "is approximate")
    return x.compose(coefficients_of(activations.gelu))


@register_rule(ops.matmul)
def matmul(operation, x, kernel):
    constant = isinstance(x, Taylor) and not isinstance(kernel, Taylor)
    if not constant or len(kernel.shape) != 2 or len(x.value.shape) < 2:
        reject(operation, "is not a product of features and a constant matrix")
    x, kernel = _alike(operation, x, kernel)
    return affine(x, kernel.value)


@register_rule(ops.concatenate, layers.Concatenate)
def concatenate(operation, inputs):
    series = _series(operation, inputs)
    check_axis(operation, series[0])
    return concatenated(series)


@register_rule(ops.stack)
def stack(operation, inputs):
    series = _series(operation, inputs)
    check_axis(operation, series[0], added=1)
    return concatenated([x.map(lambda c: c[..., None]) for x in series])


def _series(operation, inputs):
    """Return the series to join, converted to one type."""
    if not all(isinstance(x, Taylor) for x in inputs):
        reject(operation, "joins a constant")
    return [*_alike(operation, *inputs)]


@register_rule(ops.expand_dims)
def expand_dims(operation, x):
    check_axis(operation, x, added=1)
    return x.map(lambda coefficient: coefficient[..., None])


@register_rule(ops.sum)
def total(operation, x):
    check_axis(operation, x)
    keepdims = operation.get_config()["keepdims"]
    return _whole(x).map(lambda c: ops.sum(c, axis=-1, keepdims=keepdims))


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
        reject(operation, "takes other parts than features")
    if not all(part is None or isinstance(part, (int, slice)) for part in features):
        reject(operation, "takes features that are not a number or a slice")
    return _whole(x).map(lambda c: c[(..., *points[-1:], *features)])


def _whole(x):
    """Broadcast every coefficient of a series to all its features."""
    shape = ops.shape(x.value)
    return x if len(shape) < 2 else x.map(lambda c: ops.broadcast_to(c, shape))
