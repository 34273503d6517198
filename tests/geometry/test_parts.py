"""Tests for single geometries."""

import warnings

import numpy as np
import pytest
import sympy as sp
from keras import ops
from scipy import special, stats

from drawing import drawn, uniform_in
from keraspinn import geometry as g

X, Y, Z, T = sp.symbols("x y z t")
XY = (X, Y)
SQUARE = g.Box({X: (-1, 1), Y: (-1, 1)})
HOLE = g.Disk(center=(0.2, 0), radius=0.5)


def even(counts, expected):
    expected = np.array(expected) / np.sum(expected) * np.sum(counts)
    return stats.chisquare(counts, expected).pvalue > 1e-3


# Uniform sampling of boundaries


def test_a_sphere_s_coordinates_are_uniform():
    ball = g.Ball((1, 2, 3), 2, sp.symbols("x y z"))
    for column in drawn(ball, ball.boundary[0]).T:
        assert uniform_in(column, -2, 2)


def test_hyperspheres_are_sampled_uniformly():
    ball = g.Ball((0,) * 5, 1, sp.symbols("x:5"))
    points = drawn(ball, ball.boundary[0])
    octants = (points > 0) @ 2 ** np.arange(5)
    assert even(np.bincount(octants), np.ones(32))
    tensor = ops.convert_to_tensor(np.random.default_rng(0).random((20_000, 5)))
    np.testing.assert_allclose(
        ops.convert_to_numpy(ball.sample(ball.boundary[0], tensor)), points, atol=1e-5
    )


def test_an_ellipse_is_sampled_by_length():
    ellipse = g.Ellipse((0, 0), (3, 1), XY)
    x, y = drawn(ellipse, ellipse.boundary[0]).T
    angle = np.arctan2(y, x / 3) % (2 * np.pi)
    # Length from the tip of the short axis, by Legendre's integral.
    length = 3 * special.ellipeinc(np.linspace(0, 2 * np.pi, 17), 1 - 1 / 9)
    bins = (angle + np.pi / 2) % (2 * np.pi)
    counts, _ = np.histogram(bins, np.linspace(0, 2 * np.pi, 17))
    quarter = np.diff(length)
    assert even(counts, quarter)
    assert ellipse.measure(ellipse.boundary[0]) == pytest.approx(length[-1])


def test_arcs_and_edges_of_a_sector_are_sampled_uniformly():
    sector = g.Sector((1, 1), 2, (0.5, 2.0), 1, XY)
    assert list(sector.named) == ["outer", "inner", "start", "end"]
    for name, ((part,),) in ((n, sector.blocks(n)) for n in sector.named):
        x, y = (drawn(sector, part) + sector.centre - 1).T
        if name in ("outer", "inner"):
            assert uniform_in(np.arctan2(y, x), 0.5, 2.0)
        else:
            assert uniform_in(np.hypot(x, y), 1, 2)
            angle = {"start": 0.5, "end": 2.0}[name]
            np.testing.assert_allclose(np.arctan2(y, x), angle)


def test_edges_of_a_polygon_are_sampled_by_length():
    polygon = g.Polygon([(0, 0), (3, 0), (0, 4)], coordinates=XY)
    (edges,) = polygon.boundary
    counts = [piece.contains(drawn(polygon, edges)).sum() for piece in edges.pieces()]
    lengths = [piece.measure() for piece in edges.pieces()]
    assert sorted(lengths) == pytest.approx([3, 4, 5]) and even(counts, lengths)


# Products and time


