from typing import Any

import keras

from keraspinn.common.typing import Initializer
from keraspinn.layers import GatedDense
from keraspinn.networks.base import Network


class ModifiedMLP(Network):
    """Improved architecture of the paper, models M3 and M4.

    Two encoders of the input, U = φ(X W¹ + b¹) and V = φ(X W² + b²), take part in
    every hidden layer through gates:

        H⁽¹⁾ = φ(X W + b),
        Z⁽ᵏ⁾ = φ(H⁽ᵏ⁾ W + b),   H⁽ᵏ⁺¹⁾ = (1 − Z⁽ᵏ⁾) ⊙ U + Z⁽ᵏ⁾ ⊙ V,   k = 1, …, L,

    each with different weights, followed by a linear output.

    Args:
        units: Number of units in each hidden layer and encoder.
        depth: Number L of gated layers.
        outputs: Number of fields, one column each, in the order of
            `Problem.fields`.
        gate_input: If `True`, the first gate acts on X itself and there is no H⁽¹⁾,
            as in the authors' code. The network then has as many square kernels as an
            `MLP` of equal depth, otherwise one more.
        encoder_bias_initializer: Initializer of the encoders' biases, which are
            random in the authors' code; `bias_initializer` by default.
        activation: Activation φ of hidden layers, gates and encoders, as for
            `keras.layers.Dense`, or `"sin"`.
        kernel_initializer: Initializer of every kernel; Glorot normal, as in the
            paper. Each layer gets different numbers, also from one seed.
        bias_initializer: Initializer of every bias.
        standardize: Whether the network works in the scales of its problem, or in the
            user's coordinates.
        **kwargs: `name`, `dtype` of `keras.Model`.

    Call arguments:
        x: Points, `(..., d)`.

    Returns:
        The fields' values, `(..., outputs)`.

    Raises:
        ValueError: If `units`, `depth` or `outputs` is not a positive integer.

    Example:

    >>> network = keraspinn.networks.ModifiedMLP(units=50, depth=5)
    >>> keras.ops.shape(network(keras.random.uniform((8, 2))))
    (8, 1)

    Reference:
        Wang, Teng & Perdikaris, "Understanding and mitigating gradient pathologies
        in physics-informed neural networks", section 2.6.
    """

    def __init__(
        self,
        units: int = 50,
        depth: int = 3,
        outputs: int = 1,
        gate_input: bool = False,
        encoder_bias_initializer: Initializer = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(units, depth, outputs, **kwargs)
        self.gate_input = bool(gate_input)
        self.encoder_bias_initializer = keras.initializers.get(encoder_bias_initializer)
        bias = self.encoder_bias_initializer or self.bias_initializer
        settings = {"layer_class": keras.layers.Dense, "bias_initializer": bias}
        self.encoder_u = self._layer(name="encoder_u", **settings)
        self.encoder_v = self._layer(name="encoder_v", **settings)
        if not self.gate_input:
            self.first = self._layer(keras.layers.Dense, "hidden_1")
        self.gates = self._numbered(GatedDense, "gate_{}")
        self.head = self._head()

    def forward(self, x, apply):
        u = apply(self.encoder_u, x)
        v = apply(self.encoder_v, x)
        h = x if self.gate_input else apply(self.first, x)
        for gate in self.gates:
            h = apply(gate, h, u, v)
        return apply(self.head, h)
