"""The part of a domain that a term belongs to, which makes its batches."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from keras import ops

from keraspinn.common.typing import Random, Tensor
from keraspinn.declaration.scaling.scales import Scales
from keraspinn.declaration.terms import Term, missing_normals_error
from keraspinn.geometry import Geometry
from keraspinn.geometry.simplices import Simplices
from keraspinn.sampling.batch import Batch
from keraspinn.sampling.lattice import lattice

ON_A_FACE = 512  # points of an energy, fewer than inside: lattices are denser there


@dataclass(eq=False, repr=False)
class Place:
    """The part of a domain that a term belongs to, in a problem's scales.

    Samplers receive it. It turns uniform random numbers, or a user's points, into
    batches with weights, and normals if an equation contains them. Models make places;
    `sampling.Sampler` shows their use.

    Args:
        term: The `declaration.terms.Term`.
        domain: The domain.
        scales: The `Scales` that points are handed out in.
        requested: Number of points on each of the domain's parts.
        dtype: Floating-point type of the batches.
        across_replicas: Function of a number of points, a scalar, that returns its
            mean over the replicas that share a batch.

    Attributes:
        term: The `Term`, with the `blocks` of parts that its points lie on.
        requested: Number of points on each part.
        dtype: Name of the floating-point type of batches.

    Raises:
        ValueError: By `given`, for a term of integrals, whose points are drawn.

    Example:

    >>> class Twice(keraspinn.sampling.Sampler):
    ...     "Draws twice as many points as requested."
    ...     def count(self, place):
    ...         return place.count(2 * place.requested)
    ...     def step(self, place, state, iteration, uniform, error):
    ...         return place.draw(uniform, 2 * place.requested), state
    """

    term: Term
    domain: Geometry
    scales: Scales
    requested: int
    dtype: str
    across_replicas: Callable[[Tensor], Tensor]

    def __post_init__(self):
        self._half = self.scales.half
        self._offset = self.scales.centre - self.domain.centre

    def __repr__(self):
        return f"<Place: {self.count()} points in {self.dtype}>"

    def count(self, requested: int | None = None) -> int:
        """Return the number of points of a batch with `requested` on each part."""
        return sum(self._sizes(self.term.parts, requested))

    def draw(self, uniform: Random, requested: int | None = None) -> Batch:
        """Draw a batch of points, uniform on every part.

        Args:
            uniform: Function from a shape to a tensor of it, uniform in [0, 1).
            requested: Number of points on each part; by default that of the place.
        """
        draws = [self.domain.draws(part) for part in self.term.parts]
        sizes = self._sizes(self.term.parts, requested)
        count = 1 if self.term.regions else requested or self.requested
        numbers = uniform((len(self.term.parts), count, max(draws)))
        relative, coordinates = [], []
        for index, (part, size) in enumerate(zip(self.term.parts, sizes, strict=True)):
            of_part = numbers[index, :size, : draws[index]]
            counts = self._counts(part, size)
            if self.term.regions:
                of_part = lattice(counts, of_part)
            if len(counts) > 1:
                relative.append(part.sample_each(counts, of_part))
            else:
                relative.append(self.domain.sample(part, of_part))
            coordinates.append(self.domain.absolute(part, relative[-1]))
        points = self._scaled(ops.concatenate(relative))
        return self.drawn(points, ops.concatenate(coordinates), requested)

    def drawn(
        self, points: Tensor, coordinates: Tensor, requested: int | None = None
    ) -> Batch:
        """Return the batch of points that `draw` made.

        Args:
            points: Tensor `(N, d)`, scaled, in the order of `draw`.
            coordinates: Tensor `(N, d)`, the same points in the user's units.
            requested: Number of points on each part, as for `draw`.
        """
        weights, normals = self._drawn_weights(requested), None
        if self.term.holds_normals:
            normals = self._drawn_normals(points, requested)
        return Batch(points, coordinates, weights, None, normals)

    def _drawn_normals(self, points, requested):
        """Return the normals of points in the order in which `draw` made them."""
        relative, start, normals = self._relative(points), 0, []
        sizes = self._sizes(self.term.parts, requested)
        for part, size in zip(self.term.parts, sizes, strict=True):
            here = relative[start : start + size]
            start += size
            if missing_normals_error(self.domain, part):  # nothing holds one there
                normals.append(ops.zeros_like(here)[..., : len(self.domain.normal)])
            else:
                normals.append(self.domain.normals(part, here))
        return ops.concatenate(normals)

    def given(self, coordinates: Tensor) -> Batch:
        """Return a batch of a user's points, each counted in the blocks it lies on.

        Args:
            coordinates: Tensor `(N, d)` in the user's units.
        """
        if self.term.regions:
            self.term.check_points(self.domain, None)
        relative = coordinates - ops.cast(self.domain.centre, coordinates.dtype)
        weights = self._given_weights(relative)
        normals = self._given_normals(relative) if self.term.holds_normals else None
        return Batch(*self.locate(coordinates), weights, None, normals)

    def _given_normals(self, relative):
        """Return the normals of the first part that each point lies on."""
        normals = None
        for part in reversed(self.term.parts):
            of_part = ops.cast(self.domain.normals(part, relative), self.dtype)
            here = self.domain.contains(part, relative)[..., None]
            normals = of_part if normals is None else ops.where(here, of_part, normals)
        return normals

    def locate(self, coordinates: Tensor) -> tuple[Tensor, Tensor]:
        """Return points `(N, d)` of the user as a batch has them: scaled, and unscaled.

        Args:
            coordinates: Tensor `(N, d)`. In float64 it is scaled before it is rounded.
        """
        relative = coordinates - ops.cast(self.domain.centre, coordinates.dtype)
        points = ops.cast(self._scaled(relative), self.dtype)
        return points, ops.cast(coordinates, self.dtype)

    def _given_weights(self, relative):
        blocks, number = self.term.blocks, self.across_replicas
        if not blocks or blocks == self.domain.blocks("interior"):
            count = number(ops.cast(ops.shape(relative)[0], self.dtype))
            return ops.divide_no_nan(ops.ones_like(count), count)
        weights = ops.zeros_like(relative[..., 0], dtype=self.dtype)
        for block in blocks:
            on_parts = [self.domain.contains(part, relative) for part in block]
            mask = ops.cast(ops.any(ops.stack(on_parts), axis=0), self.dtype)
            weights = weights + ops.divide_no_nan(mask, number(ops.sum(mask)))
        return weights

    def _drawn_weights(self, requested):
        if self.term.regions:
            return tuple(self._measures(block, requested) for block in self.term.blocks)
        sizes = [sum(self._sizes(block, requested)) for block in self.term.blocks]
        if len(set(sizes)) == 1:
            return 1.0 / sizes[0]
        weights = np.repeat([1.0 / size for size in sizes], sizes)
        return ops.convert_to_tensor(weights, self.dtype)

    def _measures(self, block, requested):
        """Return the points' shares of their parts' measures, for one block."""
        each = []
        for part, size in zip(block, self._sizes(block, requested), strict=True):
            counts = self._counts(part, size)
            sizes = part.sizes if len(counts) > 1 else [self.domain.measure(part)]
            each.append(np.repeat(np.divide(sizes, counts), counts))
        return ops.convert_to_tensor(np.concatenate(each), self.dtype)

    def _counts(self, part, size):
        """Return the numbers of an integral's points in each triangle of a polygon.

        A tuple of `size` for other parts, and where triangles outnumber points.
        """
        count = len(part.corners) if isinstance(part, Simplices) else 1
        if not self.term.regions or not 1 < count < size:
            return (size,)
        shares = part.sizes / part.sizes.sum()
        counts = 1 + np.floor((size - count) * shares).astype(int)
        counts[np.argmax(counts)] += size - counts.sum()
        return tuple(counts.tolist())

    def _relative(self, points):
        """Return points relative to the domain's centre, from scaled ones."""
        half, offset = (ops.cast(n, points.dtype) for n in (self._half, self._offset))
        return points * half + offset

    def _scaled(self, relative):
        """Return ξ of points relative to the domain's centre."""
        rates = 1.0 / self._half, self._offset / self._half
        rate, shift = (ops.cast(numbers, relative.dtype) for numbers in rates)
        return relative * rate - shift

    def _sizes(self, parts, requested):
        """Return numbers of points of parts: 1 if all coordinates are fixed."""
        return [self._size(part, requested or self.requested) for part in parts]

    def _size(self, part, requested):
        if part.is_point:
            return 1
        is_face = self.term.is_energy and not missing_normals_error(self.domain, part)
        return min(requested, ON_A_FACE) if is_face else requested
