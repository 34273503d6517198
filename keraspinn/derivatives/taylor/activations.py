"""Taylor coefficients of activation functions.

Each function takes `(x, order)` and returns f⁽ᵏ⁾(x) / k! for k = 0 … order, `None`
where it vanishes everywhere. Most coefficients follow from a differential equation of
the activation, at polynomial cost in the order.
"""

import itertools
import math
from collections.abc import Callable, Hashable, Sequence
from typing import Any, TypeAlias

import keras
import numpy as np
from keras import ops

from keraspinn.common.typing import Tensor

Coefficients: TypeAlias = Callable[[Tensor, int], Sequence[Tensor]]

_COEFFICIENTS: dict[Callable[..., Any] | None, Coefficients] = {}


def register_activation(
    *functions: Callable[..., Any] | None,
) -> Callable[[Coefficients], Coefficients]:
    """Register the Taylor coefficients of an activation function.

    Args:
        *functions: The callables, as passed to `activation=`.

    Returns:
        A decorator for a function of `(x, order)` that returns the list of
        f⁽ᵏ⁾(x) / k! for k = 0 … order: tensors like `x`, or `None` for zero.

    Example:

    >>> def cube(x):
    ...     return x**3
    >>> @keraspinn.taylor.register_activation(cube)
    ... def cube_coefficients(x, order):
    ...     return [x**3, 3 * x**2, 3 * x, 1 + 0 * x, *[None] * order][: order + 1]
    """
    return registering(_COEFFICIENTS, functions)


def registering(registry, keys):
    """Return a decorator that registers a function under several keys."""

    def register(function):
        registry.update(dict.fromkeys(keys, function))
        return function

    return register


def coefficients_of(activation):
    """Return the registered coefficients of `activation`, or `None`."""
    return _COEFFICIENTS.get(activation) if isinstance(activation, Hashable) else None


def _self_convolution(series, k):
    """Return coefficient k of the square of a univariate series."""
    terms = [2.0 * series[i] * series[k - i] for i in range((k + 1) // 2)]
    if k % 2 == 0:
        terms.append(ops.square(series[k // 2]))
    return sum(terms[1:], terms[0])


@register_activation(keras.activations.linear, None)
def linear(x, order):
    return [x, ops.ones_like(x), *[None] * order][: order + 1]


@register_activation(keras.activations.tanh, keras.ops.tanh)
def tanh(x, order):
    """Use y' = 1 − y²."""
    y = [ops.tanh(x)]
    for k in range(order):
        square = _self_convolution(y, k)
        y.append((1.0 - square) if k == 0 else square * (-1.0 / (k + 1)))
    return y


@register_activation(keras.activations.sigmoid, keras.ops.sigmoid)
def sigmoid(x, order):
    """Use y' = y − y²."""
    y = [ops.sigmoid(x)]
    for k in range(order):
        y.append((y[k] - _self_convolution(y, k)) * (1.0 / (k + 1)))
    return y


def _wave(cycle, signs, order):
    return [cycle[k % 2] * (signs[k % 4] / math.factorial(k)) for k in range(order + 1)]


@register_activation(keras.ops.sin)
def sin(x, order):
    return _wave([ops.sin(x), ops.cos(x)], (1, 1, -1, -1), order)


@register_activation(keras.ops.cos)
def cos(x, order):
    return _wave([ops.cos(x), ops.sin(x)], (1, -1, -1, 1), order)


@register_activation(keras.activations.exponential, keras.ops.exp)
def exponential(x, order):
    y = ops.exp(x)
    return [y * (1.0 / math.factorial(k)) for k in range(order + 1)]


@register_activation(keras.activations.softplus, keras.ops.softplus)
def softplus(x, order):
    """Use y' = sigmoid(x)."""
    derivative = sigmoid(x, max(order - 1, 0))
    return [ops.softplus(x)] + [derivative[k] * (1.0 / (k + 1)) for k in range(order)]


def power(exponent):
    """Return a function that computes the coefficients of a real power."""

    def coefficients(x, order):
        result, binomial = [], 1.0
        for k in range(order + 1):
            # At zero, x⁰ and its derivative are evaluated exactly, not as limits.
            factor = ops.ones_like(x) if exponent == k else ops.power(x, exponent - k)
            result.append(binomial * factor if binomial else None)
            binomial *= (exponent - k) / (k + 1)
        return result

    return coefficients


register_activation(ops.square)(power(2))
register_activation(ops.sqrt)(power(0.5))
register_activation(ops.reciprocal)(power(-1))


@register_activation(keras.activations.softsign, keras.ops.softsign)
def softsign(x, order):
    """Use y = x / (1 + |x|) = ±1 ∓ 1 / (1 ± x) on either side of zero."""
    side = ops.where(x < 0, -ops.ones_like(x), ops.ones_like(x))
    first, *rest = power(-1)(1.0 + ops.abs(x), order)
    return [x * first, *(c * (-side if k % 2 else -1.0) for k, c in enumerate(rest))]


@register_activation(ops.log)
def log(x, order):
    return [ops.log(x), *(c / (k + 1) for k, c in enumerate(power(-1)(x, order - 1)))]


def _times_identity(x, factor):
    """Return the coefficients of x · g(x) from those of g."""
    pairs = itertools.pairwise(factor)
    return [x * factor[0], *(x * after + before for before, after in pairs)]


@register_activation(keras.activations.silu, keras.ops.silu)
def silu(x, order):
    """Use y = x · sigmoid(x), also called swish."""
    return _times_identity(x, sigmoid(x, order))


@register_activation(ops.arctan)
def arctan(x, order):
    """Use y' (1 + x²) = 1."""
    scale = 1.0 / (1.0 + ops.square(x))
    y = [ops.arctan(x), scale]
    for k in range(1, order):
        lower = 2.0 * k * x * y[k] + ((k - 1) * y[k - 1] if k > 1 else 0.0)
        y.append(lower * scale * (-1.0 / (k + 1)))
    return y[: order + 1]


@register_activation(ops.erf)
def erf(x, order):
    """Use y' = 2 exp(−x²) / √π, which has y'' = −2x y'."""
    y = [ops.erf(x), 2.0 / math.sqrt(math.pi) * ops.exp(-ops.square(x))]
    for k in range(1, order):
        lower = x * (k * y[k]) + ((k - 1) * y[k - 1] if k > 1 else 0.0)
        y.append(lower * (-2.0 / (k * (k + 1))))
    return y[: order + 1]


# TensorFlow's gelu holds its constants in single precision for every type of x,
# JAX's does not; derivatives must match the function that the network computes.
_constant_type = np.float32 if keras.backend.backend() == "tensorflow" else np.float64
_GELU_ROOT = float(_constant_type(math.sqrt(0.5)))  # argument of erfc


@register_activation(keras.activations.gelu)
def gelu(x, order):
    """Use y = x · Φ(x), Φ(x) = erfc(−x / √2) / 2 the normal distribution function."""
    scaled = x * _GELU_ROOT
    rest = (0.5 * _GELU_ROOT**k * c for k, c in enumerate(erf(scaled, order)) if k)
    return _times_identity(x, [0.5 * ops.erfc(-scaled), *rest])


@register_activation(keras.activations.relu, keras.ops.relu)
def relu(x, order):
    return [ops.relu(x), ops.cast(x > 0, x.dtype), *[None] * order][: order + 1]
