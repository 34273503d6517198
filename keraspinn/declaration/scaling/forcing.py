"""How large a field is that a source drives: its equation solved by waves.

Not all of a source counts alike. Of 1 + sin(100x)/10 the mean bends a string a thousand
times as far as the wave does, and a narrow heater warms far beyond its spot. So a
source is taken apart into waves, each of which is answered by its own wavenumbers, the
longest by the intervals' half widths, which is how a constant source is answered. Waves
are zero at the ends that hold a field, and flat at those that leave it free: where both
do, what is even along them is not answered along them at all.
"""

import math

import numpy as np

# Points along each axis, by the number of coordinates. In more than these, sources are
# not looked at so closely.
POINTS = {1: 2048, 2: 128, 3: 32}
# Of a half width, within which a point lies on a side; and how many of them it takes.
NEAR, SOME = 1e-2, 8
ROUNDING = 1e-9
# Of its largest value, below which an operator counts no less.
LEAST = 1e-2


def grid(domain):
    """Points `(n, d)` on which waves are apart, `None` in too many dimensions."""
    count = POINTS.get(domain.dimension)
    if count is None:
        return None
    line = (2 * np.arange(count) + 1) / count - 1
    axes = [c + h * line for c, h in zip(domain.centre, domain.half, strict=True)]
    return np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], -1)


def sides_with(points, domain):
    """Which sides of the bounding box points of a boundary lie on: booleans `(d, 2)`.

    That is the start of time, or the side of space that is nearest.
    """
    found = np.zeros((domain.dimension, 2), bool)
    relative = (points - domain.centre) / domain.half
    distances = np.stack([1 + relative, 1 - relative], axis=-1)
    if domain.time_coordinate is not None:  # the last
        is_start = distances[:, -1, 0] < ROUNDING
        found[-1, 0] = is_start.sum() >= SOME
        distances = distances[~is_start]
    space = [domain.coordinates.index(symbol) for symbol in domain.space_coordinates]
    if space and len(distances):
        nearest = distances[:, space].reshape(len(distances), -1)
        sides = nearest.argmin(axis=1)[nearest.min(axis=1) < NEAR]
        counts = np.bincount(sides, minlength=2 * len(space))
        found[space] = counts.reshape(-1, 2) >= SOME
    return found


def answer(source, coefficients, sizes, orders, half, held):
    """The largest value of a field that a source drives through linear terms.

    Args:
        source: Values on the `grid`, `(n,)`.
        coefficients: Values of each term's coefficient there, `(n,)`.
        sizes: How large these are.
        orders: Multi-indices of the terms' derivatives.
        half: Half widths of the intervals.
        held: On which sides the field is held, booleans `(d, 2)`.
    """
    from scipy import fft  # a quarter of a second to load

    def stiffness(rates, size, order):
        return size * math.prod(k**n for k, n in zip(rates, order, strict=True))

    terms = list(zip(sizes, orders, strict=True))
    # Where all coefficients are small at once, a source drives the more.
    even = [stiffness([1 / h for h in half], *term) for term in terms]
    ratios = np.divide(even, sizes)
    local = sum(r * abs(c) for r, c in zip(ratios, coefficients, strict=True))
    source = source / np.clip(local / sum(even), LEAST, 1)
    count = POINTS[len(half)]
    parts = source.reshape((count,) * len(half))
    waves, undo = [], []
    for axis, (low, high) in enumerate(held):
        # Sines where the low end is held, cosines where not; of half a wave's multiples
        # where both ends are alike, of a quarter's odd ones where they are not.
        forward, back = (fft.dst, fft.idst) if low else (fft.dct, fft.idct)
        kind = {"type": 2 if low == high else 4, "axis": axis}
        parts = forward(parts, **kind)
        undo.append((back, kind))
        first = 1.0 if low and high else 0.0 if low == high else 0.5
        rates = np.pi / 2 * (first + np.arange(count))
        rates[0] = 1.0 if low or high else 0.0
        waves.append(rates / half[axis])
    waves = np.meshgrid(*waves, indexing="ij", sparse=True)
    total = sum(stiffness(waves, *term) for term in terms)
    driven = parts / np.where(total > 0, total, sum(even))
    for back, kind in undo:
        driven = back(driven, **kind)
    return float(abs(driven).max())
