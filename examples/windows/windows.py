"""Smooth windows and blocks of points, from which `Windowed` is built."""

import functools
import math

import numpy as np
from keras import ops
from numpy.polynomial import Polynomial

# Polynomial from 0 at -1 to 1 at 1. Three derivatives vanish there, so that steps are
# C³, which suffices for equations of fourth order.
STEP = Polynomial([16, 35, 0, -35, 0, 21, 0, -5]) / 32

# Distance of the outermost edges from the domain, in half widths of the overlap. They
# lie so far outside that their windows are 1 up to the boundary.
FAR = 1e3

# Number of points that are evaluated with one copy of a window's weights.
BLOCK = 32


def smooth_step(x, order):
    """Return the Taylor coefficients of a step, from 0 below -1 to 1 above 1."""
    inside = ops.clip(x, -1.0, 1.0)
    result = []
    for k in range(order + 1):
        numbers = (STEP.deriv(k) / math.factorial(k)).coef.tolist()
        value = functools.reduce(lambda y, a: y * inside + a, numbers[::-1])
        result.append(value * ops.cast(ops.abs(x) < 1.0, x.dtype) if k else value)
    return result


def flat(c, shape):
    """Reshape a coefficient to `(N, F)`, or to `(1, F)` if it is equal everywhere."""
    if set(c.shape[:-1]) != {1}:
        c = ops.broadcast_to(c, (*shape[:-1], c.shape[-1]))
    return ops.reshape(c, (-1, c.shape[-1]))


def candidates(cells, counts):
    """Return the windows that may be nonzero at each point, integers `(N, C)`.

    Args:
        cells: Coordinates relative to the first edge, in spacings of windows, `(N, F)`.
        counts: Array with the number of windows of each coordinate, 1 without a split.
    """
    split = np.flatnonzero(counts > 1)
    both = np.indices((2,) * len(split)).reshape(len(split), -1).T
    strides = np.cumprod([1, *counts[split][:0:-1]])[::-1]
    first = ops.floor(ops.take(cells, split, axis=-1) - 0.5)
    first = ops.cast(ops.clip(first, 0, counts[split] - 2), "int32")[:, None]
    return ops.sum((first + both.astype("int32")) * strides.astype("int32"), axis=-1)


def blocks_of(windows, count):
    """Sort pairs of points and windows into blocks of one window each.

    Args:
        windows: The windows of each point, integers `(N, C)`.
        count: Number of windows.

    Returns:
        The slot of each pair `(N, C)`, the point of each slot, the window of each
        block, and the number of slots in a block. Unused slots repeat a point.
    """
    points, each = ops.shape(windows)
    pairs, numbers = ops.arange(points * each), ops.reshape(windows, (-1,))
    if windows.shape[0] == 1:  # a static shape
        return pairs[None], pairs // each, numbers, 1
    is_window = ops.one_hot(numbers, count, dtype="int32")
    ranks = ops.cumsum(is_window, axis=0)
    sizes = -(-ranks[-1] // BLOCK)  # number of blocks
    ends = ops.cumsum(sizes)
    slots = (
        ops.take(ends - sizes, numbers) * BLOCK + ops.sum(is_window * ranks, axis=1) - 1
    )
    total = points * each // BLOCK + count
    pairs = ops.scatter(slots[:, None], pairs, (total * BLOCK,))
    windows = ops.sum(ops.cast(ops.arange(total)[:, None] >= ends, "int32"), axis=1)
    windows = ops.minimum(windows, count - 1)
    return ops.reshape(slots, (-1, each)), pairs // each, windows, BLOCK
