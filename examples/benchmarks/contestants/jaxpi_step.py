"""jaxpi: its `ForwardBVP`, samplers and `step`, as in its examples.

The first gate of its gated network acts on the input, so it is only timed on M1. Its
loss weights are constant. A call makes one step.
"""

import jax
import jax.numpy as jnp
import ml_collections
from flax import jax_utils
from jaxpi.models import ForwardBVP
from jaxpi.samplers import UniformSampler
from protocol import NotOffered, serve


def configuration(task):
    """Return a configuration like those of its examples."""
    return ml_collections.ConfigDict(
        {
            "arch": {
                "arch_name": "Mlp",
                "num_layers": task.depth,
                "hidden_dim": task.units,
                "out_dim": task.work.outputs,
                "activation": "tanh",
                "periodicity": None,
                "fourier_emb": None,
                "reparam": None,
            },
            "optim": {
                "optimizer": "Adam",
                "beta1": 0.9,
                "beta2": 0.999,
                "eps": 1e-8,
                "learning_rate": 1e-3,
                "decay_rate": 0.9,
                "decay_steps": 1000,
                "grad_accum_steps": 0,
            },
            "weighting": {
                "scheme": None,
                "init_weights": dict.fromkeys(task.work.terms, 1.0),
                "momentum": 0.9,
                "use_causal": None,
            },
            "input_dim": task.work.dimension,
            "seed": 0,
        }
    )


class Model(ForwardBVP):
    """Model with derivatives by nested `jax.grad` at a point, as in its examples."""

    def __init__(self, task):
        super().__init__(configuration(task))
        self.work = task.work
        self.mean = jnp.asarray(task.work.mean, "float32")
        self.deviation = jnp.asarray(task.work.deviation, "float32")

    def u_net(self, params, x, field):
        standard = (x - self.mean) / self.deviation
        return self.state.apply_fn(params, standard)[field]

    def derivative(self, params, x, field, index):
        """Return a derivative at a point `(d,)`."""

        def value(*coordinates):
            return self.u_net(params, jnp.stack(coordinates), field)

        for axis, count in enumerate(index):
            for _ in range(count):
                value = jax.grad(value, argnums=axis)
        return value(*x)

    def r_net(self, params, x, name):
        derivatives = {
            (field, index): self.derivative(params, x, field, index)
            for field, index in self.work.terms[name].derivatives
        }
        return self.work.terms[name].residuals(jnp, list(x), derivatives)

    def losses(self, params, batch):
        values = {}
        for name, term in self.work.terms.items():
            residuals = jax.vmap(lambda x, name=name: self.r_net(params, x, name))(
                batch[name]
            )
            values[name] = term.scale * sum((r * r).mean() for r in residuals)
        return values


class Steps:
    def __init__(self, task):
        if task.gated:
            raise NotOffered("its gated network has another first layer")
        self.task, self.work = task, task.work
        self.model = Model(task)
        layers = {
            f"Dense_{number}": {
                "kernel": jnp.asarray(kernel),
                "bias": jnp.asarray(bias),
            }
            for number, (kernel, bias) in enumerate(task.parameters)
        }
        state = jax_utils.unreplicate(self.model.state)
        self.params = {"params": layers}
        self.model.state = jax_utils.replicate(state.replace(params=self.params))
        self.samplers = {}
        for name in self.work.terms:
            unit = jnp.array([[0.0, 1.0]] * self.work.dimension)
            count = self.work.total(name, task.batch)
            self.samplers[name] = iter(UniformSampler(unit, count))
        self.place = jax.jit(self._place)
        self.notes = {"anneals": False}

    def _place(self, uniform):
        """Map uniform numbers to points on the sides of terms, `(devices, N, d)`."""
        points = {}
        for name, values in uniform.items():
            span, base = self.work.sampling(name)
            devices, count, dimension = values.shape
            parted = values.reshape(devices, len(span), count // len(span), dimension)
            points[name] = (parted * span + base).reshape(values.shape)
        return points

    def losses(self):
        points = {n: jnp.asarray(x) for n, x in self.task.points.items()}
        return self.model.losses(self.params, points)

    def run(self, steps):
        for _ in range(steps):
            uniform = {name: next(batches) for name, batches in self.samplers.items()}
            self.model.state = self.model.step(self.model.state, self.place(uniform))
        jax.block_until_ready(self.model.state.params)


if __name__ == "__main__":
    serve(Steps, ["jaxpi", "jax", "flax"])
