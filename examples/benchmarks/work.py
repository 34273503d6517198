"""Work of a training step as numerical functions, which all contestants compute.

The functions take a module of array functions (`numpy`, `jax.numpy`, `torch`,
`tensorflow`), so that contestants can share them. keraspinn does not use them: it
trains on `keraspinn.problems`.
"""

import dataclasses
import itertools
import math
from collections.abc import Callable

import numpy as np

PI = math.pi


@dataclasses.dataclass(frozen=True)
class Term:
    """Loss term: `scale` × the sum over residuals of their mean squares over points.

    Attributes:
        sides: Parts of the box on which equal numbers of points are drawn:
            `(axis, value)` for a side, `None` for the inside.
        scale: Factor of the mean over all points of the term. If the term is the sum
            of means over sides, this is the number of sides.
        derivatives: Tuple of `(field, multi-index)` in the residuals.
        residuals: Function of `(module, columns, derivatives)` that returns the
            residuals. The last two are a list and a dict of arrays `(N,)`.
    """

    sides: tuple
    scale: float
    derivatives: tuple
    residuals: Callable

    def loss(self, module, columns, derivatives):
        """Return the loss of the term, a scalar."""
        residuals = self.residuals(module, columns, derivatives)
        return self.scale * sum((r * r).mean() for r in residuals)


@dataclasses.dataclass(frozen=True)
class Work:
    """Problem on the box from `low` to `high`, with loss terms by name."""

    low: tuple
    high: tuple
    outputs: int
    terms: dict

    @property
    def dimension(self):
        return len(self.low)

    @property
    def mean(self):
        return np.add(self.low, self.high) / 2

    @property
    def deviation(self):
        """Return the standard deviation of uniform points, for standardised inputs."""
        return np.subtract(self.high, self.low) / math.sqrt(12)

    def count(self, name, batch):
        """Return the number of points on each side of a term, one if it is a point."""
        single = self.dimension == 1 and self.terms[name].sides != (None,)
        return 1 if single else batch

    def total(self, name, batch):
        """Return the number of points of a term in a step."""
        return len(self.terms[name].sides) * self.count(name, batch)

    def sampling(self, name):
        """Return arrays `(sides, 1, d)`: points are uniform × first + second array."""
        span = [[self.span(side)] for side in self.terms[name].sides]
        base = [[self.base(side)] for side in self.terms[name].sides]
        return np.array(span, "float32"), np.array(base, "float32")

    def span(self, side):
        widths = np.subtract(self.high, self.low)
        fixed = None if side is None else side[0]
        return [0.0 if axis == fixed else w for axis, w in enumerate(widths)]

    def base(self, side):
        low = list(self.low)
        if side is not None:
            low[side[0]] = side[1]
        return low

    def draw(self, batch, generator):
        """Draw points `(N, d)` by term name with a NumPy generator."""
        points = {}
        for name, term in self.terms.items():
            span, base = self.sampling(name)
            shape = (len(term.sides), self.count(name, batch), self.dimension)
            uniform = generator.random(shape, dtype=np.float32)
            points[name] = (uniform * span + base).reshape(-1, self.dimension)
        return points


def _poisson(c=4):
    return Work(
        low=(0.0,),
        high=(1.0,),
        outputs=1,
        terms={
            "residual": Term(
                (None,),
                1.0,
                ((0, (2,)),),
                lambda m, x, d: [d[0, (2,)] + c**2 * m.sin(c * x[0])],
            ),
            "boundary": Term(
                ((0, 0.0), (0, 1.0)),
                1.0,
                ((0, (0,)),),
                lambda m, x, d: [d[0, (0,)] - m.sin(c * x[0])],
            ),
        },
    )


