"""Portions of a part, cut by another shape or restricted by a relation."""

import functools
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from keraspinn.geometry.arrays import library, like, pick
from keraspinn.geometry.part import Part, quasi_random, relative_to, sobol

TEST_POINTS = 2**13  # points that decide whether all of a part is kept
# Points in a pool. The integral of a frame's strain energy, singular at corners, was
# 1.2 % off with 2**15, however many points were picked; with 2**18 0.2 %.
_POOL_POINTS = 2**18
_BISECTIONS = 40  # of a test interval of a curve: to round-off
_MOST_INTERVALS = 64  # of a curve that are kept; above, points are picked from a pool
_ROUNDS = 16  # rounds of rejection at most, for portions below 1/16 of the part


def portion(domain, owner, part, keep, is_cut=False, **how):
    """Return the portion of a part that a predicate keeps, or `None` if it is empty.

    Args:
        domain: The geometry that the portion is for.
        owner: The geometry that the part is of, in the same coordinates.
        part: A `Part`.
        keep: Function from points, relative to the domain's centre, to booleans
            `(..., n)`.
        is_cut: Whether the part is known to be cut, even if no test point shows it.
        **how: `flip`, `text`, `sharp` and `size` of `Kept`.
    """
    draws, shift = owner.draws(part), owner.centre - domain.centre
    is_cut = is_cut or (isinstance(part, Kept) and not part.whole)
    if isinstance(part, Kept):  # make one pool, not a pool of a pool
        part, keep, draws, shift, how = part.cut_further(keep, shift, how)
    points = np.asarray(part.sample(quasi_random(TEST_POINTS, draws))) + shift
    share = np.mean(keep(points))
    if share == 0:
        return None
    is_whole = share == 1 and not is_cut
    if is_whole and not shift.any() and not any(how.values()):
        return part
    return Kept(part, keep, draws, tuple(shift), whole=is_whole, **how)


