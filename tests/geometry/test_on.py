"""Tests for the parts that `on=` and `where=` select."""

import operator

import keras
import numpy as np
import pytest
import sympy as sp
from keras import ops
from scipy.integrate import quad

from drawing import drawn, uniform_in
from keraspinn import geometry as g
from keraspinn.geometry.part import quasi_random

X, Y, Z, T = sp.symbols("x y z t")
XY = (X, Y)
SQUARE = g.Box({X: (-1, 1), Y: (-1, 1)})
HOLE = g.Disk(center=(0.2, 0), radius=0.5)


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
        ValueError, match=r"to a number, as \{x: 0.5\}. Received: \{x: y\}"
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
    with pytest.raises(ValueError, match=r"Disk.* names \[z\], which are no coord"):
        SQUARE.blocks(g.Disk((0, 0), 0.5, (X, Z)))


OUTER, INNER = g.Disk((0, 0), 5, XY), g.Disk((1, 0), 1)
RING = OUTER - INNER
ROD = OUTER * g.Box({Z: (0, 1)})
BAR_IN_TIME = g.Box({X: (-1, 1), Y: (-1, 1)}, time={T: (0, 3)})
STRIP = g.Box({X: (0, 100), Y: (0, 1)})


@pytest.mark.parametrize(
    ("domain", "on", "length"),
    [
        (RING, OUTER, 10 * np.pi),  # without the inner rim, which lies in it
        (RING, g.Disk((0, 0), 5), 10 * np.pi),
        (RING, INNER, 2 * np.pi),
        (
            RING,
            g.Disk((0, 0), 6),
            12 * np.pi,
        ),  # not an operand: all boundary points in it
        (RING * g.Box(time={T: (0, 3)}), OUTER, 30 * np.pi),
        (OUTER - (INNER + g.Disk((-3, 0), 1)), INNER, 2 * np.pi),
        (OUTER & g.Box({X: (0, 9), Y: (-9, 9)}), OUTER, 5 * np.pi),
        (OUTER & g.Box({X: (0, 9), Y: (-9, 9)}), g.Box({X: (0, 9), Y: (-9, 9)}), 10),
        (BAR_IN_TIME - g.Disk((0, 0), 0.5), BAR_IN_TIME, 24),
        ((ROD - INNER) - g.Disk((-3, 0), 1), ROD, (10 + 2 * (25 - 2)) * np.pi),
        (STRIP + g.Box({X: (9, 9.3), Y: (0, 5)}), g.Box({X: (9, 9.3), Y: (0, 5)}), 8.6),
        (g.Box({Z: (0, 2)}) * OUTER, g.Disk((0, 0), 5), 20 * np.pi),
        (ROD, OUTER, 10 * np.pi),
        (ROD, g.Ball((0, 0, 0), 9), 60 * np.pi),  # not an operand, and larger
    ],
    ids=str,
)
def test_on_an_operand_of_a_combined_geometry(domain, on, length):
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
def test_no_inner_face_outside_or_tangent(domain, value):
    with pytest.raises(ValueError, match="must be a part of the domain"):
        domain.blocks({X: value})


@pytest.mark.parametrize(
    ("on", "message"),
    [
        ({X: 2}, "x goes from -1 to 1"),
        ({Z: 0}, "no coordinate z"),
        ({"x": 0}, "no coordinate 'x'. Write the same symbol x"),
        ({sp.Symbol("x", positive=True): 0}, "the same symbol x, with its assumptions"),
    ],
)
@pytest.mark.parametrize("time", [None, g.Box(time={T: (0, 3)})])
def test_values_outside_of_a_disk(on, message, time):
    disk = g.Disk((0, 0), 1, XY)
    with pytest.raises(ValueError, match=message):
        (disk * time if time else disk).blocks(on)


@pytest.mark.parametrize("hole", [g.Disk((0, 0), 0.3), g.Disk((0, 0), 0.3, XY)])
def test_a_hole_before_time_and_after(hole):
    disk, time = g.Disk((0, 0), 1, XY), g.Box(time={T: (0, 3)})
    after, before = disk * time - hole, (disk - hole) * time
    after_config, before_config = map(
        keras.saving.serialize_keras_object, (after, before)
    )
    assert after_config == before_config
    assert after.measure(after.interior) == pytest.approx(0.91 * np.pi * 3, rel=1e-3)


@pytest.mark.parametrize("combine", [operator.sub, operator.add, operator.and_])
def test_time_in_combined_shapes(combine):
    disk, hole = g.Disk((0, 0), 1, XY), g.Disk((0, 0), 0.3, XY)
    time = g.Box(time={T: (0, 3)})
    for first in disk, disk * time:
        with pytest.raises(ValueError, match=r"[Ww]rite \(shape . other\) \* time"):
            combine(first, hole * time)


def test_holes_smaller_than_the_point_spacing():
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
    # No more repetitions than independent picks from a pool have.
    distinct = len(np.unique(points[:5000], axis=0))
    assert distinct > 0.9 * 5000


def test_mean_of_a_singular_energy_density_in_a_cut_box():
    corner = SQUARE - g.Box({X: (0, 1), Y: (0, 1)})
    uniform = quasi_random(2**19, corner.draws(corner.interior))
    points = corner.sample(corner.interior, uniform)
    density = np.hypot(*points.T) ** -0.9
    # Six triangles with an angle of 45 degrees at the corner.
    exact, _ = quad(lambda angle: 6 / 1.1 * np.cos(angle) ** -1.1, 0, np.pi / 4)
    assert 3 * density.mean() == pytest.approx(exact, rel=5e-4)


@pytest.mark.parametrize(
    ("where", "error", "message"),
    [
        (X > 2, ValueError, "No point of x = 1 fulfils where=x > 2.*on="),
        (Z > 0, ValueError, r"`where` names \[z\]"),
        (X, TypeError, "such as x > 0"),
        (True, TypeError, "such as x > 0"),
    ],
)
def test_where_rejects_invalid_relations(where, error, message):
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


@pytest.mark.parametrize("height", [1, 0.9, 1.37])
def test_edge_at_a_value_excludes_edges_that_cross_it(height):
    corners = [(0, 0), (2, 0), (2, height), (1, height), (1, 2), (0, 2)]
    domain = g.Polygon(corners, coordinates=(X, Y))
    (edge,) = domain.faces({Y: height})
    assert edge.measure() == pytest.approx(1)
