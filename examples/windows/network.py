"""Overlapping windows with separate networks (FBPINN), for `docs/windows.md`."""

import math
import random
from collections.abc import Mapping
from typing import Any

import keras
import numpy as np
import sympy as sp
from keras import ops

from examples.windows.windows import FAR, blocks_of, candidates, flat, smooth_step
from keraspinn.common.checks import check_count, check_known, positive_number
from keraspinn.derivatives.taylor import IndexSet, Taylor, register_rule
from keraspinn.derivatives.taylor.rules import columns
from keraspinn.networks.base import Network


@keras.saving.register_keras_serializable("examples")
class Windowed(Network):
    """Overlapping windows with separate networks, for solutions with many scales.

    The field is u = Σ_j ω_j(ξ) N_j((ξ − c_j) / h_j). The windows ω_j are C³, vanish
    outside their part of the domain, and their sum is 1. The networks N_j have equal
    sizes and different weights. Their inputs are between −1 and 1 on their windows. Two
    windows of each split contribute to a point. One batched product for each layer
    evaluates all networks.

    Args:
        inner: Template of the networks, an object of `keraspinn.networks` such as
            `MLP(10, 2)`. Its weights are not used.
        splits: Dict from coordinates, symbols or names, to the ends of the domain and
            the number of windows, at least 2, such as `{x: (0, 1, 4)}`. The windows of
            several coordinates are products.
        overlap: Width of the overlap of neighbours, relative to the distance of their
            centres, above 0 and at most 1.
        **kwargs: `name`, `dtype` of `keras.Model`.

    Call arguments:
        x: Points, `(..., N, d)`.

    Returns:
        The fields' values, `(..., N, outputs)`.

    Raises:
        TypeError: If `inner` is no network of the package.
        ValueError: If there are no splits, one has fewer than 2 windows or the overlap
            is out of range; if a `PINNModel` is made and a coordinate is unknown, or
            the network receives other features, such as those of a period.

    Example:

    >>> x = sp.Symbol("x")
    >>> inner = keraspinn.networks.MLP(units=10, depth=2)
    >>> network = Windowed(inner, splits={x: (0, 1, 4)}, overlap=0.5)
    >>> model = keraspinn.PINNModel(keraspinn.problems.poisson(), network)
    >>> keras.ops.shape(network(keras.random.uniform((8, 1))))
    (8, 1)

    Reference:
        Moseley, Markham & Nissen-Meyer, "Finite basis physics-informed neural
        networks (FBPINNs)", Advances in Computational Mathematics 2023.
    """

    def __init__(
        self,
        inner: Network,
        splits: Mapping[sp.Symbol | str, tuple[float, float, int]],
        overlap: float = 0.5,
        **kwargs: Any,
    ) -> None:
        if not isinstance(inner, Network) or isinstance(inner, Windowed):
            raise TypeError(
                "`inner` must be another of keraspinn.networks, such as "
                f"keraspinn.networks.MLP(10, 2). Received: {inner!r}"
            )
        settings = inner.units, inner.depth, inner.output_count, inner.activation
        super().__init__(*settings, **{"dtype": inner.dtype_policy, **kwargs})
        self.splits = {
            str(symbol): (
                float(lower),
                float(upper),
                check_count(f"splits of {symbol}", count, least=2),
            )
            for symbol, (lower, upper, count) in splits.items()
        }
        self.overlap = positive_number("overlap", overlap)
        if not self.splits or self.overlap > 1:
            raise ValueError(
                "Write splits={x: (0, 1, 4)} and an overlap of at most 1, of the "
                f"distance of neighbours. Received: splits={splits}, overlap={overlap}"
            )
        # Keras must not track it: the weights of the windows replace its weights.
        vars(self)["inner"] = _copied(inner)

    def _grid(self, width):
        """Return lower ends, distances and numbers of windows, for each coordinate."""
        if self.scales is None:
            raise ValueError(
                "A Windowed network learns its coordinates from a problem. Make the "
                "model first: keraspinn.PINNModel(problem, network)."
            )
        scales = {str(s): scale for s, scale in self.scales.coordinates.items()}
        check_known("splits", self.splits, scales, "coordinates")
        if width != len(scales):
            raise ValueError(
                f"A Windowed network takes the {len(scales)} coordinates alone. "
                f"Received: {width} features, such as those of a period or of corners."
            )
        low, spacing, counts = -np.ones(width), np.full(width, 2.0), np.ones(width, int)
        for column, (name, (centre, half)) in enumerate(scales.items()):
            if name in self.splits:
                start, end, count = self.splits[name]
                low[column] = (start - centre) / half
                spacing[column] = (end - start) / half / count
                counts[column] = count
        return low, spacing, counts

    def build(self, input_shape):
        count = math.prod(count for *_, count in self.splits.values())
        copies = [_copied(self.inner, number) for number in range(count)]
        for network in (self.inner, *copies):
            network.build((None, input_shape[-1]))
        self.stacks = []
        for weights in zip(*(network.weights for network in copies), strict=True):
            values = np.stack([ops.convert_to_numpy(weight) for weight in weights])
            shape = count, *[1] * (3 - values.ndim), *values.shape[1:]
            name = "_".join(weights[0].path.split("/")[-2:])
            self.stacks.append(self.add_weight(shape, name=name))
            self.stacks[-1].assign(values.reshape(shape))
        self.input_spec = keras.layers.InputSpec(axes={-1: input_shape[-1]})

    def forward(self, x, apply):
        if not isinstance(x, Taylor):
            value_only = IndexSet([(0,) * x.shape[-1]])
            return self.forward(Taylor.of_points(x, value_only), apply).value
        shape = ops.shape(x.value)
        low, spacing, counts = self._grid(x.value.shape[-1])
        numbers = np.indices(tuple(counts)).reshape(len(counts), -1).T  # (J, F)
        stretch = np.where(counts > 1, 1.0 / (1.0 + self.overlap), 1.0)
        first, last = FAR * (numbers == 0), FAR * (numbers == counts - 1)
        arrays = low, 1.0 / spacing, stretch, numbers, first, last
        low, rate, stretch, *rows = (ops.cast(array, x.dtype) for array in arrays)
        # The integer parts of these coordinates are numbers of cells.
        cells = (x.map(lambda c: flat(c, shape)) - low) * rate
        pairs = candidates(cells.value, counts)
        slots, points, windows, size = blocks_of(pairs, len(numbers))
        number, first, last = (ops.take(n, windows, axis=0)[:, None] for n in rows)

        def in_blocks(c):
            if c.shape[0] == 1:
                return c[None]
            return ops.reshape(ops.take(c, points, axis=0), (-1, size, c.shape[-1]))

        def at_points(c):
            rows = ops.take(ops.reshape(c, (-1, c.shape[-1])), slots, axis=0)
            return ops.reshape(ops.sum(rows, axis=1), (*shape[:-1], c.shape[-1]))

        position = cells.map(in_blocks) - number
        lower = position * (2.0 / self.overlap) + first
        upper = (position - 1.0) * (2.0 / self.overlap) - last
        steps = lower.compose(smooth_step) - upper.compose(smooth_step)
        share = math.prod(columns(steps, [k]) for k in np.flatnonzero(counts > 1))
        values = [ops.take(_wide(stack), windows, axis=0) for stack in self.stacks]
        with keras.StatelessScope() as scope:
            for pair in zip(self.inner.weights, values, strict=True):
                scope.add_update(pair)
            fields = self.inner.forward((position * 2.0 - 1.0) * stretch, apply)
        fields = columns(fields, range(self.output_count))
        return (fields * share).map(at_points)

    def get_config(self):
        config = super().get_config()
        for name in ("units", "depth", "outputs", "activation", "standardize"):
            del config[name]  # these belong to the inner network
        del config["kernel_initializer"], config["bias_initializer"]
        inner = keras.saving.serialize_keras_object(_copied(self.inner))
        settings = {"splits": self.splits, "overlap": self.overlap}
        return {**config, "inner": inner, **settings}

    @classmethod
    def from_config(cls, config, custom_objects=None):
        inner = keras.saving.deserialize_keras_object(config["inner"], custom_objects)
        return super().from_config({**config, "inner": inner}, custom_objects)


register_rule(Windowed)(Windowed.call)


def _wide(stack):
    """Return a stack of weights, with a second column for a head with one output.

    The rule of `Dense` pads a kernel with one column, but only a matrix, not a stack.
    """
    if stack.name != "head_kernel" or stack.shape[-1] > 1:
        return stack.value
    return ops.pad(stack.value, [(0, 0), (0, 0), (0, 1)])


def _copied(network, number=None):
    """Return a copy of a network; `number` changes the seeds of its initializers."""

    def changed(value, key=None):
        if isinstance(value, dict):
            return {k: changed(v, k) for k, v in value.items()}
        if key == "seed" and isinstance(value, int):
            return random.Random(f"{value}/{number}").randrange(2**31)
        return value

    config = {**network.get_config(), "adapted_to": None}
    return type(network).from_config(config if number is None else changed(config))
