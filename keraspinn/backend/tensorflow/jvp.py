"""Jacobian-vector products that can be nested, on TensorFlow."""

import contextlib

import tensorflow as tf


def jvp(function, primals, tangents):
    """The value of a function and its derivative in a direction.

    As `keras.ops.jvp`, which on TensorFlow is no good for nesting: the gradient by the
    weights of a second derivative comes out wrong, or not at all, and eagerly so does
    the derivative at times. Here the product is the transpose of a transpose: Jᵀu is
    linear in u, and its reverse-mode derivative by u is J.

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
    slopes = transpose.gradient(
        cotangents,
        weights,
        output_gradients=tangents,
        unconnected_gradients=tf.UnconnectedGradients.ZERO,
    )
    return values, slopes


def _missing_gradient(operation):
    """Give an operation of TensorFlow's a gradient, if it still has none."""

    def register(gradient):
        with contextlib.suppress(KeyError):  # TensorFlow, or someone, got there first
            tf.RegisterGradient(operation)(gradient)
        return gradient

    return register


@_missing_gradient("XlaDynamicUpdateSlice")
def _update_slice_gradient(operation, upstream):
    """Under XLA, what the gradient of a slice is made of, as in a concatenation's."""
    whole, update, start = operation.inputs
    size = tf.shape(update, start.dtype)
    part = tf.slice(upstream, start, size)
    rest = tf.shape(whole, start.dtype) - start - size
    return upstream - tf.pad(part, tf.stack([start, rest], axis=1)), part, None


@_missing_gradient("SoftsignGrad")
def _softsign_gradient(operation, upstream):
    """Of g / (1 + |x|)² by g and by x."""
    g, x = operation.inputs
    shrunk = 1.0 / (1.0 + tf.abs(x))
    slope = tf.square(shrunk)
    return upstream * slope, -2.0 * upstream * g * slope * shrunk * tf.sign(x)