def test_time_is_a_factor():
    domain = (SQUARE - HOLE) * g.Box(time={T: (5, 7)})
    assert domain.coordinates == (X, Y, T) and domain.time_coordinate == T
    assert [symbol.name for symbol in domain.normal] == ["n_x", "n_y"]
    start = drawn(domain, domain.initial, 50) + domain.centre
    assert (start[:, 2] == 5).all()
    assert domain.contains(domain.interior, start - domain.centre).all()
    ((rim,),) = domain.blocks(HOLE)
    assert domain.measure(rim) == pytest.approx(2 * np.pi)
    ((moment,),) = domain.blocks({T: 7})
    assert domain.measure(moment) == pytest.approx(4 - np.pi / 4, rel=1e-3)
    ((edge,),) = domain.blocks({X: 1, T: 5})
    assert str(edge) == "x = 1, t = 5"
    with pytest.raises(ValueError, match="no normal on"):
        domain.normals(domain.initial, start)


def test_a_box_with_time_is_cut_at_all_times():
    box = g.Box({X: (-1, 1), Y: (-1, 1)}, time={T: (5, 7)})
    cut = box - HOLE
    assert cut.coordinates == (X, Y, T) and len(cut.boundary) == 5
    assert str(cut.blocks("initial")[0][0]) == "t = 5"


def test_a_cylinder_through_a_block():
    block = g.Box({X: (-1, 1), Y: (-1, 1), Z: (0, 3)})
    bored = block - HOLE
    assert bored.measure(bored.interior) == pytest.approx(12 - 0.75 * np.pi)
    ((wall,),) = bored.blocks(HOLE)
    normals = bored.normals(wall, drawn(bored, wall, 10))
    assert normals.shape == (10, 3) and (normals[:, 2] == 0).all()


def test_parameters_beside_a_shape():
    domain = g.Disk((0, 0), 1, XY) * g.Box(time={T: (0, 1)}, parameters={Z: (10, 100)})
    assert domain.coordinates == (X, Y, Z, T)
    assert domain.space_coordinates == XY and len(domain.boundary) == 1


# Distances: zero on the part, positive elsewhere in the domain


DISTANCES = {
    "disk": lambda: g.Disk((1, 2), 0.5, XY),
    "ellipse": lambda: g.Ellipse((3, 4), (2, 1), XY),
    "quarter": lambda: g.Sector((1, 0), 2, (0, np.pi / 2), 1, XY),
    "triangle": lambda: g.Polygon([(0, 0), (3e-6, 0), (0, 4e-6)], coordinates=XY),
    "L": lambda: g.Polygon(
        [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)], coordinates=XY
    ),
    "plate": lambda: SQUARE - HOLE,
    "half": lambda: g.Disk((0, 0), 1) & g.Box({X: (0, 2), Y: (-2, 2)}),
    "cylinder": lambda: g.Disk((0, 0), 1, XY) * g.Box({Z: (0, 5)}),
    "square hole": lambda: (
        SQUARE - g.Polygon([(-0.5, -0.5), (0.5, -0.5), (0.5, 0.5), (-0.5, 0.5)])
    ),
}


@pytest.mark.parametrize("name", DISTANCES)
def test_distances_are_zero_on_the_part_only(name):
    domain = DISTANCES[name]()
    for block in ((part,) for part in domain.boundary):
        value = sp.lambdify(domain.coordinates, domain.distance(block), "numpy")
        inside = drawn(domain, domain.interior, 2000) + domain.centre
        values = value(*inside.T)
        assert (values > 0).all() and 0.05 < values.max() < 4
        on_part = value(*(drawn(domain, block[0], 200) + domain.centre).T)
        np.testing.assert_allclose(on_part, 0, atol=1e-6)
    distance = sp.lambdify(
        domain.coordinates, domain.distance(domain.boundary), "numpy"
    )
    assert (distance(*inside.T) > 0).all()


@pytest.mark.parametrize(
    "domain",
    [
        SQUARE + g.Disk((1, 0), 0.5),
        SQUARE - g.Box({X: (0, 2), Y: (0, 2)}),
        g.Sector((0, 0), 1, (0, 4), coordinates=XY),
    ],
    ids=["sum", "box in a box", "reentrant sector"],
)
def test_rejects_parts_without_a_smooth_distance(domain):
    with pytest.raises(ValueError, match=r"one Polygon.*one by one.*`hard=True`"):
        domain.distance(domain.boundary)


