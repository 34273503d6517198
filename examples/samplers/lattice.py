"""Lattice points in every term."""

from examples.samplers.quasirandom import QuasiRandom
from keraspinn.sampling.lattice import lattice


class Lattice(QuasiRandom):
    """Points of a rank-1 lattice, with a new random shift at each renewal.

    The package uses this lattice for integrals. Here it has the collocation points.

    Args:
        every: Number of steps from one shift to the next.

    Reference:
        Sloan & Joe, "Lattice Methods for Multiple Integration", 1994.
    """

    def cube(self, count, dimension, shape, uniform):
        return lattice((count,), uniform((*shape, 1, dimension)))
