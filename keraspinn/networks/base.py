"""Base class of networks that work in a problem's scales.

These networks map points in the user's units to fields in the user's units, as any
Keras network. Internally they work in the problem's scales. A `PINNModel` sets them by
`adapt` when it is made. Training calls `forward` directly, in scaled numbers.

To add one, copy `mlp.py`: the layers in `__init__`, and their composition in `forward`.
Outside of this package register its class and its `call`, as `SeriesLayer` does here.
"""

import random
from collections.abc import Callable, Mapping
from typing import Any

import keras
import numpy as np
from keras import ops

from keraspinn.common import Registered, check_count
from keraspinn.common.typing import Activation, Initializer, Tensor
from keraspinn.declaration import Problem, Scales, features_of
from keraspinn.declaration.scaling.offsets import network_offsets
from keraspinn.derivatives.taylor import SeriesLayer, propagate
from keraspinn.layers import Features, Periodic, activations


class Adaptable(Registered, keras.Model):
    """Base class of networks that can adapt to a problem's scales.

    Attributes:
        scales: The `Scales` that the network is adapted to, or `None`.
        output_count: Number of fields.
        time_shift: Variable by which times are later than in the problem, or `None`.
    """

    scales: Scales | None = None
    time_shift: Any = None
    _output_units: Any = None  # scales and offsets of the fields, `(2, F)`

    @property
    def is_its_forward(self) -> bool:
        """True if a call only applies `scaled` in the user's units."""
        return self.call.__module__.startswith("keraspinn.networks.")

    def adapt(self, problem: Problem) -> None:
        """Take on a problem's scales.

        Args:
            problem: The `Problem`, whose fields are the network's outputs.
        """
        self.scales = problem.scales
        sizes = [problem.scales.field(name) for name in problem.field_names]
        self._output_units = np.array([sizes, network_offsets(problem)])

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], self.output_count)

    def _scale(self, fields, columns):
        """Return the fields of some columns in scales, from the user's units."""
        sizes, offsets = self._output_units[:, columns]
        fields = fields - ops.cast(offsets, fields.dtype)
        return fields * ops.cast(1.0 / sizes, fields.dtype)


