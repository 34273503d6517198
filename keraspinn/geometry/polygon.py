from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from keraspinn.common.checks import point_array
from keraspinn.geometry.base import Geometry
from keraspinn.geometry.checks import Symbols
from keraspinn.geometry.enclosed import closed, enclosed, trapezoids
from keraspinn.geometry.simplices import Facets, Simplices, across, unit


class Polygon(Geometry):
    """Polygon, with or without holes.

    The boundary is one part, sampled by length. Name a straight edge along a coordinate
    by its value, as a face of a box. Name any other edge by a geometry on which it
    lies, or by `where`.

    Args:
        vertices: The corners in order, either way round, `(n, 2)`, in the user's units.
        holes: Optional list of such arrays, the corners of holes.
        coordinates: Its two symbols. Leave them out if it is combined with a domain
            that has them.

    Raises:
        ValueError: If there are fewer than three corners, or edges cross.

    Example:

    >>> x, y = sp.symbols("x y")
    >>> corner = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]
    >>> domain = keraspinn.geometry.Polygon(corner, coordinates=(x, y))
    >>> domain.measure(domain.interior), domain.measure(domain.boundary[0])
    (3.0, 8.0)
    >>> ((base,),) = domain.blocks({y: 0})
    >>> domain.measure(base)
    2.0
    """

    def __init__(
        self,
        vertices: ArrayLike,
        holes: Sequence[ArrayLike] = (),
        coordinates: Symbols = None,
    ) -> None:
        self.vertices = point_array("vertices", vertices, columns=2, least=3)
        self.holes = [point_array("hole", hole, columns=2, least=3) for hole in holes]
        lower, upper = self.vertices.min(axis=0), self.vertices.max(axis=0)
        rings = (self.vertices, *self.holes)
        edges = [np.stack([r, np.roll(r, -1, axis=0)], axis=1) for r in rings]
        segments = np.concatenate(edges)
        segments = segments[(segments[:, 0] != segments[:, 1]).any(axis=-1)]
        _check_edges(segments)
        area = abs(np.linalg.det(edges[0] - self.vertices[0]).sum()) / 2  # shoelace
        if not area > 1e-9 * np.prod(upper - lower):
            raise ValueError(f"`vertices` lie on a line. Received: {vertices!r}")
        super().__init__(coordinates, lower, upper)
        segments = segments - self.centre
        normals = unit(across(segments))
        middles = segments.mean(axis=1)
        inwards = enclosed(segments, middles + (1e-7 * self.half) * normals)
        outward = np.where(inwards[:, None], -normals, normals)
        facets = Facets(segments, outward, self.half)
        self.interior = Simplices(trapezoids(segments), closed(facets))
        self.boundary = (facets,)

    def __str__(self):
        holes = f" with {len(self.holes)} holes" if self.holes else ""
        return f"a polygon of {len(self.vertices)} corners{holes}"


def _check_edges(segments):
    """Raise `ValueError` where two edges cross."""
    origin = segments[:1, :1]  # differences are more exact near zero
    a, b = (segments - origin)[:, 0], (segments - origin)[:, 1]

    def side(p, q, r):
        u, v = q - p, r - p
        return np.sign(u[..., 0] * v[..., 1] - u[..., 1] * v[..., 0])

    first, second = a[:, None], b[:, None]
    apart = side(first, second, a[None]) * side(first, second, b[None])
    if (cross := (apart < 0) & (apart.T < 0)).any():
        one, two = np.argwhere(cross)[0]
        raise ValueError(
            "The edges of a polygon must not cross. Received: "
            f"{segments[one].tolist()} and {segments[two].tolist()}"
        )
