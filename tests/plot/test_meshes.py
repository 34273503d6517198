import sys

import numpy as np
import pytest
import sympy as sp

import keraspinn as kp

meshio = pytest.importorskip("meshio")
X, Y, Z, T = sp.symbols("x y z t")
U = sp.Function("u")(X, Y)
HOLE = kp.geometry.Disk((0, 0), 0.5)
PLATE = kp.Problem(
    kp.geometry.Box({X: (-1, 1), Y: (-2, 2)}) - HOLE,
    {"laplace": U.diff(X, 2) + U.diff(Y, 2)},
)


def areas(mesh):
    """Return signed areas of quadrangles in the plane: positive if they turn left."""
    x, y = mesh.points[mesh.cells_dict["quad"]][..., :2].transpose(2, 0, 1)
    following = np.roll(x, -1, axis=1), np.roll(y, -1, axis=1)
    return ((x * following[1] - y * following[0]).sum(axis=1)) / 2


def test_plate_with_a_hole(trained, tmp_path):
    model, _ = trained(PLATE)
    path = tmp_path / "plate.vtu"
    kp.plot.write_mesh(path, model, {"u": U, "slope": U.diff(X)}, n=81)
    mesh = meshio.read(path)
    points = mesh.points[:, :2]
    assert np.linalg.norm(points, axis=1).min() >= 0.5 - 1e-6
    assert (areas(mesh) > 0).all()
    # Cells that the boundary cuts are left out: a strip half a cell wide.
    assert areas(mesh).sum() == pytest.approx(8 - np.pi * 0.25, rel=0.03)
    for name, expression in (("u", U), ("slope", U.diff(X))):
        expected = model.predict_expression(expression, points)
        np.testing.assert_allclose(mesh.point_data[name], expected, rtol=1e-5)


def test_three_dimensions_at_a_time(trained, tmp_path):
    v = sp.Function("v")(X, Y, Z, T)
    box = kp.geometry.Box({X: (0, 1), Y: (0, 2), Z: (0, 3)}, time={T: (0, 1)})
    model, _ = trained(kp.Problem(box, {"flow": v.diff(T) - v.diff(Z, 2)}))
    path = tmp_path / "box.vtk"
    kp.plot.write_mesh(path, model, {"v": v, "place": X + 10 * Z}, at={T: 0.5}, n=3)
    mesh = meshio.read(path)
    assert len(mesh.points) == 27 and len(mesh.cells_dict["hexahedron"]) == 8
    x, _, z = mesh.points.T
    np.testing.assert_allclose(mesh.point_data["place"], x + 10 * z, rtol=1e-5)
    edges = mesh.points[mesh.cells_dict["hexahedron"]]
    first = edges[:, [1, 3, 4]] - edges[:, :1]  # VTK's corners: right-handed
    np.testing.assert_allclose(np.linalg.det(first), 0.5 * 1.0 * 1.5)


def test_rejects_invalid_arguments(trained, tmp_path, monkeypatch):
    model, _ = trained(PLATE)
    with pytest.raises(TypeError, match=r'`expressions` must be a dict.*\{"u": u\}'):
        kp.plot.write_mesh(tmp_path / "a.vtu", model, U)
    with pytest.raises(TypeError, match="must be a scalar SymPy expression"):
        kp.plot.write_mesh(tmp_path / "a.vtu", model, {"u": "u"})
    monkeypatch.setitem(sys.modules, "meshio", None)
    with pytest.raises(ImportError, match=r"keraspinn\[mesh\]"):
        kp.plot.write_mesh(tmp_path / "a.vtu", model, {"u": U})
