"""JAX: random numbers without state, the very numbers that TensorFlow gives."""

import math

import jax
import jax.numpy as jnp

_ROUNDS = 10
_MULTIPLIERS = 0xD2511F53, 0xCD9E8D57
_STEPS = 0x9E3779B9, 0xBB67AE85
# The key with which TensorFlow turns a seed into key and counter.
_SEEDING_KEY = 0x3EC8F720, 0x02461E29


def uniform(shape, words, dtype):
    """Numbers uniform in [0, 1), a pure function of four words.

    Philox-4x32-10, keyed as TensorFlow's `stateless_uniform` is by a seed of two
    64-bit integers, which has the same numbers in both.

    Args:
        shape: Their shape.
        words: Four integers of 32 bits: the low and high half of each part of the seed.
        dtype: Floating-point type.

    Reference:
        Salmon, Moraes, Dror & Shaw, "Parallel random numbers: as easy as 1, 2, 3",
        SC 2011.
    """
    count = math.prod(shape)
    double = jnp.dtype(dtype) == jnp.float64
    bits = _bits([_word(word) for word in words], count * (2 if double else 1))
    if double:
        low, high = (bits[n::2].astype(jnp.uint64) for n in range(2))
        bits, kept = (high << 32 | low) >> 11, 53
    else:
        bits, kept = bits >> 8, 24
    return (bits.astype(dtype) * 2.0**-kept).reshape(shape)


def _word(number):
    if isinstance(number, int):
        return jnp.uint32(number % 2**32)
    return jnp.asarray(number).astype(jnp.uint32)


def _bits(words, count):
    """`count` numbers of 32 bits."""
    key = [jnp.uint32(word) for word in _SEEDING_KEY]
    first, second, *counter = _philox(words, key)
    blocks = jnp.arange(-(-count // 4), dtype=jnp.uint32)
    zeros = jnp.zeros_like(blocks)
    counters = [blocks, zeros, *(zeros + word for word in counter)]
    return jnp.stack(_philox(counters, [first, second]), axis=-1).reshape(-1)[:count]


def _philox(counter, key):
    # A loop, which XLA leaves whole: written out, the rounds would become part of every
    # loop that uses a number, and run again in each.
    mixed, _ = jax.lax.fori_loop(0, _ROUNDS, _mixed, (tuple(counter), tuple(key)))
    return mixed


# Not within `_philox`: outside of a program JAX would compile each call's loop anew.
def _mixed(_, state):
    (a, b, c, d), (first, second) = state
    high_a, low_a = _product(_MULTIPLIERS[0], a)
    high_c, low_c = _product(_MULTIPLIERS[1], c)
    mixed = high_c ^ b ^ first, low_c, high_a ^ d ^ second, low_a
    return mixed, (first + jnp.uint32(_STEPS[0]), second + jnp.uint32(_STEPS[1]))


def _product(number, x):
    """The high and low 32 bits of a product, without integers of 64 bits."""
    low, high = jnp.uint32(number & 0xFFFF), jnp.uint32(number >> 16)
    x_low, x_high = x & jnp.uint32(0xFFFF), x >> 16
    middle = (low * x_low >> 16) + low * x_high
    carried = (middle & jnp.uint32(0xFFFF)) + high * x_low
    return high * x_high + (middle >> 16) + (carried >> 16), jnp.uint32(number) * x
