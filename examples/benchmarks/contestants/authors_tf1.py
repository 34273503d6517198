"""Algorithm of the paper as a TensorFlow 1 graph and session, the style of its time.

NumPy draws the points, which are fed in every step. Every ten steps the losses are
fetched. For M2 and M4, λ̂ = max|∇L_r| / mean|∇(λ_i L_i)| is then computed from fetched
gradients and λ is updated, as in Algorithm 1.
"""

import numpy as np
import tensorflow as tf
from protocol import serve
from work import gradient_plan, network, raised

tf1 = tf.compat.v1
# Number of steps between updates of λ, and weight of the new estimate.
PERIOD, ALPHA = 10, 0.9


class Session:
    def __init__(self, task):
        self.task, self.work = task, task.work
        self.annealed = task.model in ("M2", "M4")
        self.notes = {"anneals": self.annealed}
        self.generator = np.random.default_rng(0)
        self.graph = tf.Graph()
        with self.graph.as_default():
            self._declare()
            self.session = tf1.Session()
            self.session.run(tf1.global_variables_initializer())
        self.weights = {name: 1.0 for name in self.work.terms if name != "residual"}

    def _declare(self):
        self.parameters = [
            tuple(tf1.Variable(values) for values in pair)
            for pair in self.task.parameters
        ]
        self.inputs = {
            name: tf1.placeholder(tf.float32, (None, self.work.dimension))
            for name in self.work.terms
        }
        self.term_losses = {n: self._loss(n, x) for n, x in self.inputs.items()}
        self.placed = {
            name: tf1.placeholder(tf.float32, ())
            for name in self.work.terms
            if name != "residual"
        }
        loss = self.term_losses["residual"]
        weighted = {n: w * self.term_losses[n] for n, w in self.placed.items()}
        for value in weighted.values():
            loss = loss + value
        self.train = tf1.train.AdamOptimizer(1e-3).minimize(loss)
        flat = [values for pair in self.parameters for values in pair]

        def gradients(value):
            parts = [g for g in tf1.gradients(value, flat) if g is not None]
            return tf.abs(tf.concat([tf.reshape(g, [-1]) for g in parts], 0))

        self.largest = tf.reduce_max(gradients(self.term_losses["residual"]))
        self.means = {n: tf.reduce_mean(gradients(v)) for n, v in weighted.items()}

    def _loss(self, name, points):
        term = self.work.terms[name]
        columns = tf.unstack(points, axis=1)
        standard = (tf.stack(columns, 1) - self.work.mean) / self.work.deviation
        outputs = network(self.parameters, self.task.gated, standard, tf.tanh)
        zero = (0,) * self.work.dimension
        values = {(f, zero): outputs[:, f] for f in range(self.work.outputs)}
        required = term.derivatives
        if any(any(index) for _, index in required):
            for calls in gradient_plan(required):
                for (field, index), axes in calls.items():
                    derivatives = tf1.gradients(
                        values[field, index], [columns[axis] for axis in axes]
                    )
                    for axis, derivative in zip(axes, derivatives, strict=True):
                        values[field, raised(index, axis)] = derivative
        residuals = term.residuals(tf, columns, values)
        return term.scale * sum(tf.reduce_mean(tf.square(r)) for r in residuals)

    def _feed(self, points):
        feed = {self.inputs[name]: values for name, values in points.items()}
        return feed | {self.placed[n]: w for n, w in self.weights.items()}

    def losses(self):
        return self.session.run(self.term_losses, self._feed(self.task.points))

    def run(self, steps):
        for step in range(steps):
            feed = self._feed(self.work.draw(self.task.batch, self.generator))
            self.session.run(self.train, feed)
            if step % PERIOD == 0:
                self.session.run(self.term_losses, feed)
                if self.annealed:
                    largest, means = self.session.run([self.largest, self.means], feed)
                    for name, mean in means.items():
                        kept = (1 - ALPHA) * self.weights[name]
                        self.weights[name] = kept + ALPHA * largest / mean


if __name__ == "__main__":
    serve(Session, ["tensorflow", "numpy"])
