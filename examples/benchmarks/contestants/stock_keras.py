"""Hand-written losses in Keras, by nested gradient tapes.

A `keras.Model` with a custom `train_step` has the same points per term, losses, network
and optimizer as keraspinn. `fit` of Keras trains it. Loss weights λ are 1.

Options: `jit_compile` and `steps_per_execution` of `compile`; `fused` runs the steps in
one compiled `tf.while_loop` instead of `fit`.
"""

import keras
import tensorflow as tf
from protocol import serve
from work import gradient_plan, raised

import keraspinn as kp


class NestedTapes(keras.Model):
    """Model that trains a network on a `Work`, with new points in each step.

    Args:
        network: Keras model to train, whose inputs are standardised.
        work: The `Work`.
        batch: Number of points inside and on each side.
        xla: Whether XLA will compile the steps.
    """

    def __init__(self, network, work, batch, xla):
        super().__init__()
        network.build((None, work.dimension))
        self.network = network
        self.work = work
        self.batch = batch
        # The faster source of random numbers in each case, by half with XLA.
        generator = tf.random.Generator.from_seed(0, alg="philox")
        self.uniform = generator.uniform if xla else tf.random.uniform
        self.loss_mean = keras.metrics.Mean(name="loss")

    @property
    def metrics(self):
        return [self.loss_mean]

    def call(self, points):
        scale = tf.constant(1 / self.work.deviation, tf.float32)
        return self.network((points - self.work.mean) * scale)

    def derivatives(self, columns, required):
        """Return tensors `(N,)` by `(field, multi-index)`, with one tape an order."""
        plan = gradient_plan(required) if any(any(i) for _, i in required) else []
        tapes = [
            tf.GradientTape(persistent=True, watch_accessed_variables=False)
            for _ in plan
        ]
        for tape in tapes:
            tape.__enter__()
            tape.watch(columns)
        outputs = self(tf.stack(columns, axis=1))
        zero = (0,) * self.work.dimension
        values = {(field, zero): outputs[:, field] for field in range(self.outputs)}
        for tape, calls in zip(reversed(tapes), plan, strict=True):
            tape.__exit__(None, None, None)
            for (field, index), axes in calls.items():
                inputs = [columns[axis] for axis in axes]
                derivatives = tape.gradient(values[field, index], inputs)
                for axis, derivative in zip(axes, derivatives, strict=True):
                    values[field, raised(index, axis)] = derivative
        return values

    @property
    def outputs(self):
        return self.work.outputs

    def term_loss(self, name, points):
        term = self.work.terms[name]
        columns = tf.unstack(points, axis=1)
        values = self.derivatives(columns, term.derivatives)
        residuals = term.residuals(tf, columns, values)
        return term.scale * sum(tf.reduce_mean(tf.square(r)) for r in residuals)

    def draw(self):
        points = {}
        for name, term in self.work.terms.items():
            span, base = self.work.sampling(name)
            count = self.work.count(name, self.batch)
            shape = (len(term.sides), count, self.work.dimension)
            placed = self.uniform(shape) * span + base
            points[name] = tf.reshape(placed, (-1, self.work.dimension))
        return points

    def descend(self):
        variables = self.trainable_variables
        points = self.draw()
        with tf.GradientTape() as tape:
            loss = sum(self.term_loss(name, points[name]) for name in points)
        self.optimizer.apply(tape.gradient(loss, variables), variables)
        return loss

    def train_step(self, data):
        self.loss_mean.update_state(self.descend())
        return {"loss": self.loss_mean.result()}


def endless():
    """Return an endless dataset without data.

    Autotuning is off, because its thread delays the end of `fit`.
    """
    options = tf.data.Options()
    options.autotune.enabled = False
    return tf.data.Dataset.from_tensors(0).repeat().with_options(options)


class Stock:
    def __init__(self, task):
        self.task = task
        kind = kp.networks.ModifiedMLP if task.gated else kp.networks.MLP
        network = kind(task.units, task.depth, outputs=task.work.outputs)
        xla = task.options["jit_compile"] or task.options["fused"]
        self.model = NestedTapes(network, task.work, task.batch, xla)
        layers = network.layers
        if task.gated:
            layers = [network.encoder_u, network.encoder_v, network.first]
            layers += [*network.gates, network.head]
        for layer, values in zip(layers, task.parameters, strict=True):
            layer.set_weights(values)
        self.model.compile(
            keras.optimizers.Adam(1e-3),
            jit_compile=task.options["jit_compile"],
            steps_per_execution=min(task.options["steps_per_execution"], task.chunk),
        )
        self.model.optimizer.build(self.model.trainable_variables)
        self.loop = tf.function(self._loop, jit_compile=True, autograph=False)

    def _loop(self, steps):
        return tf.while_loop(
            lambda i, loss: i < steps,
            lambda i, loss: (i + 1, self.model.descend()),
            (tf.constant(0), tf.constant(0.0)),
        )[1]

    def losses(self):
        points = self.task.points
        return {
            name: self.model.term_loss(name, tf.constant(points[name]))
            for name in points
        }

    def run(self, steps):
        if self.task.options["fused"]:
            self.loop(tf.constant(steps)).numpy()
        else:
            self.model.fit(endless(), steps_per_epoch=steps, shuffle=False)


if __name__ == "__main__":
    serve(Stock, ["tensorflow", "keras", "numpy"])
