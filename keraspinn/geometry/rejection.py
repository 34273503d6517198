"""What is left of a part: cut by another shape, or restricted by a relation."""

import functools

import numpy as np

from keraspinn.geometry.arrays import library, like, on_host, pick
from keraspinn.geometry.part import Part, exact_number, quasi_random

_TRIED = 2**13
_POOL = 2**15
_ROUNDS = 16


def portion(part, keep, draws, shift=0.0, is_cut=False, **how):
    """The points of a part that a predicate keeps, as a part, or `None` if none are.

    Args:
        part: A `Part`.
        keep: Function from points, relative to the new centre, to booleans `(..., n)`.
        draws: How many uniform numbers a point of the part needs.
        shift: What to add to the part's points, `(d,)`: its centre less the new one.
        is_cut: Whether some is known to be cut off, be it too small to be met here.
        **how: `flip`, `text`, `sharp` and `size` of `Kept`.
    """
    shift = np.asarray(shift, "float64")
    is_cut = is_cut or (isinstance(part, Kept) and not part.whole)
    if isinstance(part, Kept):  # one pool in the end, not a pool of a pool
        part, keep, draws, shift, how = part.cut_further(keep, shift, how)
    tried = on_host(part.sample(quasi_random(_TRIED, draws))) + shift
    share = np.mean(on_host(keep(tried)))
    if share == 0:
        return None
    is_whole = share == 1 and not is_cut
    if is_whole and not shift.any() and not any(how.values()):
        return part
    return Kept(part, keep, draws, shift, whole=is_whole, **how)


class Kept(Part):
    """The points of a part that a predicate keeps.

    Where all of them are kept they are drawn as the part draws them. Where not, they
    are picked from a pool of 32,768, which is made on the host, by rejection, once:
    a compiled program has no loop that ends when it likes.

    Args:
        part: The part.
        keep: Function from points, relative to the new centre, to booleans `(..., n)`;
            not asked where all points are kept.
        draws: How many uniform numbers a point of the part needs.
        shift: The part's centre less the new one, `(d,)`.
        whole: Whether all points are kept.
        flip: Whether the domain is on the part's other side.
        text: What it is called, if not as the part.
        sharp: Whether what is not kept lies in the domain, so that no function
            that vanishes on all of the part will do.
        size: Its measure, if that is known.
    """

    def __init__(
        self,
        part,
        keep,
        draws,
        shift,
        whole,
        flip=False,
        text=None,
        sharp=False,
        size=None,
    ):
        self.part, self.keep, self.shift, self.flip = part, keep, shift, flip
        self.whole, self._text, self._sharp, self._size = whole, text, sharp, size
        self._part_draws = draws
        self.draws = draws if whole else 1
        self.is_point = part.is_point

    def cut_further(self, keep, shift, how):
        """What `portion` needs for a portion of this portion."""

        def both(points):
            lib = library(points)
            mine = self.keep(points - like(shift, points))
            return lib.logical_and(mine, keep(points))

        both = keep if self.whole else both

        how = {
            "flip": self.flip != how.get("flip", False),
            "text": how.get("text") or self._text,
            "sharp": self._sharp or how.get("sharp", False),
            "size": how.get("size"),
        }
        return self.part, both, self._part_draws, self.shift + shift, how

    @functools.cached_property
    def _pool(self):
        found = []
        for seed in range(1, _ROUNDS + 1):
            uniform = quasi_random(_POOL, self._part_draws, seed)
            points = on_host(self.part.sample(uniform)) + self.shift
            found.append(points[on_host(self.keep(points))])
            if sum(map(len, found)) >= _POOL:
                break
        # A mixture of complete rounds is as even as each of them. Neighbours follow one
        # another, so that numbers spread evenly pick points that are.
        return _along_a_curve(np.concatenate(found))

    def sample(self, uniform):
        """Points as the part draws them, or from the pool."""
        if self.whole:
            points = self.part.sample(uniform)
            return points + like(self.shift, points)
        return pick(self._pool, uniform[..., 0])

    def contains(self, points):
        """Which points lie on the part, and are kept."""
        on_part = self.part.contains(points - like(self.shift, points))
        if self.whole:
            return on_part
        return library(points).logical_and(on_part, self.keep(points))

    def normals(self, points):
        """The part's normals, or their opposites."""
        normals = self.part.normals(points - like(self.shift, points))
        return -normals if self.flip else normals

    @functools.cached_property
    def share(self):
        """The share of the part's points that is kept."""
        points = on_host(self.part.sample(quasi_random(_POOL, self._part_draws)))
        return float(np.mean(on_host(self.keep(points + self.shift))))

    def measure(self):
        """The part's, times the share that is kept, of 32,768 evenly spread points."""
        if self._size is not None:
            return self._size
        whole = self.part.measure()
        return whole if self.whole else whole * self.share

    def distance(self, coordinates, outside=False):
        """The part's, if nothing else of it lies in the domain."""
        if self._sharp:
            return super().distance(coordinates, outside)
        shift = np.broadcast_to(self.shift, len(coordinates))
        moved = [
            coordinate - exact_number(by)
            for coordinate, by in zip(coordinates, shift, strict=True)
        ]
        return self.part.distance(moved, outside != self.flip)

    def __str__(self):
        return self._text or str(self.part)

    def __eq__(self, other):
        return isinstance(other, Kept) and self._key == other._key

    def __hash__(self):
        return hash(self._key)

    @property
    def _key(self):
        return self.part, self.flip, str(self), tuple(self.shift.ravel())


def _along_a_curve(points):
    """Points in Morton's order: the bits of their coordinates in turn.

    Which half of a cell comes first differs from cell to cell (Owen's scrambling), or
    numbers with equal steps would pick points at one place of every cell.
    """
    lower, extent = points.min(axis=0), np.ptp(points, axis=0)
    scaled = (points - lower) / np.where(extent > 0, extent, 1)
    cells, order = (scaled * 1023).astype("int64"), np.zeros(len(points), "int64")
    for bit in reversed(range(10)):
        for column in cells.T[:6]:  # 60 bits are what an integer has
            first = order * 2654435761 >> 16 & 1
            order = 2 * order + (column >> bit & 1 ^ first)
    return points[np.argsort(order, kind="stable")]
