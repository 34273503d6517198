from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from keraspinn.common import PathLike, point_array
from keraspinn.geometry.base import Geometry
from keraspinn.geometry.box import Slice
from keraspinn.geometry.checks import Symbols
from keraspinn.geometry.enclosed import closed
from keraspinn.geometry.files import meshio
from keraspinn.geometry.rejection import portion
from keraspinn.geometry.simplices import Facets, across, unit


class Polyhedron(Geometry):
    """Region enclosed by a surface of triangles, such as that of an STL file.

    Args:
        vertices: Its corners, `(n, 3)`, in the user's units.
        faces: Three corners for each triangle, as rows of `vertices`, `(k, 3)`, all
            with the same orientation.
        coordinates: Its three symbols. Leave them out if it is combined with a
            domain that has them.

    Raises:
        ValueError: If the surface is not closed, or orientations differ.

    Example:

    >>> x, y, z = sp.symbols("x y z")
    >>> corners = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    >>> faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    >>> tetrahedron = keraspinn.geometry.Polyhedron(corners, faces, (x, y, z))
    >>> round(tetrahedron.measure(tetrahedron.interior), 6)
    0.166667
    """

    def __init__(
        self, vertices: ArrayLike, faces: ArrayLike, coordinates: Symbols = None
    ) -> None:
        self.vertices = point_array("vertices", vertices, columns=3, least=4)
        self.triangles = self._faces = np.asarray(faces)
        _check_closed(self.triangles)
        lower, upper = self.vertices.min(axis=0), self.vertices.max(axis=0)
        super().__init__(coordinates, lower, upper)
        corners = (self.vertices - self.centre)[self.triangles]
        normals = across(corners)
        volume = float(np.sum(normals * corners[:, 0]) / 6)
        surface = Facets(corners, unit(normals * np.sign(volume)), self.half)
        block = Slice(tuple(self.half.tolist()), (), 3, "the interior")
        self.interior = portion(self, self, block, closed(surface), size=abs(volume))
        self.boundary = (surface,)

    @classmethod
    def read(
        cls, path: PathLike, coordinates: Symbols = None, scale: float = 1.0
    ) -> Self:
        """Read a closed surface from a file that `meshio` supports, such as STL.

        Args:
            path: The file's path.
            coordinates: The symbols, as above.
            scale: Factor for the file's lengths, 1e-3 for millimetres.

        Raises:
            ImportError: If `meshio` is not installed.
        """
        mesh = meshio().read(path)
        # STL repeats the corners for every triangle.
        points, same = np.unique(mesh.points, axis=0, return_inverse=True)
        faces = same.ravel()[mesh.cells_dict["triangle"]]
        return cls(points * scale, faces, coordinates)

    def __str__(self):
        return f"a polyhedron of {len(self.triangles)} triangles"


def _check_closed(faces):
    """Raise `ValueError` unless each edge joins two faces of the same orientation."""
    ends = np.roll(faces, -1, axis=1)
    edges = [*zip(faces.ravel().tolist(), ends.ravel().tolist(), strict=True)]
    if len(set(edges)) < len(edges) or {(b, a) for a, b in edges} != set(edges):
        alone = next(((a, b) for a, b in edges if (b, a) not in set(edges)), None)
        fault = f"the edge {alone} has one" if alone else "some are turned otherwise"
        raise ValueError(
            "The faces of a polyhedron must close it: two for each edge, turned the "
            f"same way. Received faces of which {fault}."
        )
