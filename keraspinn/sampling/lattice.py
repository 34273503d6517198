"""Lattice points: evenly spread points for integrals over a part of a domain."""

import functools

import numpy as np
from keras import ops

_TRIED = 256  # candidates for a lattice's generator
# The offset from each lattice to the next is powers of 1/φ, with φ⁴ = φ + 1. Without
# offsets the errors of all lattices would have one sign.
_PHI = 1.22074408460576
_BELOW_ONE = 1 - 2.0**-24  # the largest number below one in float32


def lattice(counts, shift):
    """Return points in the unit cube whose means approximate integrals.

    They form a rank-1 lattice, shifted and folded: each number is x → 1 − |2x − 1| of
    the fractional part of (i z / n + shift). For a smooth function the error of the
    mean is about 1/n², compared with 1/√n for random points. Averaged over all shifts
    it is zero.

    Args:
        counts: Numbers n of points of consecutive lattices, a tuple. Each has another
            fixed offset beside the shift.
        shift: Tensor `(..., 1, d)`, uniform in [0, 1).

    Returns:
        Tensor `(..., n, d)`, in [0, 1).

    Reference:
        Hickernell, "Obtaining O(N^(-2+ε)) convergence for lattice quadrature rules",
        2002; Sloan & Joe, "Lattice Methods for Multiple Integration", 1994.
    """
    dimension = shift.shape[-1]
    offset = _PHI ** -np.arange(float(dimension))
    grids = [np.arange(n)[:, None] * _generator(n, dimension) % n / n for n in counts]
    lattices = [grid + k * offset % 1 for k, grid in enumerate(grids)]
    points = (ops.cast(np.concatenate(lattices), shift.dtype) + shift) % 1
    return ops.minimum(1 - ops.abs(2 * points - 1), _BELOW_ONE)


@functools.lru_cache(maxsize=64)
def _generator(count, dimension):
    """Return the Korobov vector (1, a, a², …) of the least worst-case error tried."""
    if dimension == 1 or count < 3:
        return np.ones(dimension, "int64")
    steps = np.arange(1, count)
    steps = steps[np.gcd(steps, count) == 1]
    tried = steps[:: -(-len(steps) // _TRIED)].tolist()
    rows = np.arange(count)[:, None]

    def error(generator):
        x = rows * generator % count / count
        # For functions with square-integrable mixed first derivatives.
        return np.prod(1 + 2 * np.pi**2 * (x * x - x + 1 / 6), axis=1).mean()

    vectors = ([pow(a, k, count) for k in range(dimension)] for a in tried)
    return min(map(np.array, vectors), key=error)
