"""The time window that is trained, after those trained before."""

import functools

import numpy as np
from keras import StatelessScope, ops

from keraspinn.derivatives.taylor import Taylor, propagate
from keraspinn.networks import TimeWindows
from keraspinn.networks.time_windows import at_end, at_time, continued, in_space


class ActiveWindow(TimeWindows):
    """The window that is trained, after earlier ones with frozen weights.

    All that differs from window to window is in variables: the weights of the earlier
    networks, their units, and the time. Hence one compiled program trains all windows
    of equal length. A loop evaluates the earlier networks.

    Args:
        networks: List of the network that is trained, a `Network`, and of that of the
            first window, if it has other features.
        edges: List of the times at which the problem's domain starts and ends.
        orders: List with the order in time, 0, 1 or 2, of each field.
        capacity: Largest number of earlier windows.
        **kwargs: As for `TimeWindows`.
    """

    def __init__(self, networks, edges, orders, capacity=1, **kwargs):
        super().__init__(networks, edges, orders, **kwargs)
        self.capacity = int(capacity)

    def build(self, input_shape):
        super().build(input_shape)
        settings = {"initializer": "zeros", "trainable": False}
        self.stacks = [
            self.add_weight((self.capacity, *w.shape), name=f"earlier_{k}", **settings)
            for k, w in enumerate(self.networks[0].weights)
        ]
        # Rows for each window as in `follow`.
        shape = (self.capacity + 1, 8, len(self.orders))
        self.frames = self.add_weight(shape, name="frames", **settings)
        self.count = self.add_weight((), name="count", **settings)
        self.time_shift = self.add_weight((), name="time_shift", **settings)

    def follow(self, earlier, network, edges, jumps):
        """Become the window after some networks.

        Args:
            earlier: The networks of the windows before, trained.
            network: A network with the weights and units to begin with.
            edges: The windows' edges, two more than `earlier`.
            jumps: As for `TimeWindows`.
        """
        (template, *others), one = self.networks, np.ones(len(self.orders))
        first, last = self.edges
        frames = np.zeros(self.frames.shape)
        for number, other in enumerate([*earlier, network]):
            start, end = edges[number : number + 2]
            factors, shifts = zip(*jumps.get(end, [(1.0, 0.0)] * len(one)), strict=True)
            rows: list = [factors, shifts, end - start]
            if template.scales is None or (others and number == 0):  # in user's units
                rows += [1.0, 0.0, 1.0, end, start - first]
            else:
                sizes, offsets = other._output_units / [template._output_units[0], one]
                speed = (last - first) / (end - start)
                rows += [sizes, offsets, speed, last, 0.0]
            frames[number] = [row * one for row in rows]
        self.frames.assign(frames)
        weights = [other.get_weights() for other in earlier]
        if others:  # no slot of the stacks has its shape
            others[0].set_weights(weights[0])
            weights[0] = template.get_weights()
        for stack, *values in zip(self.stacks, *weights, strict=True):
            rest = np.zeros((self.capacity - len(values), *stack.shape[1:]))
            stack.assign(np.concatenate([np.stack(values), rest]))
        template.set_weights(network.get_weights())
        self.count.assign(len(earlier))
        self.time_shift.assign(edges[len(earlier)] - first)

    def _series(self, x):
        frames, count = _value(self.frames), ops.cast(_value(self.count), "int32")
        frame = ops.take(frames, count, axis=0)
        state = self._at_start(x, frames, count)
        earliest = [0.0] * (x.indices.dimension - 1)
        shift = ops.concatenate([ops.cast(earliest, x.dtype), frame[7, :1]])
        fields = self._outputs(x + shift, frame)
        return continued(state, fields, x, self.edges[0], frame[2], self.orders)

    def _outputs(self, x, frame, number=0):
        """Return the outputs of a network, in the units of a window, as series."""
        return propagate(self.networks[number], x) * frame[3] + frame[4]

    def _at_start(self, x, frames, count):
        """Return fields and time derivatives at the start of the window, as series."""
        indices, stacks = x.indices, [*map(_value, self.stacks)]
        if indices.dimension == 1:  # time alone: the state is the same for all points
            x = Taylor(indices, {k: c[..., :1, :] for k, c in x.coefficients.items()})
        keys = {k: 0 for i in in_space(indices) for k, _ in indices.destinations(i)}
        zero = ops.repeat(ops.zeros_like(x.value[..., :1]), len(self.orders), axis=-1)
        second = 2 in self.orders

        def state_of(tensors):
            halves = tensors[: len(keys)], tensors[len(keys) :]
            pairs = [dict(zip(keys, half, strict=False)) for half in halves]
            return [Taylor(indices, coefficients) for coefficients in pairs]

        def body(number, tensors, network=0):
            frame = ops.take(frames, number, axis=0)
            values = [ops.take(stack, number, axis=0) for stack in stacks]
            pairs = zip(self.networks[0].weights, values, strict=True)
            with StatelessScope(list(pairs)):
                outputs = functools.partial(self._outputs, frame=frame, number=network)
                fields, slopes = at_time(outputs, x, frame[6, 0], second)
            slopes = slopes * frame[5] if second else None
            rate = ops.cast(number > 0, frame.dtype) * 2.0 / frame[2]
            value, _ = state_of(tensors)
            new = at_end(value, (fields, slopes), rate, frame, self.orders)
            parts = new if second else new[:1]
            return [p.coefficients.get(k, zero) for p in parts for k in keys]

        begin = [zero] * (len(keys) * (2 if second else 1))
        for number in range(1, len(self.networks)):
            begin = body(0, begin, number)
        return state_of(ops.fori_loop(len(self.networks) - 1, count, body, begin))


def _value(variable):
    """Return a variable's value as a tensor, which loops in a mapped function need."""
    return ops.copy(ops.convert_to_tensor(variable))
