"""Points at which a term is evaluated in one step."""

from collections.abc import Callable
from typing import NamedTuple

from keras import ops

from keraspinn import backend
from keraspinn.common.typing import Tensor


class Batch(NamedTuple):
    """Points at which a term is evaluated in one step.

    Args:
        points: Tensor `(N, d)`, the scaled coordinates ξ that derivatives are taken by.
        coordinates: Tensor `(N, d)`, the same points in the user's units, for the
            coordinates in equations.
        weights: Weights of the squared residuals: a number, or a tensor `(N,)`. For
            integrals the weights of the values: a tuple of a tensor for each region,
            whose points follow one another.
        targets: Tensor `(N, k)`, targets of the k expressions, or `None` for zero.
        normals: Tensor `(N, s)`, the outward unit normals in the s coordinates of
            space, or `None` if no expression contains them.

    Example:

    >>> points = keras.ops.zeros((8, 2))
    >>> batch = keraspinn.sampling.Batch(points, points, 1 / 8, None)
    >>> count, part = batch.parts(largest=3)
    >>> count, part(0).points.shape[0]
    (3, 3)
    """

    points: Tensor
    coordinates: Tensor
    weights: Tensor
    targets: Tensor | None = None
    normals: Tensor | None = None

    def by_point(self) -> dict[str, Tensor]:
        """Return its tensors, a dict of tensors with a row for each point.

        `Batch(**rows)` is a batch of some of the points.
        """
        weights = self.weights * ops.ones_like(self.points[:, 0])
        fields = self._replace(weights=weights)._asdict()
        return {name: value for name, value in fields.items() if value is not None}

    def parts(self, largest: int | None) -> tuple[int, Callable[[Tensor], "Batch"]]:
        """Split into batches of at most `largest` points, whose losses add up.

        Args:
            largest: A positive integer, of the points on one device, or `None` for no
                bound.

        Returns:
            Their number, and a function from their numbers to the batches. They are
            equally long: the last is filled up with points of weight zero.
        """
        total = self.points.shape[0]
        whole = isinstance(self.weights, tuple)  # a sum is squared after it is taken
        devices = backend.shard_count()
        if whole or largest is None or total is None or total <= largest * devices:
            return 1, lambda number: self
        count = -(-total // (largest * devices))
        size = -(-total // (count * devices)) * devices
        rows = backend.replicate(self.by_point())  # to be shared another way
        more = {name: row[: count * size - total] for name, row in rows.items()}
        more["weights"] = ops.zeros_like(more["weights"])

        def split(name):
            filled = ops.concatenate([rows[name], more[name]])
            return ops.reshape(filled, (count, size, *filled.shape[1:]))

        tensors = backend.shard({name: split(name) for name in rows}, axis=1)
        return count, lambda number: Batch(**{n: t[number] for n, t in tensors.items()})
