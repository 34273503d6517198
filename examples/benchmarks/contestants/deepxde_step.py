"""DeepXDE, on the backend that the variable `DDE_BACKEND` names.

It evaluates the equation on the boundary's points as well as inside, as it always does
with the points of its conditions, and keeps its points. It has no gated network.
"""

import os
import time

import deepxde as dde
import numpy as np
from protocol import NotOffered, serve

BACKEND = os.environ["DDE_BACKEND"]
FRAMEWORKS = {
    "tensorflow.compat.v1": "tensorflow",
    "tensorflow": "tensorflow",
    "jax": "jax",
    "pytorch": "torch",
}


def array_functions():
    """The module of array functions of the backend."""
    if BACKEND == "jax":
        import jax.numpy

        return jax.numpy
    return __import__(FRAMEWORKS[BACKEND])


class Clock(dde.callbacks.Callback):
    """The steps of a training, less what `train` evaluates before and after."""

    def on_train_begin(self):
        self.began = None

    def on_batch_begin(self):
        self.began = self.began or time.perf_counter()

    def on_batch_end(self):
        self.ended = time.perf_counter()


class Model:
    def __init__(self, task):
        if task.gated:
            raise NotOffered("DeepXDE has no gated network")
        dde.config.set_default_float("float32")
        self.task, self.work = task, task.work
        self.module = array_functions()
        generator = np.random.default_rng(0)
        self.model = self._model(self.work.draw(task.batch, generator), task.units)
        points = sum(self.work.total(n, task.batch) for n in self.work.terms)
        self.notes = {
            "anneals": False,
            "points": "kept",
            "residual_points": points,
            "evaluated_on": {"residual": list(self.work.terms)},
        }

    def _model(self, points, units):
        work = self.work
        everywhere = np.concatenate(list(points.values()))
        geometry = (
            dde.geometry.Interval(work.low[0], work.high[0])
            if work.dimension == 1
            else dde.geometry.Rectangle(work.low, work.high)
        )
        conditions, self.terms = [], []
        for name, term in work.terms.items():
            if name != "residual":
                added = self._conditions(geometry, name, term)
                conditions += added
                self.terms += [name] * len(added)
        data = dde.data.PDE(geometry, self._equation, conditions, anchors=everywhere)
        layers = [work.dimension] + [units] * self.task.depth + [work.outputs]
        network = dde.nn.FNN(layers, "tanh", "Glorot normal")
        mean = np.asarray(work.mean, "float32")
        scale = np.asarray(1 / work.deviation, "float32")
        if BACKEND == "pytorch":
            mean, scale = (self.module.tensor(values) for values in (mean, scale))
        network.apply_feature_transform(lambda x: (x - mean) * scale)
        model = dde.Model(data, network)
        residuals = len(self._residual_count())
        scales = [work.terms[name].scale for name in self.terms]
        model.compile(
            "adam", lr=1e-3, loss_weights=[1.0] * residuals + scales, verbose=0
        )
        self.terms = ["residual"] * residuals + self.terms
        return model

    def _residual_count(self):
        """The residuals at one point of zeros, to count them."""
        term = self.work.terms["residual"]
        zeros = dict.fromkeys(term.derivatives, np.zeros(1))
        return term.residuals(np, [np.zeros(1)] * self.work.dimension, zeros)

    def _derivatives(self, x, y, required):
        """Values `(N,)` from DeepXDE's own operators."""
        values = {}
        for field, index in required:
            axes = [a for a, count in enumerate(index) for _ in range(count)]
            if not axes:
                value = (y[0] if BACKEND == "jax" else y)[:, field : field + 1]
            elif len(axes) == 1:
                value = dde.grad.jacobian(y, x, i=field, j=axes[0])
            else:
                component = field if self.work.outputs > 1 else 0
                value = dde.grad.hessian(
                    y, x, component=component, i=axes[0], j=axes[1]
                )
                for axis in axes[2:]:
                    value = dde.grad.jacobian(value, x, i=0, j=axis)
            if isinstance(value, tuple):  # JAX: values, and a function
                value = value[0]
            values[field, index] = value[:, 0]
        return values

    def _equation(self, x, y):
        term = self.work.terms["residual"]
        columns = [x[:, axis] for axis in range(self.work.dimension)]
        values = self._derivatives(x, y, term.derivatives)
        return [r[:, None] for r in term.residuals(self.module, columns, values)]

    def _conditions(self, geometry, name, term):
        """One condition for each residual of a term."""
        sides = {side for side in term.sides if side is not None}

        def on_sides(x, on_boundary):
            return any(np.isclose(x[axis], value) for axis, value in sides)

        if any(any(index) for _, index in term.derivatives):
            raise NotOffered("conditions on derivatives are not written for DeepXDE")

        def given(place):
            def values(x):
                zeros = dict.fromkeys(term.derivatives, np.zeros(len(x)))
                residual = term.residuals(np, list(x.T), zeros)[place]
                return -np.broadcast_to(residual, len(x))[:, None]

            return values

        return [
            dde.icbc.DirichletBC(geometry, given(place), on_sides, component=field)
            for place, (field, _) in enumerate(term.derivatives)
        ]

    def losses(self):
        """As its own training reports them, at the points and weights given."""
        kept, terms = self.task.points, self.terms
        model = self._model(kept, self.task.units)
        model.train(iterations=1, verbose=0)
        self._set(model)
        history, _ = model.train(iterations=1, display_every=1, verbose=0)
        found = history.loss_train[-2]
        losses = dict.fromkeys(self.work.terms, 0.0)
        for name, value in zip(terms, np.ravel(found), strict=True):
            losses[name] += float(value)
        self.terms = terms
        return losses

    def _set(self, model):
        flat = [values for pair in self.task.parameters for values in pair]
        if BACKEND == "tensorflow.compat.v1":
            import tensorflow as tf

            variables = tf.compat.v1.trainable_variables()[-len(flat) :]
            for variable, values in zip(variables, flat, strict=True):
                model.sess.run(tf.compat.v1.assign(variable, values))
        elif BACKEND == "tensorflow":
            model.net.set_weights(flat)
        elif BACKEND == "pytorch":
            for layer, (kernel, bias) in zip(
                model.net.linears, self.task.parameters, strict=True
            ):
                layer.weight.data.copy_(self.module.tensor(kernel.T))
                layer.bias.data.copy_(self.module.tensor(bias))
        else:
            own = model.net.params["params"]
            names = sorted(own, key=lambda name: int(name.rsplit("_", 1)[1]))
            changed = {
                name: {"kernel": kernel, "bias": bias}
                for name, (kernel, bias) in zip(
                    names, self.task.parameters, strict=True
                )
            }
            model.net.params = {**model.net.params, "params": changed}
            model.params = [model.net.params, *model.params[1:]]

    def run(self, steps):
        clock = Clock()
        self.model.train(
            iterations=steps, display_every=10**9, verbose=0, callbacks=[clock]
        )
        return clock.ended - clock.began


if __name__ == "__main__":
    serve(Model, ["deepxde"])
