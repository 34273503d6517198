"""TensorFlow: random numbers without state."""

import tensorflow as tf


def uniform(shape, words, dtype):
    """Numbers uniform in [0, 1), a pure function of four words.

    Made here from random bits: Philox gives the same bits eagerly, in a graph and
    under XLA, whose conversions to floating point differ. The numbers TensorFlow would
    pick under XLA on a CPU by itself is also eight times slower.

    Args:
        shape: Their shape.
        words: Four integers of 32 bits: the low and high half of each part of the seed.
        dtype: Floating-point type.
    """
    low, high, *others = (tf.cast(word, tf.int64) for word in words)
    seed = tf.stack([low + high * 2**32, others[0] + others[1] * 2**32])
    dtype = tf.as_dtype(dtype)
    bits, kept = (tf.uint64, 53) if dtype == tf.float64 else (tf.uint32, 24)
    random = tf.random.stateless_uniform(
        shape, seed, minval=None, maxval=None, dtype=bits, alg="philox"
    )
    shift = tf.constant(bits.size * 8 - kept, bits)
    return tf.cast(tf.bitwise.right_shift(random, shift), dtype) * 2.0**-kept
