"""Parts made of segments, triangles and tetrahedra."""

import functools

import numpy as np
import sympy as sp

from keraspinn.geometry.arrays import library, like, pick
from keraspinn.geometry.part import TOLERANCE, Part, exact_number, relative_to

_MOST_NUMBERS = 4_000_000  # numbers in a chunk of pairwise distances: 32 MB
_MOST_FACTORS = 12  # planes in a product of distances; more make it too flat
_AT_A_CORNER = sp.Rational(1, 10**15)  # keeps a quotient finite, also in float32
_MOST_PIECES = 64  # flat pieces of a boundary; above, it counts as curved


class Simplices(Part):
    """Segments, triangles or tetrahedra, sampled uniformly.

    Args:
        corners: Corners relative to the domain's centre, `(k, m + 1, d)`.
        contains: Predicate for points `(..., n, d)` that lie here.
        text: Its name in messages.
    """

    def __init__(self, corners, contains, text="the interior"):
        self.corners = np.asarray(corners, "float64")
        self.draws = self.corners.shape[1]
        self._contains, self.text = contains, text

    @functools.cached_property
    def sizes(self):
        """Length, area or volume of each simplex."""
        edges = self.corners[:, 1:] - self.corners[:, :1]
        gram = np.einsum("kid,kjd->kij", edges, edges)
        factorial = np.prod(np.arange(1, edges.shape[1] + 1))
        return np.sqrt(np.maximum(np.linalg.det(gram), 0)) / factorial

    @functools.cached_property
    def _alias(self):
        """Walker's alias table: probabilities to stay in a slot, and alternatives.

        It picks one of many by weight with one number and one lookup, without a search.
        """
        count = len(self.sizes)
        scaled = self.sizes / np.sum(self.sizes) * count
        stay, other = np.ones(count), np.arange(count, dtype="float64")
        small = [k for k in range(count) if scaled[k] < 1]
        large = [k for k in range(count) if scaled[k] >= 1]
        while small and large:
            low, high = small.pop(), large[-1]
            stay[low], other[low] = scaled[low], high
            scaled[high] -= 1 - scaled[low]
            if scaled[high] < 1:
                small.append(large.pop())
        return stay, other

    def sample(self, uniform):
        """Sample a simplex by the first number, and a point of it by the others."""
        chosen, count = uniform[..., 0], len(self.corners)
        within = chosen * count % 1
        stay, other = (pick(column, chosen) for column in self._alias)
        corners = pick(self.corners, chosen)
        # The middle of a slot, so that round-off does not reach its neighbour.
        another = pick(self.corners, (other + 0.5) / count)
        is_staying = (within < stay)[..., None, None]
        corners = library(uniform).where(is_staying, corners, another)
        return self._within(corners, uniform)

    def sample_each(self, counts, uniform):
        """Sample a number of points of each simplex, `(k,)`, in this order."""
        corners = np.repeat(self.corners, counts, axis=0)
        return self._within(like(corners, uniform), uniform)

    def _within(self, corners, uniform):
        """Return points in simplices `(..., n, m + 1, d)`, by all numbers but one."""
        lib = library(uniform)
        # Uniform in a cone over a simplex: move from the tip towards a uniform point
        # of the base by the k-th root of a uniform number.
        point = corners[..., 0, :]
        for k in range(1, self.draws):
            tip = corners[..., k, :]
            point = tip + (point - tip) * lib.power(uniform[..., k : k + 1], 1 / k)
        return point

    def contains(self, points):
        """Test which points lie on a simplex, or in the region they bound."""
        return self._contains(points)

    def measure(self):
        """Return the sum of the measures."""
        return float(self.sizes.sum())


class Nearest(Part):
    """Elements that points are compared with, such as facets.

    Subclasses define `_distances` of points from each element, `(..., n, k)`, as shares
    of the domain's half extents; `outward`, a normal of each, `(k, d)`, or `None`; and
    `_width`, the numbers held for each point.
    """

    def contains(self, points):
        """Test which points are on an element."""

        def near(rows):
            return library(rows).min(self._distances(rows), axis=-1) <= 2 * TOLERANCE

        return in_chunks(near, points, self._width)

    def normals(self, points):
        """Return the normal of the nearest element."""
        if self.outward is None:
            return super().normals(points)

        def nearest(rows):
            lib = library(rows)
            index = lib.argmin(self._distances(rows), axis=-1)
            return lib.take(like(self.outward, rows), index, axis=0)

        return in_chunks(nearest, points, self._width)


