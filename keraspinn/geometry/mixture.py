"""Several parts sampled as one, in proportion to their measures."""

import numpy as np

from keraspinn.geometry.arrays import library, like
from keraspinn.geometry.part import Part


class Mixture(Part):
    """Parts that do not overlap, as one.

    Args:
        parts: The parts.
        draws: Numbers of uniform numbers that a point of each needs.
        contains: Predicate for points on any of them.
    """

    def __init__(self, parts, draws, contains):
        self._parts, self._contains = parts, contains
        self._measures = [part.measure() for part in parts]
        self._starts = np.cumsum([0, *draws])
        self.draws = int(1 + self._starts[-1])

    def sample(self, uniform):
        """Sample a part by the first number, and its point by the others."""
        lib = library(uniform)
        ends = np.cumsum(self._measures) / sum(self._measures)
        choice, rest = uniform[..., :1], uniform[..., 1:]
        drawn = [
            part.sample(rest[..., start:end])
            for part, start, end in zip(
                self._parts, self._starts, self._starts[1:], strict=False
            )
        ]
        points = drawn[-1]
        for end, other in zip(ends[-2::-1], drawn[-2::-1], strict=True):
            points = lib.where(choice < like(end, uniform), other, points)
        return points

    def contains(self, points):
        """Test which points lie on any of the parts."""
        return self._contains(points)

    def measure(self):
        """Return the sum of the parts' measures."""
        return sum(self._measures)

    def __str__(self):
        return " and ".join(dict.fromkeys(map(str, self._parts)))
