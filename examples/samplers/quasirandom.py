"""Base class of the samplers with a low-discrepancy sequence."""

import keraspinn as kp


class QuasiRandom(kp.sampling.Renewed):
    """Low-discrepancy points on each part, kept for a number of steps.

    Subclasses define `cube(count, dimension, shape, uniform)`, which returns a tensor
    `(*shape, count, dimension)` in [0, 1). Integrals keep the lattice of the package.
    """

    def init(self, place, uniform):
        batch = self.choose(place, uniform, None)
        return {"points": batch.points, "coordinates": batch.coordinates}

    def choose(self, place, uniform, error):
        if place.term.regions:
            return place.draw(uniform)

        def sequence(shape, number=0):
            *parts, count, dimension = shape
            return self.cube(count, dimension, parts, uniform)

        return place.draw(sequence)