def _helmholtz():
    def exact(m, x):
        return m.sin(PI * x[0]) * m.sin(4 * PI * x[1])

    def residuals(m, x, d):
        source = (1 - 17 * PI**2) * exact(m, x)
        return [d[0, (2, 0)] + d[0, (0, 2)] + d[0, (0, 0)] - source]

    return Work(
        low=(-1.0, -1.0),
        high=(1.0, 1.0),
        outputs=1,
        terms={
            "residual": Term(
                (None,), 1.0, ((0, (0, 0)), (0, (2, 0)), (0, (0, 2))), residuals
            ),
            "boundary": Term(
                tuple(itertools.product((0, 1), (-1.0, 1.0))),
                4.0,
                ((0, (0, 0)),),
                lambda m, x, d: [d[0, (0, 0)] - exact(m, x)],
            ),
        },
    )


def _klein_gordon():
    def exact(m, x, t):
        return x * m.cos(5 * PI * t) + (x * t) ** 3

    def residuals(m, columns, d):
        x, t = columns
        source = (
            exact(m, x, t) ** 3
            - 25 * PI**2 * x * m.cos(5 * PI * t)
            + 6 * x**3 * t
            - 6 * x * t**3
        )
        return [d[0, (0, 2)] - d[0, (2, 0)] + d[0, (0, 0)] ** 3 - source]

    value, velocity = (0, (0, 0)), (0, (0, 1))
    return Work(
        low=(0.0, 0.0),
        high=(1.0, 1.0),
        outputs=1,
        terms={
            "residual": Term(
                (None,), 1.0, (value, (0, (2, 0)), (0, (0, 2))), residuals
            ),
            "boundary": Term(
                ((0, 0.0), (0, 1.0)),
                2.0,
                (value,),
                lambda m, x, d: [d[value] - exact(m, *x)],
            ),
            "initial": Term(
                ((1, 0.0),),
                1.0,
                (value, velocity),
                lambda m, x, d: [d[value] - x[0], d[velocity]],
            ),
        },
    )


def _lid(m, x):
    return m.where(x[1] >= 1.0, 1.0, 0.0)


def _momentum(value, pressure, reynolds=100.0):
    """Return the residuals of both momentum equations.

    `value(component, index)` is a derivative of u or v.
    """

    def equation(component, pressure_gradient):
        advection = value("u", (0, 0)) * value(component, (1, 0))
        advection = advection + value("v", (0, 0)) * value(component, (0, 1))
        diffusion = value(component, (2, 0)) + value(component, (0, 2))
        return advection + pressure_gradient - diffusion / reynolds

    return [equation("u", pressure[0]), equation("v", pressure[1])]


def _cavity(outputs, residuals, derivatives, boundary, on_boundary):
    sides = tuple(itertools.product((0, 1), (0.0, 1.0)))
    return Work(
        low=(0.0, 0.0),
        high=(1.0, 1.0),
        outputs=outputs,
        terms={
            "residual": Term((None,), 1.0, derivatives, residuals),
            "boundary": Term(sides, 1.0, on_boundary, boundary),
        },
    )


def _cavity_streamfunction():
    p, psi = 0, 1

    def residuals(m, x, d):
        def value(component, index):
            i, j = index
            return d[psi, (i, j + 1)] if component == "u" else -d[psi, (i + 1, j)]

        return _momentum(value, (d[p, (1, 0)], d[p, (0, 1)]))

    orders = [i for i in itertools.product(range(4), repeat=2) if 1 <= sum(i) <= 3]
    gradient = ((psi, (0, 1)), (psi, (1, 0)))
    return _cavity(
        2,
        residuals,
        ((p, (1, 0)), (p, (0, 1)), *((psi, index) for index in orders)),
        lambda m, x, d: [d[gradient[0]] - _lid(m, x), -d[gradient[1]]],
        gradient,
    )


def _cavity_velocity():
    p, u, v = range(3)
    fields = {"u": u, "v": v}

    def residuals(m, x, d):
        momentum = _momentum(
            lambda component, index: d[fields[component], index],
            (d[p, (1, 0)], d[p, (0, 1)]),
        )
        return [*momentum, d[u, (1, 0)] + d[v, (0, 1)]]

    orders = ((0, 0), (1, 0), (0, 1), (2, 0), (0, 2))
    values = ((u, (0, 0)), (v, (0, 0)))
    return _cavity(
        3,
        residuals,
        ((p, (1, 0)), (p, (0, 1)), *itertools.product((u, v), orders)),
        lambda m, x, d: [d[values[0]] - _lid(m, x), d[values[1]]],
        values,
    )


