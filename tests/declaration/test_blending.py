"""Hard values on several parts, blended into one smooth expression."""

import numpy as np
import pytest
import sympy as sp

import keraspinn as kp
from keraspinn.declaration.hard import build_hard_forms

g = kp.geometry
X, Y, Z = XYZ = sp.symbols("x y z")
U = sp.Function("u")(X, Y)
SQUARE = g.Box({X: (0, 1), Y: (0, 1)})
CORNERS = [(0, 0), (1, 0), (1, 1), (0, 1)]
HOLE = g.Disk((0.5, 0.5), 0.2)


def value(domain, values):
    """Return g of hard values: fields, parts of the boundary and expressions."""
    conditions = {
        f"c{k}": kp.Condition(field - prescribed, on=on, hard=True)
        for k, (field, on, prescribed) in enumerate(values)
    }
    return build_hard_forms(domain, conditions)["u"].value


def laplacian(expression):
    # Simplified, they take three times as long.
    second = (expression.diff(s, 2, simplify=False) for s in (X, Y))
    return sp.lambdify((X, Y), sum(second), "numpy")


BOTTOM = [(U, {Y: 0}, X * (1 - X)), (U, [{X: 0}, {X: 1}, {Y: 1}], 0)]


@pytest.mark.parametrize(
    "domain", [g.Polygon(CORNERS, coordinates=(X, Y)), SQUARE - HOLE]
)
def test_hard_values_have_the_second_derivatives_of_a_box_in_corners(domain):
    expected, actual = (laplacian(value(shape, BOTTOM)) for shape in (SQUARE, domain))
    for distance in (0.1, 1e-2, 1e-4):
        near = np.array([[distance, distance], [1 - distance, 2 * distance]]).T
        np.testing.assert_allclose(actual(*near), expected(*near), atol=0.1)


def test_hard_values_on_a_square_polygon_equal_those_on_a_box():
    exact = sp.exp(X) * sp.cos(Y) + X * Y**2
    faces = [{X: 0}, {X: 1}, {Y: 0}, {Y: 1}]
    prescribed = [(U, face, exact.subs(face)) for face in faces]
    polygon = g.Polygon(CORNERS, coordinates=(X, Y))
    difference = sp.lambdify(
        (X, Y), value(SQUARE, prescribed) - value(polygon, prescribed)
    )
    points = np.random.default_rng(0).random((2, 50))
    np.testing.assert_allclose(difference(*points), 0, atol=1e-12)


@pytest.mark.slow
def test_hard_values_at_oblique_and_reentrant_corners():
    corners = [(0, 0), (2, 0), (2, 1), (1, 1), (0.5, 2), (0, 2)]
    domain = g.Polygon(corners, coordinates=(X, Y))
    slanted = g.Polygon([(1, 1), (0.5, 2), (0.9, 1.9)])
    blended = value(
        domain, [(U, {Y: 1}, X**2), (U, slanted, Y**2), (U, {Y: 2}, 4 + X * (X - 0.5))]
    )
    # Wrong values raise. Check that second derivatives stay bounded at corners.
    directions = np.array([(-1, -1), (-1, 0.1), (1, -0.1), (0, -1)]).T
    second = laplacian(blended)
    for corner in [(1, 1), (0.5, 2)]:
        near = [
            np.abs(second(*(np.array(corner)[:, None] + distance * directions)))
            for distance in (1e-2, 1e-3, 1e-4)
        ]
        assert np.max(near) < 60 and np.max(near[2]) < 1.2 * np.max(near[1])


def test_hard_values_on_three_faces_of_a_polyhedron():
    box = g.Box({X: (0, 1), Y: (0, 1), Z: (0, 1)})
    points = [(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)]
    faces = [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1)]
    faces += [(2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)]
    cube = g.Polyhedron(points, faces, XYZ)
    exact = sp.exp(X + 2 * Y) * (1 + Z**2)
    field = sp.Function("u")(*XYZ)
    prescribed = [(field, {s: 0}, exact.subs(s, 0)) for s in XYZ]
    prescribed.append((field, {X: 1}, exact.subs(X, 1)))
    difference = sp.lambdify(XYZ, value(box, prescribed) - value(cube, prescribed))
    np.testing.assert_allclose(
        difference(*np.random.default_rng(0).random((3, 50))), 0, atol=1e-10
    )


def test_contradictory_hard_values_on_a_curved_part_raise():
    bitten = SQUARE - g.Disk((0.5, 0), 0.2)
    rim = g.Disk((0.5, 0), 0.2)
    level = (X - sp.Rational(1, 2)) ** 2 * 25
    with pytest.raises(
        ValueError, match=r"one of them is curved.*holds on all"
    ) as error:
        value(bitten, [(U, {Y: 0}, level), (U, rim, 1)])
    assert "the circle and y = 0" in str(error.value)
    assert value(bitten, [(U, {Y: 0}, level), (U, rim, level)]) == level
    value(bitten, [(U, {Y: 1}, 2), (U, rim, 1)])  # these do not meet


def test_hard_values_of_neighbouring_holes_are_independent():
    holes = [g.Disk((x, 30), 2) for x in (30, 34.5)]
    domain = g.Box({X: (0, 100), Y: (0, 60)}) - holes[0] - holes[1]
    blended = value(domain, [(U, holes[0], 1), (U, holes[1], -1)])
    assert abs(blended.subs({X: 32, Y: 30}) - 1) < 1e-12


@pytest.mark.slow
def test_hard_values_beside_small_holes_have_bounded_second_derivatives():
    """Poisson 2d-C of PINNacle: four holes at zero, the outer walls at one."""
    domain, holes = g.Box({X: (-0.5, 0.5), Y: (-0.5, 0.5)}), []
    for centre in [(0.3, 0.3), (-0.3, 0.3), (0.3, -0.3), (-0.3, -0.3)]:
        holes.append(g.Disk(centre, 0.1))
        domain = domain - holes[-1]
    walls = [{s: end} for s in (X, Y) for end in (-0.5, 0.5)]
    blended = value(domain, [(U, holes, 0), (U, walls, 1)])
    uniform = np.random.default_rng(0).random((4000, domain.draws(domain.interior)))
    points = domain.centre + domain.sample(domain.interior, uniform)
    bend = laplacian(blended)(*points.T)
    # It is 800 if each hole's weight has the scale of its distance.
    assert np.sqrt(np.mean(bend**2)) < 200