@pytest.mark.parametrize(
    "box, hole",
    [
        (SQUARE, g.Disk((0.2, 0.1), 0.1)),
        (g.Box(dict.fromkeys((X, Y, Z), (-1, 1))), g.Ball((0.2, 0.1, 0), 0.1)),
    ],
)
def test_the_distance_to_a_hole_is_harmonic(box, hole):
    ((rim,),) = (box - hole).blocks(hole)
    distance = (box - hole).distance(rim)
    assert sp.simplify(sum(distance.diff(s, 2) for s in box.coordinates)) == 0


# Meshes and clouds


def test_named_parts_of_a_mesh():
    points = [(0, 0), (1, 0), (1, 1), (0, 1)]
    mesh = g.Mesh(points, [(0, 1, 2), (0, 2, 3)], {"top": [(3, 2)]}, XY)
    ((top,),) = mesh.blocks("top")
    assert (drawn(mesh, top, 20)[:, 1] == 0.5).all() and str(top) == "top"
    assert '"top"' in mesh.advice()


@pytest.mark.parametrize("kind", ["gmsh", "vtk"])
def test_reads_meshes(tmp_path, kind):
    meshio = pytest.importorskip("meshio")
    points = np.array([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], "float64")
    cells = [("triangle", [(0, 1, 2), (0, 2, 3)]), ("line", [(0, 1)])]
    tags = [np.array([1, 1]), np.array([2])]
    data = {"gmsh:physical": tags, "gmsh:geometrical": tags}
    named = {"base": np.array([2, 1]), "all": np.array([1, 2])}
    mesh = meshio.Mesh(
        points,
        cells,
        cell_data=data if kind == "gmsh" else None,
        field_data=named if kind == "gmsh" else None,
    )
    path = tmp_path / ("mesh.msh" if kind == "gmsh" else "mesh.vtk")
    meshio.write(path, mesh, **({"file_format": "gmsh22"} if kind == "gmsh" else {}))
    read = g.Mesh.read(path, XY, scale=1e-3)
    assert read.measure(read.interior) == pytest.approx(1e-6)
    if kind == "gmsh":
        ((base,),) = read.blocks("base")
        assert read.measure(base) == pytest.approx(1e-3)


def test_reads_a_solid(tmp_path):
    meshio = pytest.importorskip("meshio")
    corners = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], "float64")
    solid = meshio.Mesh(corners, [("tetra", [(0, 1, 2, 3)])])
    meshio.write(tmp_path / "t.vtk", solid)
    read = g.Mesh.read(tmp_path / "t.vtk", (X, Y, Z))
    assert read.measure(read.interior) == pytest.approx(1 / 6)


def test_reads_a_surface(tmp_path):
    meshio = pytest.importorskip("meshio")
    corners = np.array([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], "float64")
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    meshio.write(tmp_path / "t.stl", meshio.Mesh(corners, [("triangle", faces)]))
    solid = g.Polyhedron.read(tmp_path / "t.stl", (X, Y, Z))
    assert solid.measure(solid.interior) == pytest.approx(1 / 6)
    with pytest.raises(ValueError, match=r"triangles in space.*Polyhedron\.read"):
        g.Mesh.read(tmp_path / "t.stl", XY)


