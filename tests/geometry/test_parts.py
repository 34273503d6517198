"""What is particular to one geometry."""

import operator

import keras
import numpy as np
import pytest
import sympy as sp
from keras import ops
from scipy import special, stats

from keraspinn import geometry as g

X, Y, Z, T = sp.symbols("x y z t")
XY = (X, Y)
SQUARE = g.Box({X: (-1, 1), Y: (-1, 1)})
HOLE = g.Disk(center=(0.2, 0), radius=0.5)


def drawn(domain, part, count=20_000, seed=0):
    uniform = np.random.default_rng(seed).random((count, domain.draws(part)))
    return domain.sample(part, uniform)


def uniform_in(values, start, end):
    return stats.kstest(values, "uniform", (start, end - start)).pvalue > 1e-3


def even(counts, expected):
    expected = np.array(expected) / np.sum(expected) * np.sum(counts)
    return stats.chisquare(counts, expected).pvalue > 1e-3


# Even boundaries


def test_a_sphere_s_coordinates_are_uniform():
    ball = g.Ball((1, 2, 3), 2, sp.symbols("x y z"))
    for column in drawn(ball, ball.boundary[0]).T:
        assert uniform_in(column, -2, 2)


def test_spheres_of_more_dimensions_are_even():
    ball = g.Ball((0,) * 5, 1, sp.symbols("x:5"))
    points = drawn(ball, ball.boundary[0])
    octants = (points > 0) @ 2 ** np.arange(5)
    assert even(np.bincount(octants), np.ones(32))
    tensor = ops.convert_to_tensor(np.random.default_rng(0).random((20_000, 5)))
    np.testing.assert_allclose(
        ops.convert_to_numpy(ball.sample(ball.boundary[0], tensor)), points, atol=1e-5
    )


def test_an_ellipse_is_drawn_by_length():
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


def test_arcs_and_edges_of_a_sector_are_even():
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


def test_edges_of_a_polygon_are_drawn_by_length():
    polygon = g.Polygon([(0, 0), (3, 0), (0, 4)], coordinates=XY)
    (edges,) = polygon.boundary
    counts = [piece.contains(drawn(polygon, edges)).sum() for piece in edges.pieces()]
    lengths = [piece.measure() for piece in edges.pieces()]
    assert sorted(lengths) == pytest.approx([3, 4, 5]) and even(counts, lengths)


# Where


def test_faces_of_polygons_by_value():
    corner = g.Polygon([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)], (), XY)
    for on, length in (({X: 0}, 2), ({X: 1}, 1), ({X: 2}, 1), ({Y: 1}, 1)):
        ((part,),) = corner.blocks(on)
        assert corner.measure(part) == pytest.approx(length)
        ((symbol, value),) = on.items()
        points = drawn(corner, part, 100) + corner.centre
        np.testing.assert_allclose(points[:, XY.index(symbol)], value)
    with pytest.raises(ValueError, match="names a part twice"):
        corner.blocks([{X: 0}, {X: 0.0}])
    with pytest.raises(ValueError, match=r"Received \{x: 3\}"):
        corner.blocks({X: 3})
    with pytest.raises(
        ValueError, match=r"is a number, \{x: 0.5\}. Received: \{x: y\}"
    ):
        corner.blocks({X: Y})


def test_on_a_hole():
    plate = SQUARE - HOLE
    ((rim,),) = plate.blocks(HOLE)
    assert rim is plate.boundary[-1] and str(rim) == "the circle"
    points = drawn(plate, rim, 100)
    middle = np.array([0.2, 0])
    np.testing.assert_allclose(np.linalg.norm(points - middle, axis=1), 0.5)
    np.testing.assert_allclose(plate.normals(rim, points), (middle - points) / 0.5)
    assert plate.blocks("boundary")[0][:4] == SQUARE.boundary
    assert plate.blocks({X: -1}) == SQUARE.blocks({X: -1})


