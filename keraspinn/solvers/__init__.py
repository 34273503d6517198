"""Classical solvers whose fields check what the networks have learned."""

from keraspinn.solvers.cavity_flow import CavityFlow
from keraspinn.solvers.lid_driven_cavity import (
    SteadyStateNotFound,
    lid_driven_cavity,
)

__all__ = ["CavityFlow", "SteadyStateNotFound", "lid_driven_cavity"]