class Facets(Nearest, Simplices):
    """Segments in the plane or triangles in space that bound a domain.

    Args:
        corners: Corners relative to the domain's centre, `(k, d, d)`.
        outward: Unit normals, `(k, d)`.
        half: Half extents of the domain, the scale of the tolerances.
        text: Its name in messages.
    """

    def __init__(self, corners, outward, half, text="the boundary"):
        super().__init__(corners, None, text)
        self._width = 2 * self.corners.size
        self.outward = np.asarray(outward, "float64")
        self.closed = self.corners  # of the whole boundary, for a selection of facets
        self._half = np.asarray(half, "float64")

    @functools.cached_property
    def _frame(self):
        """Scaled first corners, normals, maps to barycentric coordinates, and sizes."""
        scaled = self.corners / self._half
        edges = scaled[:, 1:] - scaled[:, :1]
        normals = unit(self.outward * self._half)
        sizes = np.linalg.norm(edges, axis=-1).max(axis=-1)
        return scaled[:, 0], normals, np.linalg.pinv(edges), sizes

    def _distances(self, points):
        """Return distances to each facet, `(..., n, k)`, in scaled coordinates."""
        lib = library(points)
        first, normals, maps, sizes = self._frame
        scaled = points / like(self._half, points)
        # Subtract each facet's first corner before multiplying. Unrolled over the
        # coordinates, as reductions over two or three numbers are slow.
        shifts = [scaled[..., j, None] - like(x, points) for j, x in enumerate(first.T)]

        def along(vectors):
            pairs = zip(shifts, vectors.T, strict=True)
            return sum(shift * like(v, points) for shift, v in pairs)

        weights = [along(maps[..., k]) for k in range(maps.shape[-1])]
        lowest = functools.reduce(lib.minimum, [*weights, 1 - sum(weights)])
        return lib.maximum(lib.abs(along(normals)), -lowest * like(sizes, points))

    def pieces(self):
        """Return the flat pieces, one per plane, unless there are many."""
        return self._pieces

    @functools.cached_property
    def _pieces(self):
        _, normals, _, _ = self._frame
        offsets = np.sum(normals * self.corners[:, 0] / self._half, axis=-1)
        keys = np.round(np.column_stack([normals, offsets]), 6) + 0.0
        _, plane = np.unique(keys, axis=0, return_inverse=True)
        plane = plane.ravel()
        if not 0 < plane.max() < _MOST_PIECES:
            return (self,)
        return tuple(self.only(plane == k) for k in range(plane.max() + 1))

    def only(self, chosen, text=None):
        """Select some of the facets."""
        corners, outward = self.corners[chosen], self.outward[chosen]
        part = Facets(corners, outward, self._half, text or self.text)
        part.closed = self.closed
        return part

    def distance(self, coordinates, outside=False):
        """Return a product of lines, trimmed to segments if they enter the domain."""
        size = float(self._half.max())
        planes = {}
        for corners, outward in zip(self.corners, self.outward, strict=True):
            offset = outward @ corners[0] / size
            key = tuple(np.round([*outward, offset], 9) + 0.0)
            planes.setdefault(key, (outward, offset, []))[2].append(corners)
        everything = self.closed.reshape(-1, len(coordinates)) / size
        lines, trimmed = [], []
        for outward, offset, segments in planes.values():
            pairs = zip(map(exact_number, outward), coordinates, strict=True)
            height = sum(n * c / exact_number(size) for n, c in pairs)
            line = exact_number(offset) - height
            if not outside and (everything @ outward <= offset + 1e-9).all():
                lines.append(line)
                continue
            if len(coordinates) != 2:
                return super().distance(coordinates, outside)
            line = -line if outside else line
            trimmed += [_trimmed(line, pair, coordinates, size) for pair in segments]
        if len(lines) + len(trimmed) > _MOST_FACTORS:
            return super().distance(coordinates, outside)
        # A product vanishes like r² at a re-entrant corner, where fields are r^(2/3); a
        # harmonic sum like r. Poisson's equation on an L, 40 steps: 15 % and 5 % in the
        # energy norm.
        others = [sp.Mul(*trimmed[:k], *trimmed[k + 1 :]) for k in range(len(trimmed))]
        sum_of_others = sp.Add(*others, _AT_A_CORNER) if len(others) > 1 else 1
        return sp.Mul(*lines, *trimmed) / sum_of_others


def across(corners):
    """Return a normal of each segment `(k, 2, 2)` or triangle `(k, 3, 3)`."""
    edges = corners[:, 1:] - corners[:, :1]
    if corners.shape[-1] == 2:
        return edges[:, 0, ::-1] * (1, -1)
    return np.cross(edges[:, 0], edges[:, 1])


def unit(vectors):
    """Return vectors divided by their lengths."""
    return vectors / np.linalg.norm(vectors, axis=-1, keepdims=True)


def _trimmed(line, segment, coordinates, size):
    """Return a function that is zero on a segment only: a line, trimmed (Rvachev).

    The line is positive on the domain's side of the segment. Beside the segment,
    `line` is factored out of the root, so that derivatives are finite there. At the
    ends, where they have no limit, the line's derivatives replace them.

    Reference:
        Sukumar & Srivastava, "Exact imposition of boundary conditions with distance
        functions in physics-informed deep neural networks", section 3.
    """
    middle, length = segment.mean(axis=0), np.linalg.norm(segment[1] - segment[0])
    squares = sum(c**2 for c in relative_to(middle, coordinates))
    size, length = exact_number(size), exact_number(length)
    disk = (length**2 / 4 - squares) / (length * size)
    root = sp.sqrt(disk**2 + line**4)
    near = line * sp.sqrt(1 + (line**3 / (root + disk)) ** 2 / 4)
    far = sp.sqrt(line**2 + (root - disk) ** 2 / 4)
    margin = sp.Rational(1, 10**6)
    trimmed = sp.Piecewise(
        (near, (disk > margin) & (line > -margin)),
        (far, disk**2 + line**2 > margin**2),
        (line, True),
    )
    return trimmed / (1 + trimmed)  # bounded by one far away


def in_chunks(function, points, width):
    """Apply a function to chunks of rows that fit in memory, on the host."""
    if not isinstance(points, np.ndarray) or points.ndim != 2:
        return function(points)
    count = max(1, -(-len(points) * width // _MOST_NUMBERS))
    return np.concatenate([*map(function, np.array_split(points, count))])
