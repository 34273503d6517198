"""jinns: `jinns.solve` on a stationary equation, with its Laplacian and batches.

Points come from a pool of 100 batches, which is shuffled after it has been used up.

The option `laplacian` "loop" is the Laplacian of jinns by nested reverse mode, one
second derivative after another. "forward" is forward over forward, written in JAX.
"""

import contextlib
import functools
import io
import re

import equinox as eqx
import jax
import jax.numpy as jnp
import jinns
import optax
from jinns.loss import (
    BoundaryConditionAbstract,
    PDEStatio,
    equation_on_all_facets_equal,
)
from protocol import serve
from work import network

# Number of batches in the pool of points.
POOL = 100


class Network(eqx.Module):
    """Networks of the paper at one point `(d,)`."""

    parameters: list
    gated: bool = eqx.field(static=True)

    def __call__(self, x):
        return network(self.parameters, self.gated, x, jnp.tanh)


def forward_laplacian(x, u, params):
    """Return the Laplacian, forward over forward.

    The forward mode of jinns only supports its separable networks.
    """

    def along(direction):
        def derivative(x):
            return jax.jvp(lambda x: u(x, params), (x,), (direction,))[1]

        return jax.jvp(derivative, (x,), (direction,))[1]

    return sum(along(direction) for direction in jnp.eye(len(x)))


LAPLACIANS = {
    "loop": functools.partial(jinns.loss.laplacian_rev, method="loop"),
    "forward": forward_laplacian,
}


def helmholtz_terms(term, boundary, laplacian):
    """Return the equation and the condition as objects of jinns."""
    zero = (0, (0, 0))

    def source(x):
        nothing = dict.fromkeys(term.derivatives, 0.0)
        return term.residuals(jnp, list(x), nothing)[0]

    class Equation(PDEStatio):
        def equation(self, x, u, params):
            return laplacian(x, u, params) + u(x, params) + source(x)

    class Exact(BoundaryConditionAbstract):
        @equation_on_all_facets_equal
        def equation_u(self, inputs, u, params):
            return u(inputs, params)

        @equation_on_all_facets_equal
        def equation_f(self, inputs, params, gridify=False):
            value = boundary.residuals(jnp, list(inputs), {zero: 0.0})[0]
            return -jnp.reshape(value, (1,))

    return Equation(), Exact()


class Solve:
    def __init__(self, task):
        self.task, work = task, task.work
        mean, deviation = jnp.asarray(work.mean), jnp.asarray(work.deviation)
        eqx_network = Network(jax.tree.map(jnp.asarray, task.parameters), task.gated)
        u = jinns.nn.PINN(
            eq_type="PDEStatio",
            eqx_network=eqx_network,
            input_transform=lambda x, params: (x - mean) / deviation,
        )
        self.parameters = jinns.parameters.Params(
            nn_params=u.init_params, eq_params=None
        )
        equation, exact = helmholtz_terms(
            work.terms["residual"],
            work.terms["boundary"],
            LAPLACIANS[task.options["laplacian"]],
        )
        self.loss = jinns.loss.LossPDEStatio(
            u=u,
            dynamic_loss=equation,
            boundary_condition=exact,
            loss_weights=jinns.loss.LossWeightsPDEStatio(
                dyn_loss=1.0, boundary_loss=1.0
            ),
            params=self.parameters,
        )
        self.data = jinns.data.CubicMeshPDEStatio(
            key=jax.random.PRNGKey(0),
            n=POOL * task.batch,
            nb=4 * POOL * task.batch,
            omega_batch_size=task.batch,
            omega_border_batch_size=task.batch,
            dim=2,
            min_pts=work.low,
            max_pts=work.high,
            method="uniform",
        )
        self.optimizer = optax.adam(1e-3)
        self.state = None
        self.notes = {"anneals": False, "points": "shuffled from a pool"}

    def losses(self):
        points = {name: jnp.asarray(x) for name, x in self.task.points.items()}
        sides = len(self.task.work.terms["boundary"].sides)
        border = jnp.moveaxis(points["boundary"].reshape(sides, -1, 2), 0, -1)
        batch = jinns.data.PDEStatioBatch(
            domain_batch=points["residual"], border_batch=border
        )
        _, terms = self.loss.evaluate(self.parameters, batch)[:2]
        parts = {"residual": terms.dyn_loss, "boundary": terms.boundary_loss}
        return {name: sum(jax.tree.leaves(value)) for name, value in parts.items()}

    def run(self, steps):
        """Train; return the seconds that `jinns.solve` reports, without compilation."""
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            solved = jinns.solve(
                n_iter=steps,
                init_params=self.parameters,
                data=self.data,
                loss=self.loss,
                optimizer=self.optimizer,
                print_loss_every=steps,
                opt_state=self.state,
            )
        self.parameters, self.data, self.state = solved[0], solved[3], solved[5]
        return float(re.search(r"Training took\s+(\S+)", printed.getvalue())[1])


if __name__ == "__main__":
    serve(Solve, ["jinns", "jax", "jaxlib"])
