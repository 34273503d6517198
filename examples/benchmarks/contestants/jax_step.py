"""Hand-written training step in JAX: jitted, with many steps in one `lax.scan`.

The option `mode` "reverse" nests reverse mode, "forward" nests Jacobian-vector products
(forward over forward), and "jet" uses `jax.experimental.jet` in the directions that the
derivatives need. Loss weights λ are 1.
"""

import functools
import math

import jax
import jax.numpy as jnp
from jax.experimental import jet
from protocol import NotOffered, serve
from work import gradient_plan, network, raised


def by_reverse_mode(function, x, required, outputs):
    """Return derivatives by gradients of sums, nested for each order."""

    def columns_of(field, index):
        if not any(index):
            return lambda x: function(x)[:, field]
        axis, lower = parents[field, index]
        below = columns_of(field, lower)
        return lambda x: jax.grad(lambda x: below(x).sum())(x)[:, axis]

    parents = {}
    for calls in gradient_plan(required) if any(any(i) for _, i in required) else []:
        for (field, lower), axes in calls.items():
            for axis in axes:
                parents[field, raised(lower, axis)] = axis, lower
    # XLA removes common subexpressions.
    return {(field, index): columns_of(field, index)(x) for field, index in required}


def by_forward_mode(function, x, required, outputs):
    """Return derivatives by nested Jacobian-vector products of all fields at once."""

    def through(function, indices):
        """Return a function of points that returns a dict of derivatives."""
        axes = [a for index in indices for a, count in enumerate(index) if count]
        if not axes:
            return lambda x: dict.fromkeys(indices, function(x))
        axis = min(axes)
        ahead = {index for index in indices if index[axis]}
        inner = through(function, {raised(index, axis, -1) for index in ahead})

        def both(x):
            direction = jnp.zeros_like(x).at[:, axis].set(1.0)
            values, tangents = jax.jvp(inner, (x,), (direction,))
            derivatives = {raised(index, axis): t for index, t in tangents.items()}
            derivatives |= values
            rest = indices - derivatives.keys()
            return derivatives | (through(function, rest)(x) if rest else {})

        return both

    known = through(function, {index for _, index in required})(x)
    return {(field, index): known[index][:, field] for field, index in required}


def by_jet(function, x, required, outputs):
    """Return derivatives by Taylor mode, mixed ones from oblique directions."""
    zero = jnp.zeros_like(x)

    @functools.cache
    def along(direction, order):
        if order == 0:
            return (function(x),)
        seed = [zero + jnp.asarray(direction, x.dtype)] + [zero] * (order - 1)
        value, derivatives = jet.jet(function, (x,), (seed,))
        return (value, *derivatives)

    def top(direction):
        """Return the highest order that is needed along a direction."""
        mixed = [sum(i) for _, i in required if sum(map(bool, i)) > 1]
        axis = direction.index(1) if sum(map(abs, direction)) == 1 else None
        pure = [i[axis] for _, i in required if axis is not None]
        return max([*mixed, *pure, 0])

    def derivative(index):
        order, axes = sum(index), [a for a, count in enumerate(index) if count]
        if len(axes) <= 1:
            direction = (
                tuple(int(a == axes[0]) for a in range(len(index)))
                if axes
                else (1,) + (0,) * (len(index) - 1)
            )
            return along(direction, top(direction))[order]
        if len(index) != 2:
            raise NotOffered(f"no formula for the mixed derivative {index}")
        plus, minus = (along(d, top(d))[order] for d in ((1, 1), (1, -1)))
        if index == (1, 1):
            return (plus - minus) / 4
        if index == (2, 1):
            return (plus - minus) / 6 - along((0, 1), top((0, 1)))[3] / 3
        if index == (1, 2):
            return (plus + minus) / 6 - along((1, 0), top((1, 0)))[3] / 3
        raise NotOffered(f"no formula for the mixed derivative {index}")

    return {(field, index): derivative(index)[:, field] for field, index in required}


MODES = {"reverse": by_reverse_mode, "forward": by_forward_mode, "jet": by_jet}


class Scan:
    def __init__(self, task):
        self.task, self.work = task, task.work
        self.differentiate = MODES[task.options["mode"]]
        parameters = jax.tree.map(jnp.asarray, task.parameters)
        moments = [jax.tree.map(jnp.zeros_like, parameters) for _ in range(2)]
        self.state = (parameters, *moments, jnp.float32(0), jax.random.key(0))
        self.chunk = jax.jit(
            lambda state: jax.lax.scan(self.step, state, length=task.chunk),
            donate_argnums=0,
        )

    def term_loss(self, name, parameters, points):
        def function(x):
            standard = (x - self.work.mean) / self.work.deviation
            return network(parameters, self.task.gated, standard, jnp.tanh)

        term = self.work.terms[name]
        values = self.differentiate(
            function, points, term.derivatives, self.work.outputs
        )
        columns = [points[:, axis] for axis in range(self.work.dimension)]
        return term.loss(jnp, columns, values)

    def draw(self, key):
        points = {}
        for name, term in self.work.terms.items():
            key, term_key = jax.random.split(key)
            span, base = self.work.sampling(name)
            count = self.work.count(name, self.task.batch)
            shape = (len(term.sides), count, self.work.dimension)
            placed = jax.random.uniform(term_key, shape) * span + base
            points[name] = placed.reshape(-1, self.work.dimension)
        return key, points

    def step(self, state, _):
        """Take a step of Adam with the defaults of Keras."""
        parameters, first, second, count, key = state
        key, points = self.draw(key)

        def loss(parameters):
            return sum(self.term_loss(n, parameters, points[n]) for n in points)

        value, gradients = jax.value_and_grad(loss)(parameters)
        count = count + 1
        rate = 1e-3 * jnp.sqrt(1 - 0.999**count) / (1 - 0.9**count)
        first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradients)
        second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradients)
        parameters = jax.tree.map(
            lambda p, m, v: p - rate * m / (jnp.sqrt(v) + 1e-7),
            parameters,
            first,
            second,
        )
        return (parameters, first, second, count, key), value

    def losses(self):
        parameters, points = self.state[0], self.task.points
        return {
            name: jax.jit(lambda p, x, name=name: self.term_loss(name, p, x))(
                parameters, jnp.asarray(points[name])
            )
            for name in points
        }

    def run(self, steps):
        for _ in range(math.ceil(steps / self.task.chunk)):
            self.state, losses = self.chunk(self.state)
        losses.block_until_ready()

    def device_bytes(self):
        return (jax.local_devices()[0].memory_stats() or {}).get("peak_bytes_in_use")


if __name__ == "__main__":
    serve(Scan, ["jax", "jaxlib", "numpy"])
