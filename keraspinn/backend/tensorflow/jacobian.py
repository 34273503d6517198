"""TensorFlow: the Jacobian of values that belong to points, one by one."""

import tensorflow as tf


def jacobian(function, tensors, points):
    """Return the derivatives of all values at all points by all entries of `tensors`.

    A value depends on one point alone, so one gradient for each is enough: that of a
    single point, mapped over all of them, takes three times as long as a gradient of a
    sum. A tape's Jacobian goes through the network at all points for each value.
    Measured on two cores, 3,000 points with second derivatives, 30 × 3 units (1,981
    numbers), float64, XLA: 0.04 s, and with a copy of each weight for each point
    0.07 s. The tape's takes 0.06 s for 100 points, and time grows with the square.
    One gradient of the sum of squares takes 0.013 s.

    Args:
        function: Function of the list of tensors and of points `(N, d)` that returns
            a list of tensors `(N,)`, whose entry n depends on point n alone.
        tensors: List of tensors.
        points: Tensor `(N, d)`, or a nested structure of tensors `(N, ...)`.

    Returns:
        List of tensors `(N, P)`, one for each that the function returns, with the
        entries of `tensors` one after another.
    """

    def rows(point):
        with tf.GradientTape(persistent=True, watch_accessed_variables=False) as tape:
            tape.watch(tensors)
            alone = tf.nest.map_structure(lambda part: part[None], point)
            values = [value[0] for value in function(tensors, alone)]
        return [_flat_gradient(tape, value, tensors) for value in values]

    return tf.vectorized_map(rows, points)


def _flat_gradient(tape, value, tensors):
    gradients = tape.gradient(
        value, tensors, unconnected_gradients=tf.UnconnectedGradients.ZERO
    )
    return tf.concat([tf.reshape(gradient, [-1]) for gradient in gradients], axis=0)