@dataclass(unsafe_hash=True)
class Kept(Part):
    """Portion of a part that a predicate keeps.

    If the predicate keeps all points, the part itself samples them. Of a curve it keeps
    intervals, whose ends are found by bisection. Points of other parts are picked from
    a pool of 262,144, made once on the host by rejection, since a compiled program
    cannot repeat until enough points are kept.

    Portions of equal parts are equal if their texts are, which name the cut.

    Args:
        part: The part.
        keep: Function from points, relative to the new centre, to booleans `(..., n)`;
            not called if all points are kept.
        part_draws: Number of uniform numbers that a point of the part needs.
        shift: The part's centre less the new one, `(d,)`.
        whole: Whether all points are kept.
        flip: Whether the domain is on the part's other side.
        text: Its name in messages, if not the part's.
        sharp: Whether the rest of the part lies in the domain, so that no function
            may vanish on all of it.
        size: Its measure, if that is known.
    """

    part: Part
    keep: Callable = field(compare=False)
    part_draws: int = field(compare=False)
    shift: tuple
    whole: bool = field(compare=False)
    flip: bool = False
    text: str | None = None
    sharp: bool = field(default=False, compare=False)
    size: float | None = field(default=None, compare=False)

    def __post_init__(self):
        self.draws = self.part_draws if self.whole else 1
        self.is_point = self.part.is_point

    def cut_further(self, keep, shift, how):
        """Return the arguments of `portion` for a portion of this portion."""

        def both(points):
            return self.keep(points - like(shift, points)) & keep(points)

        how = {
            "flip": self.flip != how.get("flip", False),
            "text": how.get("text") or self.text,
            "sharp": self.sharp or how.get("sharp", False),
            "size": how.get("size"),
        }
        kept = keep if self.whole else both
        return self.part, kept, self.part_draws, self.shift + shift, how

    def _tested(self, uniform):
        """Return points of the part, and which of them are kept, on the host."""
        points = np.asarray(self.part.sample(uniform)) + self.shift
        return points, np.asarray(self.keep(points))

    @functools.cached_property
    def _pool(self):
        rounds = []
        for seed in range(1, _ROUNDS + 1):
            points, kept = self._tested(sobol(_POOL_POINTS, self.part_draws, seed))
            rounds.append(points[kept])
            if sum(map(len, rounds)) >= _POOL_POINTS:
                break
        # Complete rounds are as evenly spread as each one. Sorted along a curve, evenly
        # spread numbers pick evenly spread points.
        return _sort_along_curve(np.concatenate(rounds))

    @functools.cached_property
    def _intervals(self):
        """Intervals `(k, 2)` of a curve's uniform numbers that are kept."""
        if not self.part.is_curve:
            return np.empty((0, 2))
        grid = np.linspace(0, 1, TEST_POINTS, endpoint=False)
        _, is_kept = self._tested(grid[:, None])
        (changes,) = np.nonzero(is_kept[1:] != is_kept[:-1])
        low, high = grid[changes], grid[changes + 1]
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            is_low = self._tested(middle[:, None])[1] == is_kept[changes]
            low, high = np.where(is_low, middle, low), np.where(is_low, high, middle)
        ends = [0.0] * int(is_kept[0]) + [*low] + [1.0] * int(is_kept[-1])
        ends = np.reshape(ends, (-1, 2))
        return ends if len(ends) <= _MOST_INTERVALS else ends[:0]

    def sample(self, uniform):
        """Sample points as the part does, in its intervals or from the pool."""
        if not self.whole:
            if not len(self._intervals):
                return pick(self._pool, uniform[..., 0])
            lib, (starts, ends) = library(uniform), self._intervals.T
            # Numbers of Python, which leave the type of `uniform` as it is on JAX.
            lengths = np.cumsum(ends - starts).tolist()
            gaps = (starts[1:] - ends[:-1]).tolist()
            numbers = uniform * lengths[-1]
            uniform = numbers + float(starts[0])
            for length, gap in zip(lengths, gaps, strict=False):
                uniform = lib.where(numbers >= length, uniform + gap, uniform)
        points = self.part.sample(uniform)
        return points + like(self.shift, points)

    def contains(self, points):
        """Test which points lie on the part and are kept."""
        on_part = self.part.contains(points - like(self.shift, points))
        return on_part if self.whole else on_part & self.keep(points)

    def normals(self, points):
        """Return the part's normals, or their opposites."""
        normals = self.part.normals(points - like(self.shift, points))
        return -normals if self.flip else normals

    @functools.cached_property
    def share(self):
        """Share of the part's points that is kept."""
        if len(self._intervals):
            return float(np.ptp(self._intervals, axis=1).sum())
        _, kept = self._tested(sobol(_POOL_POINTS, self.part_draws))
        return float(np.mean(kept))

    def measure(self):
        """Return the part's measure times the share kept."""
        if self.size is not None:
            return self.size
        whole = self.part.measure()
        return whole if self.whole else whole * self.share

    def distance(self, coordinates, outside=False):
        """Return the part's distance, if the rest of the part is outside the domain."""
        if self.sharp:
            return super().distance(coordinates, outside)
        moved = relative_to(self.shift, coordinates)
        return self.part.distance(moved, outside != self.flip)

    def __str__(self):
        return self.text or str(self.part)


def _sort_along_curve(points):
    """Sort points in Morton order, by interleaving the bits of their coordinates.

    Owen scrambling varies the order within the cells. Otherwise equally spaced
    numbers would pick points at the same position of every cell.
    """
    lower, extent = points.min(axis=0), np.ptp(points, axis=0)
    scaled = (points - lower) / np.where(extent > 0, extent, 1)
    cells, order = (scaled * 1023).astype("int64"), np.zeros(len(points), "int64")
    for bit in reversed(range(10)):
        for column in cells.T[:6]:  # 60 bits fit in an integer
            first = order * 2654435761 >> 16 & 1
            order = 2 * order + (column >> bit & 1 ^ first)
    return points[np.argsort(order, kind="stable")]
