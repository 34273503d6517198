from collections.abc import Sequence
from typing import Any

import keras
import numpy as np
from keras import ops

from keraspinn.declaration.scaling.offsets import network_offsets
from keraspinn.declaration.scaling.scales import Scales
from keraspinn.derivatives.taylor import Taylor
from keraspinn.derivatives.taylor.rules import concatenated
from keraspinn.networks.base import Network, scaled_periods


@keras.saving.register_keras_serializable("keraspinn")
class FieldNetworks(keras.Model):
    """A network of its own for each field, or for several.

    What `PINNModel(problem, {u: network, k: other})` makes of the dict. Each network
    is given the coordinates that its fields depend on, and no others.

    Args:
        networks: List of Keras layers or models, from points `(N, c)` to a column for
            each of their fields.
        columns: List of lists: the columns of the points that each is given.
        outputs: List of lists: the columns of the whole that each makes.
        **kwargs: `name`, `dtype` of `keras.Model`.

    Attributes:
        networks: The networks, in the order given.
        scales: The `Scales` that it is adapted to, or `None`.

    Call arguments:
        x: Points, `(..., d)`.

    Returns:
        The fields' values, `(..., F)`.

    Raises:
        ValueError: If a network is given twice, or two have one name.

    Example:

    >>> flow, wall = keraspinn.networks.MLP(outputs=2), keraspinn.networks.MLP()
    >>> both = keraspinn.networks.FieldNetworks(
    ...     [flow, wall], columns=[[0, 1], [0]], outputs=[[0, 2], [1]]
    ... )
    >>> keras.ops.shape(both(keras.random.uniform((8, 2))))
    (8, 3)
    """

    scales: Scales | None = None

    def __init__(
        self,
        networks: Sequence[keras.Layer],
        columns: Sequence[Sequence[int]],
        outputs: Sequence[Sequence[int]],
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        names = [network.name for network in networks]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(
                "Every field, or group of fields, needs a network of its own, with a "
                f"name of its own. Received several called {twice}. Fields that are to "
                "share one stand together: {(u, v): network}."
            )
        self.networks = list(networks)
        self.columns = [list(map(int, own)) for own in columns]
        self.outputs_of = [list(map(int, own)) for own in outputs]
        self._order = np.argsort(np.concatenate(self.outputs_of))
        self._sizes = self._offsets = None

    @property
    def is_its_forward(self):
        """Whether a call is `scaled` in the user's units, and nothing else."""
        return "call" not in vars(self) and type(self).call is FieldNetworks.call

    @property
    def adapted(self):
        """Whether it knows the problem's units."""
        return self.scales is not None

    def adapt(self, problem):
        """Work in a problem's scales; networks of ours do so themselves.

        Args:
            problem: The `Problem`.
        """
        self.scales = problem.scales
        self._sizes = [problem.scales.field(name) for name in problem.field_names]
        self._offsets = network_offsets(problem)
        periods = scaled_periods(problem)
        for network, columns, outputs in self._parts():
            if isinstance(network, Network) and not network.adapted:
                own = periods and [periods[column] for column in columns]
                network.work_in(
                    self._scales_of(columns),
                    [self._sizes[place] for place in outputs],
                    own if own and any(own) else None,
                    [self._offsets[place] for place in outputs],
                )

    def scaled(self, x, apply):
        """Scaled fields from scaled points, which are a tensor or a `Taylor` series.

        Args:
            x: What stands for the points.
            apply: Function of a layer and its inputs that returns its output.
        """
        made = []
        for network, columns, outputs in self._parts():
            own, scales = _taken(x, columns), self._scales_of(columns)
            if getattr(network, "scales", None) == scales and network.is_its_forward:
                made.append(network.scaled(own, apply))
                continue
            half, centre = (ops.cast(n, x.dtype) for n in (scales.half, scales.centre))
            sizes = np.array([self._sizes[place] for place in outputs])
            fields = apply(network, own * half + centre)
            offsets = np.array([self._offsets[place] for place in outputs])
            if offsets.any():
                fields = fields - ops.cast(offsets, fields.dtype)
            made.append(fields * ops.cast(1.0 / sizes, fields.dtype))
        return self._in_order(made)

    def call(self, x):
        return self._in_order([n(_taken(x, own)) for n, own, _ in self._parts()])

    def build(self, input_shape):
        x = keras.Input(batch_shape=input_shape)
        for network, columns, outputs in self._parts():
            made = network(_taken(x, columns))
            if made.shape[-1] != len(outputs):
                raise ValueError(
                    f"The network '{network.name}' must output a column for each of "
                    f"its {len(outputs)} field(s). Received: {made.shape[-1]}"
                )
        self.input_spec = keras.layers.InputSpec(axes={-1: input_shape[-1]})
        self.built = True

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], len(self._order))

    def _parts(self):
        return zip(self.networks, self.columns, self.outputs_of, strict=True)

    def _scales_of(self, columns):
        pairs = list(self.scales.coordinates.items())
        return Scales(dict(pairs[column] for column in columns))

    def _in_order(self, made):
        order = self._order
        if isinstance(made[0], Taylor):
            joined = concatenated(made)
        else:
            joined = ops.concatenate(made, axis=-1)
        if (order == np.arange(len(order))).all():
            return joined
        return _columns(joined, order)

    def get_config(self):
        return {
            **super().get_config(),
            "networks": [keras.saving.serialize_keras_object(n) for n in self.networks],
            "columns": self.columns,
            "outputs": self.outputs_of,
        }

    @classmethod
    def from_config(cls, config, custom_objects=None):
        networks = [
            keras.saving.deserialize_keras_object(own, custom_objects)
            for own in config["networks"]
        ]
        return cls(**{**config, "networks": networks})


def networks_of_fields(problem, networks):
    """`FieldNetworks` from a dict, each given what its fields depend on.

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
        depends = {frozenset(field.args) for field in group}
        if len(depends) > 1:
            raise ValueError(
                "Fields that share a network depend on the same coordinates. Received: "
                f"{group}. Give each a network of its own."
            )
        outputs.append([fields.index(field) for field in group])
        columns.append(
            [
                place
                for place, symbol in enumerate(problem.coordinates)
                if symbol in group[0].args
            ]
        )
    return FieldNetworks(list(networks.values()), columns, outputs)


def _taken(points, columns):
    """The points' columns that a network is given.

    Of a series those coefficients are left out that only the other columns have: the
    network's fields do not depend on them.
    """
    if not isinstance(points, Taylor):
        return _columns(points, columns)
    indices, kept = points.indices, {points.indices.zero}
    for column in columns:
        unit = tuple(int(place == column) for place in range(indices.dimension))
        kept |= {key for key, _ in indices.destinations(unit)}
    return _columns(
        Taylor(indices, {k: c for k, c in points.coefficients.items() if k in kept}),
        columns,
    )


def _columns(x, columns):
    if isinstance(x, Taylor):
        return x.map(lambda coefficient: _columns(coefficient, columns))
    return ops.stack([x[..., int(column)] for column in columns], axis=-1)