def test_point_cloud():
    rng = np.random.default_rng(0)
    inside = rng.random((500, 2))
    wall = np.stack([np.zeros(20), np.linspace(0, 1, 20)], axis=-1)
    end = np.stack([np.ones(20), np.linspace(0, 1, 20)], axis=-1)
    cloud = g.PointCloud(
        inside, {"wall": (wall, -2 * np.eye(2)[np.zeros(20, int)]), "end": end}, XY
    )
    points = drawn(cloud, cloud.interior, 100) + cloud.centre
    assert all((np.abs(inside - point) < 1e-12).all(axis=1).any() for point in points)
    ((part,),) = cloud.blocks("wall")
    on_wall = drawn(cloud, part, 10)
    assert cloud.contains(part, on_wall).all()
    assert cloud.normals(part, on_wall).tolist() == [[-1, 0]] * 10
    ((bare,),) = cloud.blocks("end")
    with pytest.raises(ValueError, match="no normal on end"):
        cloud.normals(bare, on_wall)
    again = type(cloud).from_config(cloud.get_config())
    np.testing.assert_array_equal(again.points, cloud.points)
    np.testing.assert_array_equal(again.sets["wall"][1], cloud.sets["wall"][1])


# Invalid arguments


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: g.Disk((0, 0), -1), ValueError, "`radius` must be a positive"),
        (lambda: g.Disk((0, 0, 0), 1), ValueError, "`center` must be 2 finite"),
        (lambda: g.Ball((0,), 1), ValueError, "two or more finite numbers"),
        (lambda: g.Disk((0, 0), 1, (X, X)), ValueError, "2 different symbols"),
        (lambda: g.Disk((0, 0), 1, ("x", "y")), TypeError, "must be a SymPy symbol"),
        (lambda: g.Disk((0, 0), 1).coordinates, ValueError, "has no coordinates"),
        (lambda: g.Ellipse((0, 0), (1, 0)), ValueError, "`axes` must be a positive"),
        (lambda: g.Ellipse((0, 0), 1, 2), ValueError, "`axes` must be 2 finite"),
        (lambda: g.Annulus((0, 0), 2, 1), ValueError, "center, inner, outer in this"),
        (lambda: g.Sector((0, 0), 1, (0, 7)), ValueError, "at most one turn apart"),
        (lambda: g.Polygon([(0, 0), (1, 1)]), ValueError, "at least 3"),
        (
            lambda: g.Polygon([(0, 0), (1, 1), (1, 0), (0, 1)]),
            ValueError,
            "must not cross",
        ),
        (lambda: g.Polygon([(0, 0), (1, 1), (2, 2)]), ValueError, "on a line"),
        (lambda: SQUARE - g.Box({X: (-2, 2), Y: (-2, 2)}), ValueError, "is left"),
        (lambda: SQUARE & g.Disk((5, 5), 1), ValueError, "Nothing is left"),
        (lambda: (SQUARE - HOLE) & g.Box({X: (0, 1)}), ValueError, "not a product"),
        (
            lambda: SQUARE - g.Box({Z: (0, 1)}),
            ValueError,
            "same coordinates of space, in",
        ),
        (lambda: SQUARE - 1, TypeError, "unsupported operand"),
        (lambda: SQUARE * SQUARE, ValueError, "must have different coordinates"),
        (
            lambda: g.Polyhedron(np.eye(4, 3), [(0, 1, 2), (0, 2, 3)]),
            ValueError,
            "must close it",
        ),
        (lambda: g.Mesh(np.eye(3, 2), [(0, 1, 3)]), ValueError, "from 0 to 2"),
        (
            lambda: g.Mesh(np.eye(3, 2), [(0, 1, 2)], {"a": [(1, 1)]}),
            ValueError,
            "on the mesh's boundary",
        ),
        (
            lambda: g.PointCloud(np.eye(2), {"a": (np.eye(2), np.zeros((2, 2)))}),
            ValueError,
            "needs one normal",
        ),
    ],
)
def test_rejects_invalid_arguments(build, error, message):
    with pytest.raises(error, match=message):
        build()


def test_warns_if_a_hole_misses_its_plate():
    """Test millimetres combined with metres."""
    plate = g.Box({X: (0, 1), Y: (0, 1)})
    with pytest.warns(UserWarning, match="takes nothing.*same units"):
        plate - g.Disk((500, 300), 100)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plate - g.Disk((500, 0.5), 499.5)
        plate - g.Disk((0.5, 0.5), 1e-4)
