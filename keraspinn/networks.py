"""Networks of the paper's models: M1 and M2 use `MLP`, M3 and M4 `ModifiedMLP`."""

import random

import keras

from keraspinn import activations
from keraspinn.layers import GatedDense
from keraspinn.layers.gated import positive_integer
from keraspinn.taylor import propagate, register_rule


class _Network(keras.Model):
    """What both networks share: arguments, and one statement of the forward rule."""

    def __init__(
        self,
        units=50,
        depth=3,
        outputs=1,
        activation="tanh",
        kernel_initializer="glorot_normal",
        bias_initializer="zeros",
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.units = positive_integer("units", units)
        self.depth = positive_integer("depth", depth)
        self.output_count = positive_integer("outputs", outputs)
        self.activation = activations.get(activation)
        self.kernel_initializer = keras.initializers.get(kernel_initializer)
        self.bias_initializer = keras.initializers.get(bias_initializer)

    def _layer(self, layer_class, name):
        return layer_class(
            self.units,
            activation=self.activation,
            dtype=self.dtype_policy,
            name=name,
            **self._initializers(name),
        )

    def _head(self):
        return keras.layers.Dense(
            self.output_count,
            dtype=self.dtype_policy,
            name="head",
            **self._initializers("head"),
        )

    def _initializers(self, layer_name):
        return {
            "kernel_initializer": _own(self.kernel_initializer, f"{layer_name}/kernel"),
            "bias_initializer": _own(self.bias_initializer, f"{layer_name}/bias"),
        }

    def forward(self, x, apply):
        """Compose the layers, on tensors or on Taylor series.

        Args:
            x: What stands for the points.
            apply: Function of a layer and its inputs that returns its output.
        """
        raise NotImplementedError

    def call(self, x):
        return self.forward(x, lambda layer, *inputs: layer(*inputs))

    def build(self, input_shape):
        x = keras.Input(batch_shape=input_shape)
        self.call(x)
        self.input_spec = keras.layers.InputSpec(axes={-1: input_shape[-1]})
        self.built = True

    def compute_output_shape(self, input_shape):
        return (*input_shape[:-1], self.output_count)

    def get_config(self):
        return {
            **super().get_config(),
            "units": self.units,
            "depth": self.depth,
            "outputs": self.output_count,
            "activation": keras.activations.serialize(self.activation),
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
            "bias_initializer": keras.initializers.serialize(self.bias_initializer),
        }


def _own(initializer, name):
    """The initializer of one weight, from the one given for all of a network's.

    A Keras initializer draws the same numbers at every call, so that sharing it would
    give layers of equal shape equal weights, and both encoders of a `ModifiedMLP`.
    """
    seed = getattr(initializer, "seed", None)
    if not isinstance(seed, int):  # a constant, a function or a SeedGenerator
        return initializer
    seed = random.Random(f"{seed}/{name}").randrange(2**31)
    return initializer.from_config({**initializer.get_config(), "seed": seed})


@keras.saving.register_keras_serializable("keraspinn")
class MLP(_Network):
    """A fully-connected network, the paper's models M1 and M2.

    Args:
        units: Number of units in each hidden layer.
        depth: Number of hidden layers.
        outputs: Number of fields, one column each, in the order of
            `Problem.fields`.
        activation: Activation of the hidden layers, as for `keras.layers.Dense`, or
            `"sin"`; the output is linear.
        kernel_initializer: Initializer of every kernel; Glorot normal, as in the
            paper. Each layer draws numbers of its own, also from one seed.
        bias_initializer: Initializer of every bias.
        **kwargs: `name`, `dtype` of `keras.Model`.

    Call arguments:
        x: Points, `(..., d)`.

    Returns:
        The fields' values, `(..., outputs)`.

    Raises:
        ValueError: If `units`, `depth` or `outputs` is not a positive integer.

    Example:

    >>> network = keraspinn.networks.MLP(units=50, depth=5)
    >>> network(keras.random.uniform((8, 2))).shape
    TensorShape([8, 1])
    """

    def __init__(self, units=50, depth=3, outputs=1, **kwargs):
        super().__init__(units, depth, outputs, **kwargs)
        self.hidden = [
            self._layer(keras.layers.Dense, f"hidden_{k + 1}")
            for k in range(self.depth)
        ]
        self.head = self._head()

    def forward(self, x, apply):
        for layer in self.hidden:
            x = apply(layer, x)
        return apply(self.head, x)


@keras.saving.register_keras_serializable("keraspinn")
class ModifiedMLP(_Network):
    """The paper's improved architecture, models M3 and M4.

    Two encoders of the input, U = φ(X W¹ + b¹) and V = φ(X W² + b²), take part in
    every hidden layer through gates:

        H⁽¹⁾ = φ(X W + b),
        Z⁽ᵏ⁾ = φ(H⁽ᵏ⁾ W + b),   H⁽ᵏ⁺¹⁾ = (1 − Z⁽ᵏ⁾) ⊙ U + Z⁽ᵏ⁾ ⊙ V,   k = 1, …, L,

    each with weights of its own, followed by a linear output.

    Args:
        units: Number of units in each hidden layer and encoder.
        depth: Number L of gated layers.
        outputs: Number of fields, one column each, in the order of
            `Problem.fields`.
        gate_input: If `True`, the first gate acts on X itself and there is no H⁽¹⁾,
            as in the authors' code. The network then has as many square kernels as an
            `MLP` of equal depth, otherwise one more.
        encoder_bias_initializer: Initializer of the encoders' biases, which the
            authors' code draws at random; that of every bias if not given.
        activation: Activation φ of hidden layers, gates and encoders, as for
            `keras.layers.Dense`, or `"sin"`.
        kernel_initializer: Initializer of every kernel; Glorot normal, as in the
            paper. Each layer draws numbers of its own, also from one seed.
        bias_initializer: Initializer of every bias.
        **kwargs: `name`, `dtype` of `keras.Model`.

    Call arguments:
        x: Points, `(..., d)`.

    Returns:
        The fields' values, `(..., outputs)`.

    Raises:
        ValueError: If `units`, `depth` or `outputs` is not a positive integer.

    Example:

    >>> network = keraspinn.networks.ModifiedMLP(units=50, depth=5)
    >>> network(keras.random.uniform((8, 2))).shape
    TensorShape([8, 1])

    Reference:
        Wang, Teng & Perdikaris, "Understanding and mitigating gradient pathologies
        in physics-informed neural networks", section 2.6.
    """

    def __init__(
        self,
        units=50,
        depth=3,
        outputs=1,
        gate_input=False,
        encoder_bias_initializer=None,
        **kwargs,
    ):
        super().__init__(units, depth, outputs, **kwargs)
        self.gate_input = bool(gate_input)
        self.encoder_bias_initializer = keras.initializers.get(encoder_bias_initializer)
        self.encoder_u = self._layer(keras.layers.Dense, "encoder_u")
        self.encoder_v = self._layer(keras.layers.Dense, "encoder_v")
        if not self.gate_input:
            self.first = self._layer(keras.layers.Dense, "hidden_1")
        self.gates = [
            self._layer(GatedDense, f"gate_{k + 1}") for k in range(self.depth)
        ]
        self.head = self._head()

    def forward(self, x, apply):
        u = apply(self.encoder_u, x)
        v = apply(self.encoder_v, x)
        h = x if self.gate_input else apply(self.first, x)
        for gate in self.gates:
            h = apply(gate, h, u, v)
        return apply(self.head, h)

    def _initializers(self, layer_name):
        initializers = super()._initializers(layer_name)
        own = self.encoder_bias_initializer
        if own is not None and layer_name.startswith("encoder"):
            initializers["bias_initializer"] = _own(own, f"{layer_name}/bias")
        return initializers

    def get_config(self):
        own = self.encoder_bias_initializer
        return {
            **super().get_config(),
            "gate_input": self.gate_input,
            "encoder_bias_initializer": own and keras.initializers.serialize(own),
        }


@register_rule(MLP, ModifiedMLP)
def _network_rule(network, x):
    return network.forward(x, propagate)
