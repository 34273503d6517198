from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
from keras import ops

from keraspinn.declaration import Scales, features_of
from keraspinn.declaration.field_parts import extents_of
from keraspinn.derivatives.taylor import Taylor, concatenated, propagate
from keraspinn.derivatives.taylor.rules import columns as columns_of
from keraspinn.networks.base import Adaptable, Network, scaled_periods


class FieldNetworks(Adaptable):
    """Separate networks for each field, or for groups of fields.

    `PINNModel(problem, {u: network, k: other})` creates it from the dict. Each network
    receives only the coordinates that its fields depend on.

    Args:
        networks: List of Keras layers or models, from points `(N, c)` to a column for
            each of their fields.
        columns: List of lists: the columns of the points for each network.
        outputs: List of lists: the columns of the fields from each network.
        **kwargs: `name`, `dtype` of `keras.Model`.

    Attributes:
        networks: The networks, in the order of the argument.

    Call arguments:
        x: Points, `(..., d)`.

    Returns:
        The fields' values, `(..., F)`.

    Raises:
        ValueError: If a network occurs twice, or two have one name.

    Example:

    >>> flow, wall = keraspinn.networks.MLP(outputs=2), keraspinn.networks.MLP()
    >>> both = keraspinn.networks.FieldNetworks(
    ...     [flow, wall], columns=[[0, 1], [0]], outputs=[[0, 2], [1]]
    ... )
    >>> keras.ops.shape(both(keras.random.uniform((8, 2))))
    (8, 3)
    """

    def __init__(
        self,
        networks: Sequence[keras.Layer],
        columns: Sequence[Sequence[int]],
        outputs: Sequence[Sequence[int]],
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        names = [network.name for network in networks]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(
                "Each field, or group of fields, needs its own network, with its own "
                f"name. Received several called {twice}. Fields that share "
                "a network form a tuple: {(u, v): network}."
            )
        self.networks = list(networks)
        self.columns = [list(map(int, chosen)) for chosen in columns]
        self.outputs_of = [list(map(int, chosen)) for chosen in outputs]
        self._order = np.argsort(np.concatenate(self.outputs_of))
        self.output_count = len(self._order)

    def adapt(self, problem):
        """Take on a problem's scales, and adapt each `Network` among the networks."""
        super().adapt(problem)
        periods = scaled_periods(problem)
        for network, columns, outputs in self._parts():
            is_scaled = isinstance(network, Network) and network.standardize
            if is_scaled and network.scales is None:
                chosen = [periods[column] for column in columns]
                block = problem.field_parts[problem.field_names[outputs[0]]]
                scales = self._scales_in(problem.domain, block, columns)
                sizes, offsets = self._output_units[:, outputs]
                features = features_of(problem, scales)
                network.work_in(scales, sizes, chosen, offsets, features)

    def scaled(self, x, wanted=None):
        """Return scaled fields from scaled points.

        Args:
            x: Points, as a tensor or a series.
            wanted: The columns that are read, all if not given. Networks that make none
                of them are not evaluated; another's column stands for theirs.
        """
        fields = []
        for network, columns, outputs in self._parts():
            if wanted is not None and not {*outputs} & {*wanted}:
                fields.append(None)
                continue
            points, scales = _select(x, columns), self._scales_of(columns)
            is_ours = isinstance(network, Network) and network.is_its_forward
            units = self._output_units[:, outputs]
            if is_ours and np.array_equal(network._output_units, units):
                fields.append(network.scaled(_rescaled(points, scales, network.scales)))
                continue
            half, centre = (ops.cast(n, x.dtype) for n in (scales.half, scales.centre))
            field = propagate(network, points * half + centre)
            fields.append(self._scale(field, outputs))
        known = next(field for field in fields if field is not None)
        for number, outputs in enumerate(self.outputs_of):
            if fields[number] is None:
                fields[number] = columns_of(known, [0] * len(outputs))
        return self._in_order(fields)

    def call(self, x):
        return self._in_order([n(_select(x, cs)) for n, cs, _ in self._parts()])

    def build(self, input_shape):
        x = keras.Input(batch_shape=input_shape)
        for network, columns, outputs in self._parts():
            fields = network(_select(x, columns))
            if fields.shape[-1] != len(outputs):
                raise ValueError(
                    f"The network '{network.name}' must output a column for each of "
                    f"its {len(outputs)} field(s). Received: {fields.shape[-1]}"
                )
        self.input_spec = keras.layers.InputSpec(axes={-1: input_shape[-1]})

    def _parts(self):
        return zip(self.networks, self.columns, self.outputs_of, strict=True)

    def _scales_of(self, columns):
        pairs = list(self.scales.coordinates.items())
        return Scales(dict(pairs[column] for column in columns))

    def _scales_in(self, domain, block, columns):
        """Return the scales of some columns on the block where a field lives.

        A thin layer is as wide to its network as the domain to another.
        """
        scales = self._scales_of(columns)
        if block is None:
            return scales
        pairs = zip(*extents_of(domain, block), strict=True)
        known = dict(zip(domain.coordinates, pairs, strict=True))
        for symbol in domain.periodic:
            known.pop(symbol)
        return Scales({s: known.get(s, pair) for s, pair in scales.coordinates.items()})

    def _in_order(self, fields):
        return columns_of(concatenated(fields), self._order)

    def get_config(self):
        return {
            **super().get_config(),
            "networks": keras.saving.serialize_keras_object(self.networks),
            "columns": self.columns,
            "outputs": self.outputs_of,
        }

    @classmethod
    def from_config(cls, config, custom_objects=None):
        return cls(**keras.saving.deserialize_keras_object(config, custom_objects))


def networks_of_fields(problem, networks):
    """Build `FieldNetworks` from a dict.

    Args:
        problem: The `Problem`.
        networks: Dict from fields, or tuples of fields, to networks.

    Raises:
        ValueError: If a field has no network or two, or fields that share one depend
            on different coordinates.
    """
    fields, columns, outputs = list(problem.fields), [], []
    groups = [key if isinstance(key, tuple) else (key,) for key in networks]
    if sorted(map(str, sum(groups, ()))) != sorted(map(str, fields)):
        raise ValueError(
            f"The networks must be those of the fields {fields}, each named once. "
            f"Received: networks of {list(networks)}"
        )
    for group in groups:
        if len({frozenset(field.args) for field in group}) > 1:
            raise ValueError(
                "Fields that share a network depend on the same coordinates. Received: "
                f"{group}. Give each its own network."
            )
        outputs.append([fields.index(field) for field in group])
        chosen = [symbol in group[0].args for symbol in problem.coordinates]
        columns.append(np.flatnonzero(chosen).tolist())
    return FieldNetworks(list(networks.values()), columns, outputs)


def _rescaled(points, scales, others):
    """Return points in other scales of the same coordinates."""
    rate, shift = scales.half / others.half, scales.centre - others.centre
    rate, shift = (ops.cast(n, points.dtype) for n in (rate, shift / others.half))
    return points * rate + shift


def _select(points, selected):
    """Return the points' columns for a network.

    For a series, drop the coefficients of other columns, on which the network's fields
    do not depend.
    """
    if isinstance(points, Taylor):
        indices, kept = points.indices, {points.indices.zero}
        for column in selected:
            unit = tuple(int(k == column) for k in range(indices.dimension))
            kept |= {key for key, _ in indices.destinations(unit)}
        coefficients = points.coefficients.items()
        points = Taylor(indices, {k: c for k, c in coefficients if k in kept})
    return columns_of(points, selected)
