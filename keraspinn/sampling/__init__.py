"""Samplers: sources of the points of every loss term."""

from keraspinn.sampling.base import BatchSize, Given, Sampler  # noqa: F401
from keraspinn.sampling.batch import Batch
from keraspinn.sampling.held import Held
from keraspinn.sampling.place import Place
from keraspinn.sampling.renewed import Renewed
from keraspinn.sampling.residual_based import ResidualBased, at_most_once, systematic  # noqa: F401
from keraspinn.sampling.sources import PointSources, known_term  # noqa: F401
from keraspinn.sampling.uniform import Uniform

__all__ = ["Batch", "Held", "Place", "Renewed", "ResidualBased", "Sampler", "Uniform"]
