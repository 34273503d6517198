"""The Helmholtz losses as a Keras user writes them by hand: nested gradient tapes.

The same points per term, losses, network and optimizer as `keraspinn`, in a stock
`keras.Model` with a custom `train_step`, trained by stock `fit`.
"""

import math

import keras
import tensorflow as tf


class NestedTapes(keras.Model):
    """Trains a network on Δu + u = q with u = sin(πx) sin(4πy) on the boundary."""

    def __init__(self, network, batch_size):
        super().__init__()
        network.build((None, 2))
        self.network = network
        self.batch_size = batch_size
        self.loss_mean = keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.loss_mean]

    def call(self, points):
        return self.network(points * math.sqrt(3.0))

    def residual_loss(self, points):
        x, y = points[:, :1], points[:, 1:]
        with tf.GradientTape(persistent=True) as second:
            second.watch([x, y])
            with tf.GradientTape() as first:
                first.watch([x, y])
                u = self(tf.concat([x, y], 1))
            u_x, u_y = first.gradient(u, [x, y])
        u_xx, u_yy = second.gradient(u_x, x), second.gradient(u_y, y)
        source = (1 - 17 * math.pi**2) * self.exact(points)
        return tf.reduce_mean(tf.square(u_xx + u_yy + u - source))

    def boundary_loss(self, points):
        return 4 * tf.reduce_mean(tf.square(self(points) - self.exact(points)))

    @staticmethod
    def exact(points):
        x, y = points[:, :1], points[:, 1:]
        return tf.sin(math.pi * x) * tf.sin(4 * math.pi * y)

    def draw(self):
        n = self.batch_size
        inside = tf.random.uniform((n, 2), -1.0, 1.0)
        along = tf.random.uniform((4, n, 1), -1.0, 1.0)
        one = tf.ones((n, 1))
        sides = [
            tf.concat(side, 1)
            for side in (
                [-one, along[0]],
                [one, along[1]],
                [along[2], -one],
                [along[3], one],
            )
        ]
        return inside, tf.concat(sides, 0)

    def train_step(self, data):
        inside, boundary = self.draw()
        variables = self.trainable_variables
        with tf.GradientTape() as tape:
            loss = self.residual_loss(inside) + self.boundary_loss(boundary)
        gradients = tape.gradient(loss, variables)
        self.optimizer.apply(gradients, variables)
        self.loss_mean.update_state(loss)
        return {"loss": self.loss_mean.result()}


def endless():
    """A dataset of nothing; autotune off, as its thread holds up the end of `fit`."""
    options = tf.data.Options()
    options.autotune.enabled = False
    return tf.data.Dataset.from_tensors(0).repeat().with_options(options)