WORKS = {
    "poisson": _poisson(),
    "helmholtz": _helmholtz(),
    "klein-gordon": _klein_gordon(),
    "cavity-streamfunction": _cavity_streamfunction(),
    "cavity-velocity": _cavity_velocity(),
}


def order_indices(dimension, order):
    """Return all multi-indices of one total order."""
    everything = itertools.product(range(order + 1), repeat=dimension)
    return [index for index in everything if sum(index) == order]


def find(name):
    """Return the `Work` of a name, one of `WORKS` or a step of the order ladder.

    `ladder-D-K` has the mean squares of all derivatives of order K in D
    dimensions, on a box without a boundary.
    """
    if name in WORKS:
        return WORKS[name]
    dimension, order = map(int, name.removeprefix("ladder-").split("-"))
    derivatives = tuple((0, index) for index in order_indices(dimension, order))
    residual = Term(
        (None,), 1.0, derivatives, lambda m, x, d: [d[key] for key in derivatives]
    )
    return Work((-1.0,) * dimension, (1.0,) * dimension, 1, {"residual": residual})


def is_gated(model):
    """Return whether a model of the paper, M1 to M4, has the gated network."""
    return model in ("M3", "M4")


def shapes(work, model, units, depth):
    """Return the shapes of the kernels in the order of `network`."""
    d, outputs = work.dimension, work.outputs
    square = [(units, units)]
    if is_gated(model):
        return [(d, units)] * 3 + square * depth + [(units, outputs)]
    return [(d, units)] + square * (depth - 1) + [(units, outputs)]


def initial_parameters(work, model, units, depth, seed=0):
    """Return Glorot-normal kernels and small random biases, float32."""
    generator = np.random.default_rng(seed)
    parameters = []
    for rows, columns in shapes(work, model, units, depth):
        deviation = math.sqrt(2 / (rows + columns))
        kernel = deviation * generator.standard_normal((rows, columns))
        bias = 0.1 * generator.standard_normal(columns)
        parameters.append((kernel.astype("float32"), bias.astype("float32")))
    return parameters


def network(parameters, gated, x, tanh):
    """Evaluate the paper's networks at standardised points `(N, d)`: `(N, outputs)`."""
    *layers, (kernel, bias) = parameters
    if gated:
        (u, v, h), layers = (
            [tanh(x @ w + b) for w, b in layers[:3]],
            layers[3:],
        )
        for w, b in layers:
            z = tanh(h @ w + b)
            h = u + z * (v - u)
    else:
        h = x
        for w, b in layers:
            h = tanh(h @ w + b)
    return h @ kernel + bias


def gradient_plan(required):
    """Plan nested reverse mode with few calls.

    Args:
        required: Iterable of `(field, multi-index)`.

    Returns:
        List over orders 1, 2, … of dicts from a lower derivative, `(field,
        multi-index)`, to the axes by which it is differentiated.
    """
    wanted = set(required)
    levels = []
    for order in range(max(sum(index) for _, index in wanted), 0, -1):
        targets = {key for key in wanted if sum(key[1]) == order}
        calls = {}
        for field in {field for field, _ in targets}:
            indices = {index for f, index in targets if f == field}
            for lower, axes in _cover(indices).items():
                calls[field, lower] = axes
                wanted.add((field, lower))
        levels.append(calls)
    return levels[::-1]


def _cover(targets):
    """Return few lower multi-indices from which one derivative reaches all targets."""
    reach = {}
    for index in targets:
        for axis, count in enumerate(index):
            if count:
                reach.setdefault(raised(index, axis, -1), {})[index] = axis
    left, calls = set(targets), {}
    while left:
        lower = max(
            sorted(reach, reverse=True), key=lambda i: len(left & reach[i].keys())
        )
        new = left & reach[lower].keys()
        calls[lower] = sorted(reach[lower][index] for index in new)
        left -= new
    return calls


def raised(index, axis, by=1):
    """Return `index` with one entry increased."""
    return tuple(n + by * (number == axis) for number, n in enumerate(index))
