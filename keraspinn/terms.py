"""Loss terms: what is averaged, and over which points."""

import collections

import numpy as np
from keras import ops

from keraspinn import backend
from keraspinn.expressions import Program


class Batch(collections.namedtuple("Batch", "points weights targets")):
    """Points at which a term is evaluated in one step.

    Attributes:
        points: Tensor `(N, d)`.
        weights: What every squared residual counts: a number, or a tensor `(N,)`.
        targets: Tensor `(N, k)`, what the k expressions should equal, or `None` for
            zero.
    """

    def parts(self, largest):
        """Batches of at most `largest` points each whose losses add up to this one's.

        Args:
            largest: A positive integer, or `None` for no bound.

        Returns:
            How many there are, and a function from their numbers to the batches. They
            are equally long: the last is filled up with points that count nothing.
        """
        total = self.points.shape[0]
        if largest is None or total is None or total <= largest:
            return 1, lambda number: self
        count = -(-total // largest)
        size = -(-total // count)
        fill = count * size - total
        weights = self.weights * ops.ones_like(self.points[:, 0])
        weights = ops.pad(weights, (0, fill))

        def split(tensor):
            filled = ops.concatenate([tensor, tensor[:fill]])
            return ops.reshape(filled, (count, size, *tensor.shape[1:]))

        points, weights = split(self.points), ops.reshape(weights, (count, size))
        targets = None if self.targets is None else split(self.targets)
        return count, lambda number: Batch(
            points[number],
            weights[number],
            None if targets is None else targets[number],
        )


class Term:
    """A loss term: Σ over expressions and blocks of mean squares.

    Args:
        expressions: Normalized expressions that should vanish.
        domain: The domain, as `geometry.Box`.
        blocks: The blocks the term is drawn on, as `domain.blocks` gives them.
    """

    def __init__(self, expressions, domain, blocks):
        self.program = Program(expressions, domain.coordinates)
        self.domain = domain
        self.blocks = blocks

    def draw(self, count, uniform):
        """Fresh points: `count` on every region.

        Args:
            count: Number of points on each region.
            uniform: Function from a shape to a tensor of it, uniform in [0, 1).
        """
        regions = [region for block in self.blocks for region in block]
        numbers = uniform((len(regions), count, self.domain.dimension))
        points = [
            self.domain.sample(region, numbers[place, : self._size(region, count)])
            for place, region in enumerate(regions)
        ]
        points = points[0] if len(points) == 1 else ops.concatenate(points)
        sizes = [
            sum(self._size(region, count) for region in block) for block in self.blocks
        ]
        if len(set(sizes)) == 1:
            return Batch(points, 1.0 / sizes[0], None)
        weights = np.repeat([1.0 / size for size in sizes], sizes)
        return Batch(points, ops.cast(weights, points.dtype), None)

    def given(self, points, across_replicas=lambda count: count):
        """A batch of a user's points, each counted in the blocks it lies on.

        Args:
            points: Tensor `(N, d)`.
            across_replicas: Function of a number of points, a scalar, that returns
                its mean over the replicas that share a batch.
        """
        if len(self.blocks) == 1:
            count = across_replicas(ops.cast(ops.shape(points)[0], points.dtype))
            return Batch(points, ops.divide_no_nan(ops.ones_like(count), count), None)
        weights = ops.zeros_like(points[..., 0])
        for block in self.blocks:
            on_block = ops.zeros_like(weights, dtype="bool")
            for region in block:
                on_region = self.domain.contains(region, points)
                on_block = ops.logical_or(on_block, on_region)
            mask = ops.cast(on_block, points.dtype)
            count = across_replicas(ops.sum(mask))
            weights = weights + ops.divide_no_nan(mask, count)
        return Batch(points, weights, None)

    def check_on_its_blocks(self, name, points):
        """Raises `ValueError` unless every point is on a block, and each has some."""
        on_blocks = np.array(
            [
                np.any(
                    [
                        ops.convert_to_numpy(self.domain.contains(region, points))
                        for region in block
                    ],
                    axis=0,
                )
                for block in self.blocks
            ]
        )
        astray = np.flatnonzero(~on_blocks.any(axis=0))
        if len(astray):
            row = int(astray[0])
            raise ValueError(
                f"The points of '{name}' must lie where it holds: "
                f"{self._where()}. Received: {points[row]} in row {row}."
            )
        if not on_blocks.any(axis=1).all():
            empty = self.blocks[int(np.flatnonzero(~on_blocks.any(axis=1))[0])]
            raise ValueError(
                f"The points of '{name}' leave out "
                f"{' and '.join(map(self.domain.describe, empty))}. Give some there "
                f"too, or leave '{name}' out, and all of its points are drawn."
            )

    def _where(self):
        regions = {region for block in self.blocks for region in block}
        return " or ".join(sorted(map(self.domain.describe, regions)))

    def count(self, requested):
        """Number of points in a batch drawn with `requested` a region."""
        regions = [region for block in self.blocks for region in block]
        return sum(self._size(region, requested) for region in regions)

    def _size(self, region, count):
        """One point is all of a region that has every coordinate fixed."""
        return 1 if len(region) == self.domain.dimension else count

    def loss(self, residuals, batch):
        """The term's loss from its residuals, one tensor `(N,)` an expression."""
        if batch.targets is not None:
            residuals = [
                residual - batch.targets[..., place]
                for place, residual in enumerate(residuals)
            ]
        return sum(ops.sum(batch.weights * ops.square(r)) for r in residuals)


class DataTerm(Term):
    """A loss term over tabulated values instead of a part of the domain."""

    def __init__(self, expressions, domain, points, targets):
        super().__init__(expressions, domain, blocks=())
        self._points, self._targets = points, targets

    def draw(self, count, uniform):
        """All rows, or `count` of them drawn with replacement where there are more."""
        size = self.count(count)
        points, targets = _rows(size, uniform, self._points, self._targets)
        return Batch(points, 1.0 / size, targets)

    def count(self, requested):
        return min(requested, len(self._points))

    def check_on_its_blocks(self, name, points):
        self.given(points)

    def given(self, points, across_replicas=None):
        raise ValueError(
            "A Data term brings its own points; leave it out of the points given."
        )


class HeldPoints:
    """A source of batches for a term: a user's points, kept from step to step."""

    def __init__(self, term, points):
        self._term, self._points = term, points

    def count(self, requested):
        return min(requested or len(self._points), len(self._points))

    def draw(self, count, uniform):
        """All points, or `count` of them drawn with replacement."""
        (points,) = _rows(self.count(count), uniform, self._points)
        return self._term.given(points, backend.replica_mean)


def _rows(size, uniform, *tables):
    """`size` rows of each table: all in order, or drawn with replacement."""
    total = len(tables[0])
    numbers = uniform((size,))
    tables = [ops.cast(table, numbers.dtype) for table in tables]
    if size == total:
        return tables
    rows = ops.minimum(ops.cast(numbers * total, "int32"), total - 1)
    return [ops.take(table, rows, axis=0) for table in tables]
