"""DeepXDE, on the backend in the environment variable `DDE_BACKEND`.

DeepXDE always evaluates the equation at the points of its conditions too, although
these residuals are in no loss. It does not resample points, and has no gated network.

Options: `autodiff` is "reverse" or "forward", the default mode of derivatives; `xla`
compiles with XLA on TensorFlow 2, which DeepXDE does by default only on a GPU.
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
    """Return the module of array functions of the backend."""
    if BACKEND == "jax":
        import jax.numpy

        return jax.numpy
    return __import__(FRAMEWORKS[BACKEND])


def residuals_at(points, term, value):
    """Return the residuals `(N,)` of a term if all derivatives have the same value."""
    columns = list(points.T.astype("float64"))
    values = dict.fromkeys(term.derivatives, np.full(len(points), value))
    residuals = term.residuals(np, columns, values)
    return [np.broadcast_to(residual, len(points)) for residual in residuals]


class Clock(dde.callbacks.Callback):
    """Clock of the steps, without the evaluations of `train` before and after them."""

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
        self._configure()
        self.module = array_functions()
        generator = np.random.default_rng(0)
        self.model = self._model(self.work.draw(task.batch, generator))
        self.notes = {
            "anneals": False,
            "points": "kept",
            "residual_points": len(self.model.data.train_x),
        }

    def _configure(self):
        """Set the options that all models of a process share."""
        dde.config.set_default_autodiff(self.task.options["autodiff"])
        if BACKEND == "tensorflow":
            dde.config.enable_xla_jit(self.task.options["xla"])

    def _model(self, points):
        work = self.work
        geometry = (
            dde.geometry.Interval(work.low[0], work.high[0])
            if work.dimension == 1
            else dde.geometry.Rectangle(work.low, work.high)
        )
        conditions, self.terms = [], []
        for name, term in work.terms.items():
            if name != "residual":
                added = self._conditions(term, points[name])
                conditions += added
                self.terms += [name] * len(added)
        data = dde.data.PDE(
            geometry, self._equation, conditions, anchors=points["residual"]
        )
        layers = [work.dimension] + [self.task.units] * self.task.depth + [work.outputs]
        network = dde.nn.FNN(layers, "tanh", "Glorot normal")
        mean = np.asarray(work.mean, "float32")
        scale = np.asarray(1 / work.deviation, "float32")
        if BACKEND == "pytorch":
            mean, scale = (self.module.tensor(values) for values in (mean, scale))
        network.apply_feature_transform(lambda x: (x - mean) * scale)
        model = dde.Model(data, network)
        # The residuals at one point are only counted.
        zeros = np.zeros((1, work.dimension))
        residuals = len(residuals_at(zeros, work.terms["residual"], 0.0))
        scales = [work.terms[name].scale for name in self.terms]
        model.compile(
            "adam", lr=1e-3, loss_weights=[1.0] * residuals + scales, verbose=0
        )
        self.terms = ["residual"] * residuals + self.terms
        return model

    def _derivative(self, x, y, field, index):
        """Return derivatives `(N, 1)` by the operators of DeepXDE."""
        axes = [a for a, count in enumerate(index) for _ in range(count)]
        if not axes:
            return (y[0] if isinstance(y, tuple) else y)[:, field : field + 1]
        if len(axes) == 1:
            value = dde.grad.jacobian(y, x, i=field, j=axes[0])
        else:
            value = dde.grad.hessian(y, x, component=field, i=axes[0], j=axes[1])
        for axis in axes[2:]:
            value = dde.grad.jacobian(value, x, i=0, j=axis)
        return (
            value[0] if isinstance(value, tuple) else value
        )  # JAX returns a function too

    def _equation(self, x, y):
        term = self.work.terms["residual"]
        columns = [x[:, axis] for axis in range(self.work.dimension)]
        values = {key: self._derivative(x, y, *key)[:, 0] for key in term.derivatives}
        return [r[:, None] for r in term.residuals(self.module, columns, values)]

    def _conditions(self, term, points):
        """Return a condition for each residual, a derivative minus its values."""
        at_zero, at_one = (residuals_at(points, term, value) for value in (0.0, 1.0))
        conditions = []
        for key, zero, one in zip(term.derivatives, at_zero, at_one, strict=True):
            values = (zero / (zero - one))[:, None].astype("float32")
            field, index = key
            if not any(index):
                conditions.append(dde.icbc.PointSetBC(points, values, component=field))
                continue
            if BACKEND == "jax":
                raise NotOffered(
                    "on JAX, DeepXDE gives conditions values, not a function to "
                    "differentiate"
                )

            def operator(x, y, _, key=key):
                return self._derivative(x, y, *key)

            conditions.append(dde.icbc.PointSetOperatorBC(points, values, operator))
        return conditions

    def losses(self):
        """Return the losses that `train` reports for points and weights of the task."""
        kept, terms = self.task.points, self.terms
        model = self._model(kept)
        model.train(iterations=1, verbose=0)
        self._set(model)
        history, _ = model.train(iterations=1, display_every=1, verbose=0)
        reported = history.loss_train[-2]
        losses = dict.fromkeys(self.work.terms, 0.0)
        for name, value in zip(terms, np.ravel(reported), strict=True):
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
            layers = model.net.params["params"]
            names = sorted(layers, key=lambda name: int(name.rsplit("_", 1)[1]))
            changed = {
                name: {"kernel": kernel, "bias": bias}
                for name, (kernel, bias) in zip(
                    names, self.task.parameters, strict=True
                )
            }
            model.net.params = {**model.net.params, "params": changed}
            model.params = [model.net.params, *model.params[1:]]

    def run(self, steps):
        self._configure()
        clock = Clock()
        self.model.train(
            iterations=steps, display_every=10**9, verbose=0, callbacks=[clock]
        )
        return clock.ended - clock.began


if __name__ == "__main__":
    serve(Model, ["deepxde"])
