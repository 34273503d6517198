from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from keraspinn.common.checks import point_array
from keraspinn.geometry.arrays import library, like, pick
from keraspinn.geometry.base import Geometry
from keraspinn.geometry.box import Slice
from keraspinn.geometry.checks import Symbols
from keraspinn.geometry.faces import at_values
from keraspinn.geometry.simplices import Nearest


class Points(Nearest):
    """Fixed points, picked from at random.

    Args:
        points: Array `(n, d)`, relative to the domain's centre.
        half: The domain's half extents, the scale of the tolerance.
        text: Its name in messages.
        outward: Optional outward normals, `(n, d)`.
        region: Optional part, whose points all count as contained.
    """

    draws = 1

    def __init__(self, points, half, text, outward=None, region=None):
        self._points, self._half, self.text = points, half, text
        self.outward, self._region, self._width = outward, region, points.size
        self.is_point = len(points) == 1

    def sample(self, uniform):
        """Pick points at random."""
        return pick(self._points, uniform[..., 0])

    def contains(self, points):
        """Test which points are among them, or in the region."""
        return (self._region or super()).contains(points)

    def _distances(self, points):
        lib = library(points)
        scaled = (points / like(self._half, points))[..., None, :]
        apart = lib.abs(scaled - like(self._points / self._half, points))
        return lib.max(apart, axis=-1)


class PointCloud(Geometry):
    """Cloud of points inside and on boundaries, from a scan or another program.

    Points are picked from the cloud, so make it as dense as the sampling should be.

    Args:
        points: Points inside, `(n, d)`, in the user's units.
        boundary: Optional dict from names to points `(m, d)`, or to pairs of points
            and outward normals, `(m, d)` each. `on="boundary"` is all of them.
        coordinates: Its symbols. Leave them out if it is multiplied with a domain
            that has them.

    Raises:
        ValueError: If an array has another shape, or a normal has length zero.

    Example:

    >>> x, y = sp.symbols("x y")
    >>> grid = np.stack(np.meshgrid([0.0, 0.5, 1.0], [0.25, 0.75]), -1).reshape(-1, 2)
    >>> wall = [(0.0, 0.0), (0.5, 0.0)], [(0.0, -1.0), (0.0, -2.0)]
    >>> cloud = keraspinn.geometry.PointCloud(grid, {"wall": wall}, (x, y))
    >>> ((wall,),) = cloud.blocks("wall")
    >>> cloud.normals(wall, cloud.sample(wall, np.array([[0.6]])))
    array([[ 0., -1.]])
    """

    def __init__(
        self,
        points: ArrayLike,
        boundary: Mapping[str, ArrayLike | tuple[ArrayLike, ArrayLike]] | None = None,
        coordinates: Symbols = None,
    ) -> None:
        self.points = point_array("points", points, least=2)
        dimension = self.points.shape[1]
        pairs = (boundary or {}).items()
        sets = {n: _points_and_normals(n, entry, dimension) for n, entry in pairs}
        self.sets = self._boundary = sets
        everything = np.concatenate([self.points, *(p for p, _ in self.sets.values())])
        lower, upper = everything.min(axis=0), everything.max(axis=0)
        if not (lower < upper).all():
            raise ValueError(
                "A cloud's points must extend in every direction. Received: points "
                f"from {lower} to {upper}"
            )
        super().__init__(coordinates, lower, upper)
        inside = self.points - self.centre
        box = Slice(tuple(self.half.tolist()), (), dimension, "the box")
        self.interior = Points(inside, self.half, "the interior", region=box)
        for name, (rows, normals) in self.sets.items():
            self.named[name] = (Points(rows - self.centre, self.half, name, normals),)
        self.boundary = tuple(part for (part,) in self.named.values())

    def grid(self, n: int | None = None) -> np.ndarray:
        """Return the points themselves, for all `n`."""
        return self.points.copy()

    def _at_values(self, on):
        return at_values(self, on)  # not the planes inside the box of the points

    def __str__(self):
        return f"a cloud of {len(self.points)} points"


def _points_and_normals(name, entry, dimension):
    """Return checked points, and unit normals or `None`."""
    normals = None
    if isinstance(entry, (tuple, list)) and len(entry) == 2:
        if entry[1] is None or np.ndim(entry[1]) == 2:
            entry, normals = entry
    points = point_array(f"points of '{name}'", entry, columns=dimension)
    if normals is None:
        return points, None
    normals = point_array(f"normals of '{name}'", normals, columns=dimension)
    lengths = np.linalg.norm(normals, axis=-1, keepdims=True)
    if len(normals) != len(points) or not (lengths > 0).all():
        raise ValueError(
            f"Each of the {len(points)} points of '{name}' needs one normal, not of "
            f"length zero. Received: shape {normals.shape}"
        )
    return points, normals / lengths
