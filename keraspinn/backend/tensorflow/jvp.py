"""Jacobian-vector products that can be nested, on TensorFlow."""

import contextlib

import tensorflow as tf


def jvp(function, primals, tangents):
    """Return the value of a function and its derivative in a direction.

    It replaces `keras.ops.jvp`, which cannot be nested on TensorFlow: gradients of a
    second derivative by the weights are wrong or missing, and so are some derivatives
    in eager mode. Here the product is the transpose of a transpose: Jᵀu is linear in u,
    and its reverse-mode derivative by u is J.

    Args:
        function: Function of a tensor that returns a dict of tensors.
        primals: Tensor, where to differentiate.
        tangents: Tensor, the direction.

    Returns:
        The function's dict, and one of the derivatives. They are zero where the
        function does not depend on its argument.

    Reference:
        https://github.com/tensorflow/tensorflow/issues/127753
    """
    with tf.GradientTape(watch_accessed_variables=False) as backward:
        backward.watch(primals)
        values = function(primals)
    weights = {key: tf.ones_like(value) for key, value in values.items()}
    with tf.GradientTape(watch_accessed_variables=False) as transpose:
        transpose.watch(list(weights.values()))
        cotangents = backward.gradient(
            list(values.values()),
            primals,
            output_gradients=list(weights.values()),
            unconnected_gradients=tf.UnconnectedGradients.ZERO,
        )
    derivatives = transpose.gradient(
        cotangents,
        weights,
        output_gradients=tangents,
        unconnected_gradients=tf.UnconnectedGradients.ZERO,
    )
    return values, derivatives


def _missing_gradient(operation):
    """Register a gradient for an operation of TensorFlow, if it has none."""

    def register(gradient):
        with contextlib.suppress(KeyError):  # TensorFlow, or someone, got there first
            tf.RegisterGradient(operation)(gradient)
        return gradient

    return register


@_missing_gradient("XlaDynamicUpdateSlice")
def _update_slice_gradient(operation, upstream):
    """Return the gradient of an update of a slice, which XLA makes of a slice's."""
    whole, update, start = operation.inputs
    size = tf.shape(update, start.dtype)
    part = tf.slice(upstream, start, size)
    rest = tf.shape(whole, start.dtype) - start - size
    return upstream - tf.pad(part, tf.stack([start, rest], axis=1)), part, None


@_missing_gradient("SoftsignGrad")
def _softsign_gradient(operation, upstream):
    """Return the gradient of g / (1 + |x|)² by g and by x."""
    g, x = operation.inputs
    shrunk = 1.0 / (1.0 + tf.abs(x))
    factor = tf.square(shrunk)
    return upstream * factor, -2.0 * upstream * g * factor * shrunk * tf.sign(x)
