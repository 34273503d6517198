"""jinns: its natural gradient as documented, in float64.

Its notebooks use the natural gradient from the initial weights, on all points. `--adam`
takes steps of Adam first. Derivatives with respect to the points are forward over
forward, the fastest mode in `docs/speed.md`. Residuals are divided by their scale,
because the natural gradient adds a constant to the Gram matrix.
"""

import itertools

import equinox as eqx
import jax
import jax.numpy as jnp
import jinns
import numpy as np
import optax
from jax.experimental import io_callback
from jinns.loss import BoundaryConditionAbstract, PDEStatio
from jinns.validation import AbstractValidationModule

from examples.second_stage.peers.recording import (
    SIDE,
    Recorder,
    parsed,
    relative_l2,
)


def derivative(u, x, index):
    """Return a derivative of u at a point `(2,)`, forward over forward."""
    for axis, order in enumerate(index):
        for _ in range(order):
            u = along(u, jnp.eye(len(x))[axis])
    return u(x)


def along(u, direction):
    return lambda x: jax.jvp(u, (x,), (direction,))[1]


def terms(statement):
    """Return equation and conditions as objects of jinns, each with shape `(1,)`."""
    sides = [
        (declared, 2 * axis + (coordinate == statement.high[axis]))
        for declared in statement.conditions
        for axis, coordinate in declared.sides
    ]

    class Equation(PDEStatio):
        def equation(self, x, u, params):
            values = {
                index: derivative(lambda x: u(x, params), x, index)
                for index in statement.derivatives
            }
            return statement.equation(jnp, list(x), values) / statement.size

    class Conditions(BoundaryConditionAbstract):
        def equation_u(self, inputs, u, params):
            return tuple(
                derivative(
                    lambda x: u(x, params), inputs[:, facet], declared.derivative
                )
                for declared, facet in sides
            )

        def equation_f(self, inputs, params, gridify=False):
            return tuple(
                jnp.reshape(declared.value(jnp, list(inputs[:, facet])), (1,))
                for declared, facet in sides
            )

    return Equation(), Conditions() if sides else None


class Watch(AbstractValidationModule):
    """Validation that keeps weights, and stops training when the time is over."""

    steps: jax.Array = eqx.field(kw_only=True)
    recorder: Recorder = eqx.field(static=True, kw_only=True)
    stage: str = eqx.field(static=True, kw_only=True)
    call_every: int = eqx.field(static=True, kw_only=True, default=1)

    def __call__(self, params):
        def keep(steps, leaves):
            def copied():
                return [np.array(leaf) for leaf in leaves]

            self.recorder.keep(self.stage, int(steps), copied)
            return np.array(self.recorder.over)

        steps = self.steps + 1
        leaves = jax.tree.leaves(params.nn_params)
        over = io_callback(keep, jax.ShapeDtypeStruct((), bool), steps, leaves)
        return eqx.tree_at(lambda w: w.steps, self, steps), over, jnp.zeros(()), False


def solve(options):
    """Train until the time is over; returns the recorder and a function of weights."""
    statement, recorder = options.statement, Recorder(options.seconds)
    low, high = jnp.array(statement.low), jnp.array(statement.high)
    key = jax.random.PRNGKey(options.seed)
    sizes = [2] + [options.units] * options.depth + [1]
    layers = []
    for ins, outs in itertools.pairwise(sizes):
        layers += [(eqx.nn.Linear, ins, outs), (jnp.tanh,)]
    u, weights = jinns.nn.PINN_MLP.create(
        key=key,
        eqx_list=tuple(layers[:-1]),
        eq_type="PDEStatio",
        input_transform=lambda x, _: 2 * (x - low) / (high - low) - 1,
        output_transform=lambda x, y, _: (
            statement.factor(x) * y if statement.factor else y
        ),
    )
    structure = jax.tree.structure(weights)
    equation, conditions = terms(statement)
    parameters = jinns.parameters.Params(nn_params=weights, eq_params=None)
    loss = jinns.loss.LossPDEStatio(
        u=u,
        dynamic_loss=equation,
        boundary_condition=conditions,
        loss_weights=jinns.loss.LossWeightsPDEStatio(
            dyn_loss=1.0, boundary_loss=options.weight if conditions else None
        ),
        params=parameters,
    )

    def points(batch, side):
        """Return the points of all stages, which Adam uses in batches."""
        return jinns.data.CubicMeshPDEStatio(
            key=key,
            n=options.points,
            nb=4 * SIDE if conditions else None,
            omega_batch_size=batch,
            omega_border_batch_size=side,
            dim=2,
            min_pts=statement.low,
            max_pts=statement.high,
            method="uniform",
        )

    rate = optax.cosine_decay_schedule(3e-3, max(options.adam, 1))
    stages = [
        ("Adam", options.adam, optax.adam(rate), points(300, SIDE)),
        ("natural gradient", 10**5, jinns.optimizers.vanilla_ngd(), points(None, None)),
    ]
    for name, steps, optimizer, data in stages:
        if steps:
            parameters, *_ = jinns.solve(
                n_iter=steps,
                init_params=parameters,
                data=data,
                loss=loss,
                optimizer=optimizer,
                validation=Watch(recorder=recorder, stage=name, steps=jnp.array(0)),
                verbose=False,
            )

    @jax.jit
    def field(leaves, points):
        params = jinns.parameters.Params(
            nn_params=jax.tree.unflatten(structure, leaves), eq_params=None
        )
        return jax.vmap(lambda x: u(x, params))(points)

    return recorder, field


def main():
    options = parsed()
    jax.config.update("jax_enable_x64", True)
    recorder, field = solve(options)
    points, exact = options.test
    recorder.tell(
        lambda weights: relative_l2(field(weights, points), exact), ["jinns", "jax"]
    )


if __name__ == "__main__":
    main()
