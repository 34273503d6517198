"""Jacobian-vector products that can be nested, on TensorFlow."""

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