def test_on_a_geometry_that_cuts_faces():
    ((corner, other),) = SQUARE.blocks(g.Disk((1, 1), 0.5))
    assert SQUARE.measure(corner) == pytest.approx(0.5, rel=1e-3)
    points = drawn(SQUARE, corner, 500)
    assert (points[:, 0] == 1).all() and uniform_in(points[:, 1], 0.5, 1)
    assert "x = 1 on Disk((1, 1), 0.5)" == str(corner) and other != corner
    with pytest.raises(ValueError, match="No part of the domain's boundary"):
        SQUARE.blocks(g.Disk((0, 0), 0.5))
    with pytest.raises(ValueError, match=r"Received: .* in \['z'\]"):
        SQUARE.blocks(g.Disk((0, 0), 0.5, (X, Z)))


OUTER, INNER = g.Disk((0, 0), 5, XY), g.Disk((1, 0), 1)
RING = OUTER - INNER
ROD = OUTER * g.Box({Z: (0, 1)})
BAR_IN_TIME = g.Box({X: (-1, 1), Y: (-1, 1)}, time={T: (0, 3)})
STRIP = g.Box({X: (0, 100), Y: (0, 1)})


@pytest.mark.parametrize(
    ("domain", "on", "length"),
    [
        (RING, OUTER, 10 * np.pi),  # and not the inner rim, which lies in it
        (RING, g.Disk((0, 0), 5), 10 * np.pi),
        (RING, INNER, 2 * np.pi),
        (RING, g.Disk((0, 0), 6), 12 * np.pi),  # of no operand: all that lies in it
        (RING * g.Box(time={T: (0, 3)}), OUTER, 30 * np.pi),
        (OUTER - (INNER + g.Disk((-3, 0), 1)), INNER, 2 * np.pi),
        (OUTER & g.Box({X: (0, 9), Y: (-9, 9)}), OUTER, 5 * np.pi),
        (OUTER & g.Box({X: (0, 9), Y: (-9, 9)}), g.Box({X: (0, 9), Y: (-9, 9)}), 10),
        (BAR_IN_TIME - g.Disk((0, 0), 0.5), BAR_IN_TIME, 24),
        ((ROD - INNER) - g.Disk((-3, 0), 1), ROD, (10 + 2 * (25 - 2)) * np.pi),
        (STRIP + g.Box({X: (9, 9.3), Y: (0, 5)}), g.Box({X: (9, 9.3), Y: (0, 5)}), 8.6),
        (g.Box({Z: (0, 2)}) * OUTER, g.Disk((0, 0), 5), 20 * np.pi),
        (ROD, OUTER, 10 * np.pi),
        (ROD, g.Ball((0, 0, 0), 9), 60 * np.pi),  # of no operand, and larger
    ],
    ids=str,
)
def test_on_what_a_domain_is_made_of(domain, on, length):
    (block,) = domain.blocks(on)
    assert sum(map(domain.measure, block)) == pytest.approx(length, rel=1e-2)


@pytest.mark.parametrize(
    ("domain", "on", "length"),
    [
        (OUTER, {X: 3}, 8),
        (OUTER + g.Box({X: (0, 9), Y: (-1, 1)}), {X: 3}, 8),
        (OUTER - INNER, {X: 1}, 2 * np.sqrt(24) - 2),
        (OUTER * g.Box({Z: (0, 2)}), {X: 3}, 16),
        (g.Ball((0, 0, 0), 5, (X, Y, Z)), {Z: -3}, 16 * np.pi),
        (g.Ball((0, 0, 0), 5, (X, Y, Z)), {Z: -3, X: 0}, 8),
        (g.Polygon([(0, 0), (2, 0), (0, 2)], coordinates=XY), {Y: 0.5}, 1.5),
    ],
    ids=str,
)
def test_inner_faces(domain, on, length):
    ((face,),) = domain.blocks(on)
    assert domain.measure(face) == pytest.approx(length, rel=2e-3)
    points = drawn(domain, face, 100)
    assert domain.contains(domain.interior, points).all()
    for symbol, value in on.items():
        column = domain.coordinates.index(symbol)
        np.testing.assert_allclose(points[:, column] + domain.centre[column], value)


