"""Points with a density that is exponential in the residual."""

import math

from keras import ops

import keraspinn as kp
from examples.samplers.adaptive import residual_size

# Density at the largest residual, relative to the density at zero residual.
RATIO = 100.0


class Exponential(kp.sampling.ResidualBased):
    """Points drawn with a density ∝ exp(ε / T) for the absolute residual ε.

    The temperature is T = max ε / log(ratio) over the pool, so that the density lies
    between 1 and `ratio` for all units of the residual.

    Args:
        every: Number of steps from one set of points to the next.
        ratio: Largest density relative to the smallest possible one, above 1.
        pool: Number of candidates for each point.

    Reference:
        Toscano et al., "A variational framework for residual-based adaptivity in neural
        PDE solvers and operator learning", arXiv 2509.14198: the exponential
        potential. The temperature is not that of the paper.
    """

    def __init__(self, every=500, ratio=RATIO, pool=20):
        super().__init__(every, k=1.0, c=0.0, pool=pool)
        self.ratio = float(ratio)

    def choose(self, place, uniform, error):
        def squared_density(batch):
            return ops.square(exponential(error(batch), self.ratio))

        # With k = 1 and c = 0 the density is the root of this "squared residual".
        return super().choose(place, uniform, squared_density)

    def get_config(self):
        return {"every": self.every, "ratio": self.ratio, "pool": self.pool}


def exponential(squared, ratio):
    """Return exp(log(ratio) ε / max ε), from ε² at each point.

    Args:
        squared: Tensor `(n,)`, the squared residuals.
        ratio: The largest value.
    """
    size = residual_size(squared)
    return ops.exp(math.log(ratio) * ops.divide_no_nan(size, ops.max(size)))
