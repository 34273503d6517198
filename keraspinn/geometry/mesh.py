from collections.abc import Mapping
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from keraspinn.common import PathLike, point_array
from keraspinn.geometry.base import Geometry
from keraspinn.geometry.checks import Symbols
from keraspinn.geometry.enclosed import closed
from keraspinn.geometry.files import meshio
from keraspinn.geometry.simplices import Facets, Simplices, across, unit


class Mesh(Geometry):
    """Mesh of triangles in the plane, or of tetrahedra in space.

    Args:
        points: The nodes, `(n, 2)` or `(n, 3)`, in the user's units.
        cells: Three nodes for each triangle, or four for each tetrahedron, as rows
            of `points`: `(k, 3)` or `(k, 4)`.
        named: Optional dict from names, for `on=`, to facets of the boundary, two
            nodes each in the plane and three in space.
        coordinates: Its symbols. Leave them out if it is combined with a domain that
            has them.

    Raises:
        ValueError: If cells contain no nodes, or a named facet is not on the boundary.

    Example:

    >>> x, y = sp.symbols("x y")
    >>> square = [(0, 0), (1, 0), (1, 1), (0, 1)]
    >>> mesh = keraspinn.geometry.Mesh(
    ...     square, [(0, 1, 2), (0, 2, 3)], named={"base": [(0, 1)]}, coordinates=(x, y)
    ... )
    >>> ((base,),) = mesh.blocks("base")
    >>> mesh.measure(mesh.interior), mesh.measure(base)
    (1.0, 1.0)
    """

    def __init__(
        self,
        points: ArrayLike,
        cells: ArrayLike,
        named: Mapping[str, ArrayLike] | None = None,
        coordinates: Symbols = None,
    ) -> None:
        self.points = point_array("points", points, least=3)
        dimension = self.points.shape[1]
        self.cells = self._nodes("cells", cells, dimension + 1)
        pairs = (named or {}).items()
        self._named = {n: self._nodes(f"named['{n}']", f, dimension) for n, f in pairs}
        used = self.points[np.unique(self.cells)]
        super().__init__(coordinates, used.min(axis=0), used.max(axis=0))
        relative = self.points - self.centre
        nodes, opposite = _outer_facets(self.cells)
        facing, normals = _outward(relative[nodes], relative[opposite])
        edges = Facets(facing, normals, self.half)
        self.interior = Simplices(relative[self.cells], closed(edges))
        self.boundary = (edges,)
        rows_of = {frozenset(facet): row for row, facet in enumerate(nodes.tolist())}
        for name, facets in self._named.items():
            rows = [rows_of.get(frozenset(facet)) for facet in facets.tolist()]
            if None in rows:
                raise ValueError(
                    f"Every facet of '{name}' must be on the mesh's boundary. "
                    f"Received: {facets[rows.index(None)].tolist()}"
                )
            self.named[name] = (edges.only(np.array(rows), name),)

    @classmethod
    def read(
        cls, path: PathLike, coordinates: Symbols = None, scale: float = 1.0
    ) -> Self:
        """Read a mesh from a file that `meshio` supports: gmsh, VTK, and others.

        Physical groups of gmsh become named parts.

        Args:
            path: The file's path.
            coordinates: The symbols, as above.
            scale: Factor for the file's lengths, 1e-3 for millimetres.

        Raises:
            ImportError: If `meshio` is not installed.
            ValueError: If the file holds neither triangles in the plane nor tetrahedra.
        """
        mesh = meshio().read(path)
        dimension = 3 if "tetra" in mesh.cells_dict else 2
        kinds = {2: ("triangle", "line"), 3: ("tetra", "triangle")}[dimension]
        if kinds[0] not in mesh.cells_dict:
            raise ValueError(
                f"{path} holds neither triangles nor tetrahedra. Received: "
                f"{list(mesh.cells_dict)}"
            )
        facets = mesh.cells_dict.get(kinds[1], np.zeros((0, dimension)))
        tags = mesh.cell_data_dict.get("gmsh:physical", {}).get(kinds[1])
        groups = {} if tags is None else mesh.field_data
        pairs = [(name, tag) for name, (tag, d) in groups.items() if d == dimension - 1]
        named = {name: facets[tags == tag] for name, tag in pairs}
        points = mesh.points * scale
        depth = points[:, dimension:]  # empty for a solid, or points in the plane
        if depth.size and np.ptp(depth) > 1e-9 * np.ptp(points):
            raise ValueError(
                f"{path} holds triangles in space; those of a Mesh lie in one plane, z "
                "= constant. Read a closed surface by Polyhedron.read(path)."
            )
        return cls(points[:, :dimension], mesh.cells_dict[kinds[0]], named, coordinates)

    def _nodes(self, name, rows, columns):
        array = np.asarray(rows)
        most = len(self.points) - 1
        whole = array.ndim == 2 and array.dtype.kind in "iu" and array.size
        fits = whole and array.shape[1] == columns
        if not fits or array.min() < 0 or array.max() > most:
            raise ValueError(
                f"`{name}` must be rows of {columns} nodes, numbers from 0 to {most}, "
                f"(k, {columns}). Received: {array.dtype} of shape {array.shape}"
            )
        return array.astype("int64")

    def __str__(self):
        return f"a mesh of {len(self.cells)} cells"


def _outer_facets(cells):
    """Return the facets that belong to a single cell, and the node opposite to each."""
    width = cells.shape[1]
    facets = np.concatenate([np.delete(cells, k, axis=1) for k in range(width)])
    opposite = np.concatenate([cells[:, k] for k in range(width)])
    nodes = np.sort(facets, axis=1)
    _, first, count = np.unique(nodes, axis=0, return_index=True, return_counts=True)
    outer = first[count == 1]
    return facets[outer], opposite[outer]


def _outward(corners, opposite):
    """Return facets, counter-clockwise as seen from outside, and outward normals."""
    normals = across(corners)
    side = np.sum(normals * (opposite - corners[:, 0]), axis=-1, keepdims=True)
    if corners.shape[-1] == 3:  # segments may have any orientation
        corners = np.where(side[:, None] > 0, corners[:, ::-1], corners)
    return corners, -np.sign(side) * unit(normals)
