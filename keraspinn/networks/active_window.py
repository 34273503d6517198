"""The time window that is trained, behind those trained before."""

from collections.abc import Mapping, Sequence
from typing import Any

import keras
import numpy as np
from keras import ops

from keraspinn.derivatives.taylor import IndexSet, Taylor, propagate, register_rule
from keraspinn.networks.base import Adaptable, Network
from keraspinn.networks.time_windows import at_end, continued


@keras.saving.register_keras_serializable("keraspinn")
class ActiveWindow(Adaptable):
    """The window of `TimeWindows` that is trained, behind the first one.

    All that differs from window to window is in variables: the weights of the networks
    before, their units, and the time. So one compiled program trains all windows of
    equal length. A loop evaluates the networks before.

    Args:
        network: The `Network` that is trained.
        orders: List with the order in time, 0, 1 or 2, of each field.
        start: Time at which the problem's domain starts.
        capacity: Largest number of windows before.
        **kwargs: `name`, `dtype` of `keras.Model`.

    Call arguments:
        x: Points, `(..., d)`, in the problem's domain.

    Returns:
        The fields' values, `(..., F)`.
    """

    def __init__(
        self,
        network: Network,
        orders: Sequence[int],
        start: float,
        capacity: int,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.network = network
        self.orders = list(orders)
        self.start = float(start)
        self.capacity = int(capacity)

    def build(self, input_shape):
        if not self.network.built:
            self.network.build(input_shape)
        weights = {"initializer": "zeros", "trainable": False}
        self.stacks = [
            self.add_weight(
                (self.capacity, *weight.shape), name=f"earlier_{k}", **weights
            )
            for k, weight in enumerate(self.network.weights)
        ]
        # Of each window: the network's units and offsets, factors and shifts of the
        # jump at the end, length, end.
        shape = (self.capacity + 1, 6, len(self.orders))
        self.frames = self.add_weight(shape, name="frames", **weights)
        self.count = self.add_weight((), name="count", **weights)
        self.time_shift = self.add_weight((), name="time_shift", **weights)
        self.input_spec = keras.layers.InputSpec(axes={-1: input_shape[-1]})
        self.built = True

    def follow(
        self,
        earlier: Sequence[Network],
        network: Network,
        edges: Sequence[float],
        jumps: Mapping[float, Sequence[tuple[float, float]]],
    ) -> None:
        """Become the window behind some networks.

        Args:
            earlier: The networks of the windows before, trained.
            network: A network with the weights and units to begin with.
            edges: The windows' edges, two more than `earlier`.
            jumps: As for `TimeWindows`.
        """
        frames, fields = np.zeros(self.frames.shape), len(self.orders)
        for number, one in enumerate([*earlier, network]):
            start, end = edges[number : number + 2]
            jump = jumps.get(end) or [(1.0, 0.0)] * fields
            sizes, offsets = (
                one._sizes or [1.0] * fields,
                one._offsets or [0.0] * fields,
            )
            numbers = [sizes, offsets, *zip(*jump, strict=True)]
            frames[number] = [*numbers, [end - start] * fields, [end] * fields]
        self.frames.assign(frames)
        for stack, *trained in zip(
            self.stacks, *(one.get_weights() for one in earlier), strict=True
        ):
            rest = np.zeros((self.capacity - len(trained), *stack.shape[1:]))
            stack.assign(np.concatenate([np.stack(trained), rest]))
        self.network.set_weights(network.get_weights())
        self.count.assign(len(earlier))
        self.time_shift.assign(edges[len(earlier)] - self.start)

    def scaled(self, x, apply, wanted=None):
        """Return scaled fields from scaled points, a tensor or a `Taylor` series.

        Args:
            x: The points.
            apply: As for `Network.forward`; unused, since all is done by series.
            wanted: As for `Network.scaled`.
        """
        fields = self._fields(x if isinstance(x, Taylor) else _values_only(x))
        fields = self._scale(fields, range(len(self.orders)))
        return fields if isinstance(x, Taylor) else fields.value

    def call(self, x):
        half, centre = (
            ops.cast(numbers, x.dtype)
            for numbers in (self.scales.half, self.scales.centre)
        )
        return self._fields(_values_only((x - centre) / half)).value

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], len(self.orders))

    def _fields(self, x):
        """Return the fields in the user's units from scaled points, as series."""
        frames = _value(self.frames)
        count = ops.cast(_value(self.count), "int32")
        frame = ops.take(frames, count, axis=0)
        state = self._at_start(x, frames, count)
        fields = self._outputs(x, frame)
        time = Taylor(x.indices, {k: c[..., -1:] for k, c in x.coefficients.items()})
        return continued(state, fields, time * 0.5 + 0.5, frame[4], self.orders)

    def _outputs(self, x, frame):
        """Return the outputs of the network in the user's units, as series.

        Args:
            x: Points, scaled in this window.
            frame: A row of `frames`.
        """
        if self.network.scales is None:  # it takes points in the user's units
            half, centre = (
                ops.cast(numbers[:-1], x.dtype)
                for numbers in (self.scales.half, self.scales.centre)
            )
            length, end = frame[4, :1], frame[5, :1]
            half = ops.concatenate([half, length / 2])
            x = x * half + ops.concatenate([centre, end - length / 2])
        return self.network.scaled(x, propagate) * frame[0] + frame[1]

    def _at_start(self, x, frames, count):
        """Return fields and time derivatives at the start of the window, as series."""
        indices = x.indices
        carried = {*indices.members}
        carried |= {index for pairs in indices.combinations for index, _ in pairs}
        space = sorted(index for index in carried if not index[-1])
        later = [(*index[:-1], 1) for index in space] if 2 in self.orders else []
        points = x.value if indices.dimension > 1 else x.value[..., :1, :]
        points = ops.concatenate(
            [points[..., :-1], ops.ones_like(points[..., -1:])], axis=-1
        )
        ends = Taylor.of_points(points, IndexSet([*space, *later]))
        stacks = [*map(_value, self.stacks)]
        zero = ops.repeat(ops.zeros_like(points[..., :1]), len(self.orders), axis=-1)
        keys = sorted(
            {key for i in space for key, _ in indices.destinations(i)}, key=str
        )

        def series(fields, shift):
            coefficients: dict = {}
            for index in space:
                term = fields.coefficients.get((*index[:-1], shift))
                for key, share in indices.destinations(index):
                    if term is not None:
                        known = coefficients.get(key, zero)
                        coefficients[key] = known + term * share
            return Taylor(indices, coefficients)

        def state_of(tensors):
            halves = tensors[: len(keys)], tensors[len(keys) :]
            pairs = [dict(zip(keys, half, strict=False)) for half in halves]
            return [Taylor(indices, coefficients) for coefficients in pairs]

        def body(number, *tensors):
            values = [ops.take(stack, number, axis=0) for stack in stacks]
            frame = ops.take(frames, number, axis=0)
            pairs = zip(self.network.weights, values, strict=True)
            with keras.StatelessScope(list(pairs)):
                outputs = self._outputs(ends, frame)
            length, is_behind = frame[4], ops.cast(number > 0, frame.dtype)
            slopes = series(outputs, 1) * (2 / length) if later else None
            new = at_end(
                state_of(tensors),
                series(outputs, 0),
                slopes,
                length,
                is_behind * 2 / length,
                frame[2],
                frame[3],
                self.orders,
            )
            parts = new if later else new[:1]
            tensors = [part.coefficients.get(key, zero) for part in parts for key in keys]
            return number + 1, *tensors

        begin = [zero] * (len(keys) * (2 if later else 1))
        _, *tensors = ops.while_loop(
            lambda number, *_: number < count, body, (ops.zeros((), "int32"), *begin)
        )
        return state_of(tensors)

    def get_config(self):
        return {
            **super().get_config(),
            "network": keras.saving.serialize_keras_object(self.network),
            "orders": self.orders,
            "start": self.start,
            "capacity": self.capacity,
        }

    @classmethod
    def from_config(cls, config, custom_objects=None):
        network = keras.saving.deserialize_keras_object(
            config["network"], custom_objects
        )
        return cls(**{**config, "network": network})


@register_rule(ActiveWindow)
def active_window(network, x):
    half, centre = (
        ops.cast(numbers, x.dtype)
        for numbers in (network.scales.half, network.scales.centre)
    )
    return network._fields((x - centre) * (1.0 / half))


def _value(variable):
    """Return a variable's value as a tensor, which loops in a mapped function need."""
    return ops.copy(ops.convert_to_tensor(variable))


def _values_only(x):
    return Taylor.of_points(x, IndexSet([(0,) * x.shape[-1]]))
