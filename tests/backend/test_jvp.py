"""Gradients for nested derivatives that TensorFlow lacks."""

import importlib
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
        joined = tf.concat([tf.sin(x), tf.cos(x[:, ::-1])], axis=-1)
        return tf.tanh(joined @ kernel)

    with tf.GradientTape() as tape:
        tape.watch(kernel)
        derivatives = jvp_derivatives(features, points, INDICES)
        loss = sum(tf.reduce_mean(tf.square(own)) for own in derivatives.values())
    return loss, tape.gradient(loss, kernel)


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
    whole, update, upstream = tf.zeros((2, 5)), tf.zeros((2, 2)), tf.ones((2, 5))
    operation = types.SimpleNamespace(inputs=[whole, update, tf.constant([0, 1])])
    kept, part, none = module._update_slice_gradient(operation, upstream)
    np.testing.assert_array_equal(kept, [[1, 0, 0, 1, 1]] * 2)
    np.testing.assert_array_equal(part, np.ones((2, 2)))
    assert none is None


def test_softsign_by_nested_tapes():
    x = tf.constant([-2.0, 0.5, 3.0])
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = tf.nn.softsign(x)
        slope = inner.gradient(y, x)
    second = outer.gradient(slope, x)
    expected = -2 * np.sign(x) / (1 + np.abs(x)) ** 3
    np.testing.assert_allclose(second, expected, rtol=1e-6)


@pytest.mark.parametrize("jit_compile", [False, True])
def test_softsign_has_higher_derivatives(jit_compile):
    points = tf.constant([[-2.0], [0.5], [3.0]], tf.float64)
    function = tf.function(
        lambda x: jvp_derivatives(tf.nn.softsign, x, [(1,), (2,), (3,)]),
        jit_compile=jit_compile,
    )
    shrunk, sign = 1 / (1 + np.abs(points)), np.sign(points)
    derivatives = function(points)
    np.testing.assert_allclose(derivatives[1,], shrunk**2, rtol=1e-12)
    np.testing.assert_allclose(derivatives[2,], -2 * sign * shrunk**3, rtol=1e-12)
    np.testing.assert_allclose(derivatives[3,], 6 * shrunk**4, rtol=1e-12)


def test_existing_gradients_are_kept():
    before = tf.raw_ops.Sin(x=1.0)
    importlib.reload(module)  # registers again, without an error
    module._missing_gradient("Sin")(lambda operation, upstream: 0.0 * upstream)
    x = tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.sin(x)
    assert y == before
    assert float(tape.gradient(y, x)) == pytest.approx(np.cos(1.0))
