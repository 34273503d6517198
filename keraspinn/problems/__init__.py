"""Benchmarks of the paper, each a function that returns a `Problem`."""

from keraspinn.problems.helmholtz import helmholtz
from keraspinn.problems.klein_gordon import klein_gordon
from keraspinn.problems.lid_driven_cavity import lid_driven_cavity
from keraspinn.problems.poisson import poisson

__all__ = ["helmholtz", "klein_gordon", "lid_driven_cavity", "poisson"]
