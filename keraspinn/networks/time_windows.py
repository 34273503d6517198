"""A network for each of consecutive time windows, continuous at their edges."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import keras
import numpy as np
from keras import ops

from keraspinn.derivatives.taylor import IndexSet, SeriesLayer, Taylor, propagate
from keraspinn.derivatives.taylor.series import add_to, select
from keraspinn.networks.base import Adaptable, units_of


class TimeWindows(SeriesLayer, Adaptable):
    """One network for each time window, continuous at the edges by construction.

    In window j, from t_j to t_{j+1} = t_j + h, a field of first order in time is

        M_j(x, t) = M_{j−1}(x, t_j) + (t − t_j)/h · N_j(x, t)

    and one of second order continues the time derivative too:

        M_j = M_{j−1}(x, t_j) + (t − t_j) (1 − s)² ∂_t M_{j−1}(x, t_j) + s² N_j

    with s = (t − t_j)/h. The factor (1 − s)² keeps errors of short wavelength from
    growing: without it, a velocity that N_j does not correct moves on to the end.

    A field without a time derivative in the equations is M_j = N_j. Points before the
    first edge use the first network, points after the last edge the last one.
    `keraspinn.march` makes and trains it, one window after another.

    Args:
        networks: List of networks, one for each window, from points `(N, d)` with time
            in the last column to the fields `(N, F)`. Their layers need Taylor rules.
        edges: List of the windows' ends, increasing, one more than networks.
        orders: List with the order in time, 0, 1 or 2, of each field.
        jumps: Optional dict from an inner edge to a list of pairs `(factor, shift)`,
            one for each field: the field after the edge is factor · field + shift.
        final_losses: Optional list of each window's loss at the end of its training.
        **kwargs: `name`, `dtype` of `keras.Model`.

    Call arguments:
        x: Points, `(..., d)`.

    Returns:
        The fields' values, `(..., F)`.

    Raises:
        ValueError: When called, if a network has not one output for each of `orders`.

    Example:

    >>> networks = [keraspinn.networks.MLP(units=4, depth=1) for _ in range(2)]
    >>> windows = keraspinn.networks.TimeWindows(networks, [0, 1, 2], orders=[1])
    >>> keras.ops.shape(windows(keras.random.uniform((8, 2))))
    (8, 1)
    """

    def __init__(
        self,
        networks: Sequence[keras.Layer],
        edges: Sequence[float],
        orders: Sequence[int],
        jumps: Mapping[float, Sequence[tuple[float, float]]] | None = None,
        final_losses: Sequence[float] = (),
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.edges = [float(edge) for edge in edges]
        self.networks = list(networks)
        self.orders = [int(order) for order in orders]
        self.output_count = len(self.orders)
        self.jumps = {float(t): [*map(tuple, j)] for t, j in (jumps or {}).items()}
        self.final_losses = [float(loss) for loss in final_losses]

    @property
    def history(self) -> list[dict[str, float]]:
        """List of dicts, one for each trained window: `start`, `end`, `loss`."""
        rows = zip(self.edges, self.edges[1:], self.final_losses, strict=False)
        return [{"start": a, "end": b, "loss": loss} for a, b, loss in rows]

    def scaled(self, x, wanted=None):
        """Return scaled fields from scaled points, a tensor or a `Taylor` series.

        Args:
            x: The points.
            wanted: As for `Network.scaled`.
        """
        centre, half = units_of(self.scales, x.dtype)
        return self._scale(self.call(x * half + centre), range(len(self.orders)))

    def build(self, input_shape):
        for network in self.networks:
            if not network.built:
                network.build(input_shape)
        self.input_spec = keras.layers.InputSpec(axes={-1: input_shape[-1]})

    def call(self, x):  # a tensor, or a series
        if isinstance(x, Taylor):
            return self._series(x)
        return self._series(Taylor.of_points(x, IndexSet([(0,) * x.shape[-1]]))).value

    def _series(self, x):
        state = None
        for number, network in enumerate(self.networks):
            start, end = self.edges[number : number + 2]
            fields = propagate(network, x)
            if (outputs := fields.value.shape[-1]) != self.output_count:
                raise ValueError(
                    "Each network must have one output for each of `orders`. "
                    f"Received: {outputs} output(s), orders={self.orders}"
                )
            if state is None:
                result = fields
            else:
                fields = continued(state, fields, x, start, end - start, self.orders)
                result = select(x.value[..., -1:] >= start, fields, result)
            if number + 1 < len(self.networks):
                state = self._end(network, start, end, x, state)
        return result

    def _end(self, network, start, end, x, state):
        """Return value and time derivative at the end of a window, after its jump."""
        outputs = at_time(lambda s: propagate(network, s), x, end, 2 in self.orders)
        jump = self.jumps.get(end) or [(1.0, 0.0)] * len(self.orders)
        jump = [ops.cast(np.array(p), x.dtype) for p in zip(*jump, strict=True)]
        rate = 2.0 / (end - start) if state else 0.0
        return at_end(state[0] if state else 0.0, outputs, rate, jump, self.orders)

    def get_config(self):
        return {
            **super().get_config(),
            "networks": keras.saving.serialize_keras_object(self.networks),
            "jumps": [[t, *map(list, pairs)] for t, pairs in self.jumps.items()],
        }

    @classmethod
    def from_config(cls, config, custom_objects=None):
        jumps = {t: pairs for t, *pairs in config["jumps"]}
        config = keras.saving.deserialize_keras_object(config, custom_objects)
        return cls(**{**config, "jumps": jumps})


def _mask(orders, order, dtype):
    """Return ones for fields of an order in time, zeros for others, `(F,)`."""
    return ops.cast(np.array(orders) == order, dtype)


def continued(state, fields, x, start, length, orders):
    """Return the fields of a window after the first, as series.

    Args:
        state: Pair of the fields and their time derivatives at the start.
        fields: The outputs of the window's network.
        x: The series of the points.
        start: Time at which the window starts.
        length: Its length.
        orders: List with the order in time of each field.
    """
    value, slope = state
    zeroth, first, second = (_mask(orders, k, fields.dtype) for k in range(3))
    elapsed = x.map(lambda coefficient: coefficient[..., -1:]) - start
    share = elapsed * (1.0 / length)
    result = value * (first + second) + fields * zeroth
    if 1 in orders:
        result = result + share * fields * first
    if 2 in orders:
        rest = 1.0 - share
        change = elapsed * rest * rest * slope + share * share * fields
        result = result + change * second
    return result


def at_end(start_value, outputs, rate, jump, orders):
    """Return fields and time derivatives at the end of a window, after its jump.

    Args:
        start_value: The fields at its start; zero at that of the first window.
        outputs: The outputs of the window's network at the end and their time
            derivatives, `None` if no field is of second order.
        rate: 2 / length; 0 in the first window, whose field is its network's.
        jump: Factors and shifts of the jump, the first two of a sequence.
        orders: List with the order in time of each field.
    """
    fields, slopes = outputs
    value = (start_value + fields) * jump[0] + jump[1]
    if slopes is None:
        return value, None
    slope = (fields * rate + slopes) * _mask(orders, 2, fields.dtype)
    return value, slope * jump[0]


def in_space(indices):
    """Return the multi-indices of an `IndexSet` without derivatives in time, a list."""
    return sorted(index for index in indices.carried if not index[-1])


def at_time(network, x, time, second):
    """Return a network's series in space at a fixed time, and its time derivative.

    Args:
        network: Function from a series to a series.
        x: The series of the points, of which time is replaced.
        time: The fixed time.
        second: Whether the time derivative is needed; otherwise it is `None`.
    """
    space = in_space(x.indices)
    later = [(*index[:-1], 1) for index in space] if second else []
    instant = ops.zeros_like(x.value[..., -1:]) + time
    points = ops.concatenate([x.value[..., :-1], instant], axis=-1)
    fields = network(Taylor.of_points(points, IndexSet([*space, *later])))
    halves = _unit_slopes(x)

    def mapped(shift):
        coefficients: dict = {}
        for index in space:
            lifted = (*index[:-1], shift)
            if lifted not in fields.coefficients:
                continue
            pairs = zip(halves, index, strict=True)
            factor = math.prod(half for half, count in pairs for _ in range(count))
            for key, share in x.indices.destinations(index):
                term = fields.coefficients[lifted] * (share * factor)
                add_to(coefficients, key, term)
        return Taylor(x.indices, coefficients)

    return mapped(0), mapped(1) if second else None


def _unit_slopes(x):
    """Return the derivative of each coordinate by the scaled one, scalars."""
    slopes = []
    for column, unit in enumerate(np.eye(x.indices.dimension, dtype=int).tolist()):
        slope = 1.0
        for key, share in x.indices.destinations(tuple(unit))[:1]:
            slope = ops.reshape(x.coefficients[key][..., column], (-1,))[0] / share
        slopes.append(slope)
    return slopes
