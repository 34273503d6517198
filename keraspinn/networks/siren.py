import random
from typing import Any

import keras

from keraspinn.common.checks import positive_number
from keraspinn.layers import SineDense
from keraspinn.networks.base import Network
from keraspinn.networks.mlp import MLP


class SIREN(Network):
    """Fully connected network of sines, for solutions with fine detail.

    Its layers are `layers.SineDense`. Their initial outputs have the same distribution
    at every depth; the output is linear.

    Args:
        units: Number of units in each hidden layer.
        depth: Number of hidden layers.
        outputs: Number of fields, one column each, in the order of
            `Problem.fields`.
        frequency: The frequency ω of every layer. The paper's 30 is for images; for
            most equations lower ones do better, as derivatives grow with ω.
        seed: Seed of the weights; random by default.
        **kwargs: `name`, `dtype` of `keras.Model`.

    Call arguments:
        x: Points, `(..., d)`, with coordinates about [−1, 1].

    Returns:
        The fields' values, `(..., outputs)`.

    Raises:
        ValueError: If `units`, `depth` or `outputs` is not a positive integer, or
            `frequency` is not positive.

    Example:

    >>> network = keraspinn.networks.SIREN(units=50, depth=3, frequency=10.0)
    >>> keras.ops.shape(network(keras.random.uniform((8, 2))))
    (8, 1)

    Reference:
        Sitzmann et al., "Implicit neural representations with periodic activation
        functions", NeurIPS 2020.
    """

    def __init__(
        self,
        units: int = 50,
        depth: int = 3,
        outputs: int = 1,
        frequency: float = 30.0,
        seed: int | None = None,
        **kwargs: Any,
    ) -> None:
        frequency = positive_number("frequency", frequency)
        # For the head, as for all layers but the first: uniform over ±√(6/F)/ω.
        scale = 2.0 / frequency**2
        keeping = keras.initializers.VarianceScaling(scale, "fan_in", "uniform", seed)
        super().__init__(units, depth, outputs, "sin", keeping, "zeros", **kwargs)
        self.seed = seed
        self.hidden = []
        for k in range(self.depth):
            # Another seed for each layer, as equal seeds give equal weights.
            numbers = random.Random(f"{seed}/{k}")
            layer_seed = None if seed is None else numbers.randrange(2**31 - 1)
            settings = {"dtype": self.dtype_policy, "name": f"hidden_{k + 1}"}
            layer = SineDense(self.units, frequency, k == 0, layer_seed, **settings)
            self.hidden.append(layer)
        self.head = self._head()

    forward = MLP.forward

    def get_config(self):
        config = super().get_config()
        for name in ("kernel_initializer", "bias_initializer", "activation"):
            del config[name]  # which follow from the frequency
        return {**config, "frequency": self.hidden[0].frequency}