@pytest.mark.parametrize(
    ("domain", "value"), [(OUTER, 6), (g.PointCloud(np.eye(2), {}, XY), 0.5)], ids=str
)
def test_no_inner_face_where_a_shape_is_missed_or_not_known(domain, value):
    with pytest.raises(ValueError, match="must be a part of the domain"):
        domain.blocks({X: value})


@pytest.mark.parametrize(
    ("on", "said"), [({X: 2}, "x goes from -1 to 1"), ({Z: 0}, "no coordinate z")]
)
@pytest.mark.parametrize("time", [None, g.Box(time={T: (0, 3)})])
def test_values_outside_of_a_disk(on, said, time):
    disk = g.Disk((0, 0), 1, XY)
    with pytest.raises(ValueError, match=said):
        (disk * time if time else disk).blocks(on)


@pytest.mark.parametrize("hole", [g.Disk((0, 0), 0.3), g.Disk((0, 0), 0.3, XY)])
def test_a_hole_before_time_and_after(hole):
    disk, time = g.Disk((0, 0), 1, XY), g.Box(time={T: (0, 3)})
    after, before = disk * time - hole, (disk - hole) * time
    one, other = map(keras.saving.serialize_keras_object, (after, before))
    assert one == other
    assert after.measure(after.interior) == pytest.approx(0.91 * np.pi * 3, rel=1e-3)


@pytest.mark.parametrize("combine", [operator.sub, operator.add, operator.and_])
def test_time_in_what_is_combined(combine):
    disk, hole = g.Disk((0, 0), 1, XY), g.Disk((0, 0), 0.3, XY)
    time = g.Box(time={T: (0, 3)})
    for first in disk, disk * time:
        with pytest.raises(ValueError, match=r"Write \(shape . other\) \* time"):
            combine(first, hole * time)


def test_holes_that_are_too_small_to_be_met_by_chance():
    wells = [g.Disk((x, 30), 0.05) for x in (30, 70)]
    aquifer = g.Box({X: (0, 100), Y: (0, 60)}) - wells[0] - wells[1]
    for well in wells:
        (block,) = aquifer.blocks(well)
        assert sum(map(aquifer.measure, block)) == pytest.approx(0.1 * np.pi)
        middle = well.centre - aquifer.centre
        assert not aquifer.contains(aquifer.interior, middle[None])[0]


def test_on_a_mesh_with_a_hole():
    corners = np.array([(0.0, 0), (1, 0), (1, 1), (0, 1)])
    mesh = g.Mesh(corners, [(0, 1, 2), (0, 2, 3)], coordinates=XY)
    plate = mesh - g.Disk((0.5, 0.5), 0.2)
    (block,) = plate.blocks(mesh)
    assert sum(map(plate.measure, block)) == pytest.approx(4)
    again = g.Mesh(corners, [(0, 1, 2), (0, 2, 3)], coordinates=XY)
    assert plate.blocks(again) == (block,)


def test_where_restricts():
    where = (Y > 0) & (Y < 0.5)
    ((part,),) = SQUARE.blocks({X: 1}, where=where)
    assert SQUARE.measure(part) == pytest.approx(0.5, rel=1e-3)
    assert uniform_in(drawn(SQUARE, part, 2000)[:, 1], 0, 0.5)
    assert str(part) == f"x = 1 where {where}"
    points = np.array([[1, 0.25], [1, 0.75], [0.5, 0.25]])
    for kind in (np.asarray, ops.convert_to_tensor):
        on_part = SQUARE.contains(part, kind(points))
        assert np.asarray(on_part).tolist() == [True, False, False]
    assert SQUARE.normals(part, points)[0].tolist() == [1, 0]
    assert len(SQUARE.blocks("boundary", where=X > -0.5)[0]) == 3
    with pytest.raises(ValueError, match="No smooth function"):
        SQUARE.distance(part)


def test_where_on_the_interior_and_on_pools():
    plate = SQUARE - HOLE
    ((right,),) = plate.blocks("interior", where=X > 0)
    points = drawn(plate, right)
    assert (points[:, 0] > 0).all() and plate.contains(plate.interior, points).all()
    # As many different ones as chance leaves of picks from a pool of 32,768.
    distinct = len(np.unique(points[:5000], axis=0))
    assert distinct > 0.9 * 5000


