"""Where the points of every loss term come from."""

from keraspinn.sampling.base import Sampler
from keraspinn.sampling.batch import Batch
from keraspinn.sampling.held import Held
from keraspinn.sampling.renewed import Renewed
from keraspinn.sampling.residual_based import ResidualBased
from keraspinn.sampling.uniform import Uniform

__all__ = ["Batch", "Held", "Renewed", "ResidualBased", "Sampler", "Uniform"]
