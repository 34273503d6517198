"""Finite-difference solver of the lid-driven cavity, and its verification."""

from .flow import CavityFlow
from .methods import SteadyStateNotFound
from .solve import lid_driven_cavity

__all__ = ["CavityFlow", "SteadyStateNotFound", "lid_driven_cavity"]