class Network(SeriesLayer, Adaptable):
    """Base class of networks, with their arguments, units and a forward rule."""

    _circles = None
    _features: Any = None

    def __init__(
        self,
        units: int = 50,
        depth: int = 3,
        outputs: int = 1,
        activation: Activation = "tanh",
        kernel_initializer: Initializer = "glorot_normal",
        bias_initializer: Initializer = "zeros",
        standardize: bool = True,
        adapted_to: Mapping[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if isinstance(units, (list, tuple)):
            layers = units[1:-1] or units
            raise ValueError(
                "Networks take the number of units of a hidden layer and the number "
                "of these layers; their inputs follow from the problem. Received: "
                f"units={units}. Write {type(self).__name__}(units={max(layers)}, "
                f"depth={len(layers)}, outputs={outputs}), with one output a field."
            )
        self.standardize = bool(standardize)
        if adapted_to is not None:
            scales = Scales.from_config(adapted_to["scales"])
            # Files of earlier versions have other entries, `None` if unused.
            known = {name: n for name, n in adapted_to.items() if n is not None}
            self.work_in(**{**known, "scales": scales})
        self.units = check_count("units", units)
        self.depth = check_count("depth", depth)
        self.output_count = check_count("outputs", outputs)
        self.activation = activations.get(activation)
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.bias_initializer = keras.initializers.get(bias_initializer)

    def _layer(self, layer_class, name, **changes):
        settings = {
            "units": self.units,
            "activation": self.activation,
            "kernel_initializer": self.kernel_initializer,
            "bias_initializer": self.bias_initializer,
        } | changes
        for weight in ("kernel", "bias"):
            key = f"{weight}_initializer"
            settings[key] = weight_initializer(settings[key], f"{name}/{weight}")
        return layer_class(**settings, dtype=self.dtype_policy, name=name)

    def _numbered(self, layer_class, name):
        """Return as many layers as the depth, with their numbers in their names."""
        numbers = range(1, self.depth + 1)
        return [self._layer(layer_class, name.format(k)) for k in numbers]

    def _head(self):
        settings = {"units": self.output_count, "activation": None}
        return self._layer(keras.layers.Dense, "head", **settings)

    def adapt(self, problem: Problem) -> None:
        """Take on a problem's scales, unless `standardize=False`."""
        if self.standardize:
            super().adapt(problem)
            sizes, offsets = self._output_units
            features = features_of(problem, problem.scales)
            self.work_in(self.scales, sizes, scaled_periods(problem), offsets, features)

    def work_in(self, scales, sizes, periods=None, offsets=None, features=None):
        """Work in other units from now on.

        Args:
            scales: The `Scales` of the coordinates.
            sizes: List of the unit of each output.
            periods: Optional list of each coordinate's period in these scales, or
                `None`.
            offsets: List of the origin of each output; zero by default.
            features: Expressions in the scaled coordinates, for `Features`; ignored by
                a network that was used before.
        """
        offsets = np.zeros(len(sizes)) if offsets is None else offsets
        self.scales, self._output_units = scales, np.array([sizes, offsets])
        policy = self.dtype_policy
        names = [*scales.coordinates]
        if features and not self.built:
            self._features = Features(features, names, dtype=policy, name="features")
        if any(periods or ()):
            known = self._features.expressions if self._features else ()
            columns = [*periods[: len(names)], *[None] * len(known)]
            self._circles = Periodic(columns, dtype=policy, name="circles")

    def scaled(self, x: Tensor, wanted: object = None) -> Tensor:
        """Apply `forward` after periodic and other features, in scaled numbers.

        Args:
            x: Points, as a tensor or a series.
            wanted: The columns that are read; one network makes all in any case.
        """
        for features in filter(None, (self._features, self._circles)):
            x = propagate(features, x)
        return self.forward(x, propagate)

    def forward(self, x: Tensor, apply: Callable[..., Tensor]) -> Tensor:
        """Compose the layers, on tensors or on Taylor series, in scaled numbers.

        Args:
            x: Points, as a tensor or a series.
            apply: Function of a layer and its inputs that returns its output.
        """
        raise NotImplementedError

    def call(self, x):  # a tensor, or a series
        if self.scales is None:
            return self.forward(x, propagate)
        centre, half = units_of(self.scales, x.dtype)
        fields = self.scaled((x - centre) * (1.0 / half))
        sizes, offsets = (ops.cast(n, fields.dtype) for n in self._output_units)
        return fields * sizes + offsets

    def build(self, input_shape):
        self.call(keras.Input(batch_shape=input_shape))
        self.input_spec = keras.layers.InputSpec(axes={-1: input_shape[-1]})

    def get_config(self):
        frozen = [layer.name for layer in self.layers if not layer.trainable]
        return {
            **super().get_config(),
            **({"frozen": frozen} if frozen else {}),
            "adapted_to": self.scales
            and {
                "scales": self.scales.get_config(),
                "sizes": self._output_units[0].tolist(),
                "offsets": self._output_units[1].tolist(),
                "periods": self._circles and self._circles.periods,
                "features": self._features
                and self._features.get_config()["expressions"],
            },
            "outputs": self.output_count,
        }

    @classmethod
    def from_config(cls, config, custom_objects=None):
        config = dict(config)
        frozen = config.pop("frozen", ())
        network = super().from_config(config, custom_objects)
        for layer in network.layers:
            if layer.name in frozen:
                layer.trainable = False
        return network


def units_of(scales, dtype):
    """Return centres and scales of the coordinates, tensors `(d,)`."""
    return (ops.cast(numbers, dtype) for numbers in (scales.centre, scales.half))


def scaled_periods(problem):
    """Return each coordinate's period in a problem's scales, or `None`, a list."""
    domain = problem.domain
    lengths = (domain.upper - domain.lower) / problem.scales.half
    pairs = zip(domain.coordinates, lengths.tolist(), strict=True)
    return [length if symbol in domain.periodic else None for symbol, length in pairs]


def weight_initializer(initializer, name):
    """Return the initializer of one weight, with a seed of its own.

    A Keras initializer returns the same numbers in every call. Sharing it would give
    layers of equal shape equal weights, also both encoders of a `ModifiedMLP`.
    """
    seed = getattr(initializer, "seed", None)
    if not isinstance(seed, int):  # a constant, a function or a SeedGenerator
        return initializer
    seed = random.Random(f"{seed}/{name}").randrange(2**31)
    return initializer.from_config({**initializer.get_config(), "seed": seed})
