from collections.abc import Mapping
from typing import SupportsFloat

import numpy as np
import sympy as sp

from keraspinn.common import PathLike, check_type
from keraspinn.geometry.files import meshio
from keraspinn.plot.fields import cut, grid_of
from keraspinn.training.model import PINNModel, check_one_model

_SQUARE = [(0, 0), (1, 0), (1, 1), (0, 1)]
_CELLS = {
    # Corners of a cell in the order of VTK, as steps along each axis.
    1: ("line", [(0,), (1,)]),
    2: ("quad", _SQUARE),
    3: ("hexahedron", [(*corner, top) for top in (0, 1) for corner in _SQUARE]),
}


def write_mesh(
    path: PathLike,
    model: PINNModel,
    expressions: Mapping[str, sp.Expr],
    at: Mapping[sp.Symbol, SupportsFloat] | None = None,
    n: int = 100,
) -> None:
    """Write expressions in the fields to a file for ParaView and similar programs.

    The cells are those of a grid inside the domain: curved boundaries have steps of the
    grid's spacing.

    Args:
        path: The file. Its suffix selects the format, `.vtu` for instance, among those
            of `meshio`.
        model: A `PINNModel`.
        expressions: Dict from names to SymPy expressions in the problem's fields,
            coordinates and parameters.
        at: Dict from coordinates to values in the problem's units, such as
            `{t: 0.5}`: where to cut the domain. One to three coordinates must remain,
            which are the file's x, y and z.
        n: Number of points per side of the grid, at least 2.

    Raises:
        ImportError: If `meshio` is not installed.
        TypeError: If an argument has another type.
        ValueError: If `at` does not leave one to three coordinates, or no cell of the
            grid is inside the domain.

    Example:

    ```python
    keraspinn.plot.write_mesh("plate.vtu", model, {"u": u, "flux": u.diff(x)})
    ```
    """
    check_one_model(model)
    expected = 'a dict, such as {"u": u}'
    check_type("expressions", expressions, dict, expected, is_filled=True)
    write = meshio().write_points_cells
    domain = model.problem.domain
    axes, points, there = grid_of(domain, cut(domain, at, most=3), n)
    kind, cells = _cells(there.reshape((n,) * len(axes)))
    used, cells = np.unique(cells, return_inverse=True)
    points = points[used]
    columns = [domain.coordinates.index(symbol) for symbol in axes]
    positions = np.zeros((len(points), 3))
    positions[:, : len(columns)] = points[:, columns]
    values = model.predict_expression([*expressions.values()], points)
    data = dict(zip(expressions, np.asarray(values, "float64"), strict=True))
    write(path, positions, [(kind, cells.reshape(-1, 2 ** len(axes)))], point_data=data)


def _cells(there):
    """Return type and corners of the cells with all corners inside, `(m, 2**k)`."""
    kind, corners = _CELLS[there.ndim]
    number = np.arange(there.size).reshape(there.shape)
    slices = [tuple(slice(k, k - 1 or None) for k in corner) for corner in corners]
    whole = np.all([there[corner] for corner in slices], axis=0)
    return kind, np.stack([number[corner][whole] for corner in slices], axis=-1)
