"""Samplers: sources of the points of every loss term."""

from keraspinn.sampling.base import Sampler
from keraspinn.sampling.batch import Batch
from keraspinn.sampling.held import Held
from keraspinn.sampling.place import Place
from keraspinn.sampling.renewed import Renewed
from keraspinn.sampling.residual_based import ResidualBased
from keraspinn.sampling.uniform import Uniform

__all__ = ["Batch", "Held", "Place", "Renewed", "ResidualBased", "Sampler", "Uniform"]
