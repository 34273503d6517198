"""Samplers of the literature, and a comparison of them with those of the package."""

from examples.samplers.causal import Causal
from examples.samplers.exponential import Exponential
from examples.samplers.lattice import Lattice
from examples.samplers.r3 import R3
from examples.samplers.rar_d import RARD
from examples.samplers.sobol import Sobol

__all__ = ["R3", "RARD", "Causal", "Exponential", "Lattice", "Sobol"]
