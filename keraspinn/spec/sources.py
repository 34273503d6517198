"""How large a field is that a source drives: its equation solved by sine series.

Not all of a source counts alike. Of 1 + sin(100x)/10 the mean bends a string a thousand
times as far as the wave does, and a narrow heater warms far beyond its spot. So each
sine wave in a source is answered by its own wavenumbers, the longest by the intervals'
half widths, which is how a constant source is answered.
"""

import math

import numpy as np

# Points along each axis, by the number of coordinates. In more than these, sources are
# not looked at so closely.
POINTS = {1: 2047, 2: 127, 3: 31}
# Of its largest value, below which an operator counts no less.
LEAST = 1e-2


def grid(domain):
    """Points `(n, d)` on which sine waves are apart, `None` in too many dimensions."""
    count = POINTS.get(domain.dimension)
    if count is None:
        return None
    line = 2 * np.arange(1, count + 1) / (count + 1) - 1
    axes = [c + h * line for c, h in zip(domain.centre, domain.half, strict=True)]
    return np.stack([axis.ravel() for axis in np.meshgrid(*axes, indexing="ij")], -1)


def answer(source, coefficients, sizes, orders, half):
    """The largest value of a field that a source drives through linear terms.

    Args:
        source: Values on the `grid`, `(n,)`.
        coefficients: Values of each term's coefficient there, `(n,)`.
        sizes: How large these are.
        orders: Multi-indices of the terms' derivatives.
        half: Half widths of the intervals.
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
    waves = [np.append(1, np.pi / 2 * np.arange(2, count + 1)) / h for h in half]
    waves = np.meshgrid(*waves, indexing="ij", sparse=True)
    parts = fft.dstn(source.reshape((count,) * len(half)), type=1)
    driven = fft.idstn(parts / sum(stiffness(waves, *term) for term in terms), type=1)
    return float(abs(driven).max())