@pytest.mark.parametrize(
    ("where", "error", "message"),
    [
        (X > 2, ValueError, "No point of x = 1 fulfils where=x > 2"),
        (Z > 0, ValueError, r"holds \['z'\]"),
        (X, TypeError, "such as x > 0"),
        (True, TypeError, "such as x > 0"),
    ],
)
def test_where_refuses(where, error, message):
    with pytest.raises(error, match=message):
        SQUARE.blocks({X: 1}, where=where)


def test_where_far_from_zero():
    box = g.Box(time={T: (1.7e9, 1.7e9 + 100)})
    ((late,),) = box.blocks("interior", where=T > 1.7e9 + 75)
    uniform = ops.convert_to_tensor(
        np.random.default_rng(0).random((500, 1)), "float32"
    )
    points = box.sample(late, uniform)
    assert bool(ops.all(box.contains(late, points)))
    assert uniform_in(ops.convert_to_numpy(points)[:, 0], 25, 50)


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
def test_distances(name):
    domain = DISTANCES[name]()
    for block in ((part,) for part in domain.boundary):
        value = sp.lambdify(domain.coordinates, domain.distance(block), "numpy")
        inside = drawn(domain, domain.interior, 2000) + domain.centre
        values = value(*inside.T)
        assert (values > 0).all() and 0.05 < values.max() < 4
        on_part = value(*(drawn(domain, block[0], 200) + domain.centre).T)
        np.testing.assert_allclose(on_part, 0, atol=1e-6)
    whole = sp.lambdify(domain.coordinates, domain.distance(domain.boundary), "numpy")
    assert (whole(*inside.T) > 0).all()


@pytest.mark.parametrize(
    "domain",
    [
        SQUARE + g.Disk((1, 0), 0.5),
        SQUARE - g.Box({X: (0, 2), Y: (0, 2)}),
        g.Sector((0, 0), 1, (0, 4), coordinates=XY),
    ],
    ids=["sum", "box in a box", "reentrant sector"],
)
def test_distances_that_are_not_known(domain):
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


def test_a_cloud():
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


# Refusals


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: g.Disk((0, 0), -1), ValueError, "`radius` must be a positive"),
        (lambda: g.Disk((0, 0, 0), 1), ValueError, "`center` must be a point, 2"),
        (lambda: g.Ball((0,), 1), ValueError, "two or more finite numbers"),
        (lambda: g.Disk((0, 0), 1, (X, X)), ValueError, "2 different symbols"),
        (lambda: g.Disk((0, 0), 1, ("x", "y")), TypeError, "must be a SymPy symbol"),
        (lambda: g.Disk((0, 0), 1).coordinates, ValueError, "has no coordinates"),
        (lambda: g.Ellipse((0, 0), (1, 0)), ValueError, "`axes` must be a positive"),
        (lambda: g.Annulus((0, 0), 2, 1), ValueError, "0 <= inner < radius"),
        (lambda: g.Sector((0, 0), 1, (0, 7)), ValueError, "a turn apart at most"),
        (lambda: g.Polygon([(0, 0), (1, 1)]), ValueError, "at least 3 finite points"),
        (
            lambda: g.Polygon([(0, 0), (1, 1), (1, 0), (0, 1)]),
            ValueError,
            "must not cross",
        ),
        (lambda: g.Polygon([(0, 0), (1, 1), (2, 2)]), ValueError, "on a line"),
        (lambda: SQUARE - g.Box({X: (-2, 2), Y: (-2, 2)}), ValueError, "is left"),
        (lambda: SQUARE & g.Disk((5, 5), 1), ValueError, "do not meet"),
        (lambda: (SQUARE - HOLE) & g.Box({X: (0, 1)}), ValueError, "no product"),
        (lambda: SQUARE - g.Box({Z: (0, 1)}), ValueError, "same coordinates of space"),
        (lambda: SQUARE - 1, TypeError, "combines two geometries"),
        (lambda: SQUARE * SQUARE, ValueError, "coordinates of their own"),
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
def test_refuses(build, error, message):
    with pytest.raises(error, match=message):
        build()
