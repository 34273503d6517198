"""Scrambled Sobol points in every term."""

import functools

import numpy as np
from keras import ops
from scipy.stats import qmc

from examples.samplers.quasirandom import QuasiRandom

# Number of binary digits of a coordinate, as in float32.
DIGITS = 24


class Sobol(QuasiRandom):
    """Points of a Sobol sequence, with a new random scramble at each renewal.

    The binary digits of each coordinate are multiplied by a random lower triangular
    matrix modulo 2, then shifted by random digits. Both keep the number of points in
    each elementary interval.

    Args:
        every: Number of steps from one scramble to the next.

    Reference:
        Sobol, "On the distribution of points in a cube and the approximate evaluation
        of integrals", 1967; Matoušek, "On the L2-discrepancy for anchored boxes", 1998.
    """

    def cube(self, count, dimension, shape, uniform):
        return scrambled(count, uniform((*shape, dimension, DIGITS, DIGITS + 1)))


def scrambled(count, random):
    """Return scrambled points of a Sobol sequence.

    Args:
        count: Number of points.
        random: Tensor `(..., d, DIGITS, DIGITS + 1)`, uniform in [0, 1).

    Returns:
        Tensor `(..., count, d)`, in [0, 1).
    """
    bits = ops.floor(2 * random)
    below = ops.cast(np.tri(DIGITS, k=-1), random.dtype)
    matrix = bits[..., :DIGITS] * below + ops.cast(np.eye(DIGITS), random.dtype)
    digits = ops.cast(sobol_digits(count, random.shape[-3]), random.dtype)
    digits = ops.matmul(digits, ops.swapaxes(matrix, -1, -2))
    digits = ops.mod(digits + bits[..., None, :, DIGITS], 2)
    values = ops.cast(0.5 ** np.arange(1, DIGITS + 1), random.dtype)
    return ops.swapaxes(ops.matmul(digits, values), -1, -2)


@functools.lru_cache(maxsize=16)
def sobol_digits(count, dimension):
    """Return the binary digits of the unscrambled points, `(d, count, DIGITS)`."""
    # SciPy warns unless the number of points is 2ᵐ, so the surplus is cut off.
    power = int(np.ceil(np.log2(max(count, 2))))
    sequence = qmc.Sobol(dimension, scramble=False, bits=DIGITS)
    numbers = sequence.random_base2(power)[:count].T[..., None]
    return np.floor(numbers * 2.0 ** np.arange(1, DIGITS + 1)) % 2
