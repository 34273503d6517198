"""Gradients for nested derivatives that TensorFlow lacks."""

import sys
import types

import numpy as np
import pytest
import tensorflow as tf

from keraspinn.derivatives.engines import jvp_derivatives

module = sys.modules["keraspinn.backend.tensorflow.gradients"]
KERNEL = np.random.default_rng(0).normal(size=(4, 3))
INDICES = [(0, 0), (3, 0), (1, 1), (0, 2)]


def loss_and_gradient(points, kernel):
    def features(x):
        features_of_x = tf.concat([tf.sin(x), tf.cos(x[:, ::-1])], axis=-1)
        return tf.tanh(features_of_x @ kernel)

    with tf.GradientTape() as tape:
        tape.watch(kernel)
        derivatives = jvp_derivatives(features, points, INDICES)
        loss = sum(
            tf.reduce_mean(tf.square(derivative)) for derivative in derivatives.values()
        )
    return loss, tape.gradient(loss, kernel)


@pytest.mark.slow
def test_concatenation_is_differentiated_under_xla():
    arguments = (
        tf.constant(np.random.default_rng(1).uniform(-1, 1, (5, 2))),
        tf.constant(KERNEL),
    )
    expected = loss_and_gradient(*arguments)
    compiled = tf.function(loss_and_gradient, jit_compile=True)(*arguments)
    for value, other in zip(compiled, expected, strict=True):
        np.testing.assert_allclose(value, other, rtol=1e-11)


def test_gradient_of_tensor_scatter_update():
    tensor, update, upstream = tf.zeros((2, 5)), tf.zeros((2, 2)), tf.ones((2, 5))
    operation = types.SimpleNamespace(inputs=[tensor, update, tf.constant([0, 1])])
    to_tensor, to_update, to_indices = module._update_slice_gradient(
        operation, upstream
    )
    np.testing.assert_array_equal(to_tensor, [[1, 0, 0, 1, 1]] * 2)
    np.testing.assert_array_equal(to_update, np.ones((2, 2)))
    assert to_indices is None
