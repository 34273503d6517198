from typing import Any

import keras

from keraspinn.layers import AdaptiveSkip, FourierFeatures, GatedDense
from keraspinn.networks.base import Network


class PirateNet(Network):
    """Network of gated residual blocks that start as identities.

    The points become random Fourier features X⁽¹⁾ = Φ, and two encodings of these,
    U = φ(Φ W¹ + b¹) and V = φ(Φ W² + b²), gate every block:

        f = φ(X⁽ᵏ⁾ W + b),   Y = f ⊙ U + (1 − f) ⊙ V,
        g = φ(Y W + b),      Z = g ⊙ U + (1 − g) ⊙ V,
        h = φ(Z W + b),      X⁽ᵏ⁺¹⁾ = α h + (1 − α) X⁽ᵏ⁾,   k = 1, …, L,

    each with different weights and α. Initially α is zero: the network starts as a
    linear combination of the features, and becomes nonlinear in training.

    Args:
        units: Number of units in each layer, even: half as many Fourier waves.
        depth: Number L of blocks, of three layers each.
        outputs: Number of fields, one column each, in the order of
            `Problem.fields`.
        scale: Standard deviation of the frequencies, in radians per unit of a
            coordinate, as for `layers.FourierFeatures`.
        seed: Seed of the frequencies; random by default.
        activation: Activation φ, as for `keras.layers.Dense`, or `"sin"`.
        kernel_initializer: Initializer of every kernel; Glorot normal.
            Each layer gets different numbers, also from one seed.
        bias_initializer: Initializer of every bias.
        **kwargs: `name`, `dtype` of `keras.Model`.

    Call arguments:
        x: Points, `(..., d)`.

    Returns:
        The fields' values, `(..., outputs)`.

    Raises:
        ValueError: If `units`, `depth` or `outputs` is not a positive integer, `units`
            is odd, or `scale` is not positive.

    Example:

    >>> network = keraspinn.networks.PirateNet(units=50, depth=2, scale=2.0)
    >>> keras.ops.shape(network(keras.random.uniform((8, 2))))
    (8, 1)

    Reference:
        Wang, Li, Chen & Perdikaris, "PirateNets: physics-informed deep learning with
        residual adaptive networks", JMLR 2024, section 4.
    """

    def __init__(
        self,
        units: int = 50,
        depth: int = 3,
        outputs: int = 1,
        scale: float = 1.0,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(units, depth, outputs, **kwargs)
        if self.units % 2:
            raise ValueError(
                "`units` must be even: half of the features are cosines, half are "
                f"sines. Received: units={units}"
            )
        self.features = FourierFeatures(
            self.units // 2, scale, seed, dtype=self.dtype_policy, name="features"
        )
        self.scale, self.seed = self.features.scale, seed
        self.encoder_u = self._layer(keras.layers.Dense, "encoder_u")
        self.encoder_v = self._layer(keras.layers.Dense, "encoder_v")
        self.first_gates = self._numbered(GatedDense, "gate_{}_1")
        self.second_gates = self._numbered(GatedDense, "gate_{}_2")
        self.hidden = self._numbered(keras.layers.Dense, "hidden_{}")
        names = [f"skip_{k + 1}" for k in range(self.depth)]
        self.skips = [AdaptiveSkip(dtype=self.dtype_policy, name=n) for n in names]
        self.head = self._head()

    def forward(self, x, apply):
        x = apply(self.features, x)
        u = apply(self.encoder_u, x)
        v = apply(self.encoder_v, x)
        layers = self.first_gates, self.second_gates, self.hidden, self.skips
        for first_gate, second_gate, hidden, skip in zip(*layers, strict=True):
            h = apply(first_gate, x, v, u)
            h = apply(second_gate, h, v, u)
            x = apply(skip, x, apply(hidden, h))
        return apply(self.head, x)
