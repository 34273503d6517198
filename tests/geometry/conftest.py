"""Fixtures: one of each geometry, with its exact measures."""

import numpy as np
import pytest
import sympy as sp

from keraspinn import geometry as g

X, Y, Z, T = sp.symbols("x y z t")
XY, XYZ = (X, Y), (X, Y, Z)
SQUARE = g.Box({X: (-1, 1), Y: (-1, 1)})
CUBE_CORNERS = [(i, j, k) for i in (0, 2) for j in (0, 1) for k in (0, 1)]
CUBE_FACES = [
    *[(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1)],
    *[(2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 5, 7), (1, 7, 3)],
]
TETRAHEDRA = [(0, 1, 3, 7), (0, 2, 3, 7), (0, 2, 6, 7), (0, 4, 6, 7), (0, 4, 5, 7)]
TETRAHEDRA += [(0, 1, 5, 7)]
L = [(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)]

# Name -> constructor, area or volume, measure of the whole boundary.
SHAPES = {
    "interval": (lambda: g.Box({X: (-1, 3)}), 4, 2),
    "box": (lambda: g.Box({X: (0, 1e-3), Y: (0, 2e3)}), 2, 4e3 + 2e-3),
    "disk": (lambda: g.Disk((1, 2), 0.5, XY), np.pi / 4, np.pi),
    "ball": (lambda: g.Ball((1, 2, 3), 2, XYZ), 32 * np.pi / 3, 16 * np.pi),
    "ball in 5-D": (
        lambda: g.Ball((0,) * 5, 2, sp.symbols("x:5")),
        8 * np.pi**2 / 15 * 32,
        8 * np.pi**2 / 3 * 16,
    ),
    "ellipse": (lambda: g.Ellipse((3, 4), (2, 1), XY), 2 * np.pi, 9.688448220547675),
    "sector": (
        lambda: g.Sector((1, 1), 2, (0.3, 0.3 + 1.5 * np.pi), coordinates=XY),
        3 * np.pi,
        4 + 3 * np.pi,
    ),
    "part of a ring": (
        lambda: g.Sector((0, 0), 2, (2, 3), 1, XY),
        1.5,
        5,
    ),
    "ring": (lambda: g.Annulus((0, 0), 1, 2, XY), 3 * np.pi, 6 * np.pi),
    "triangle": (
        lambda: g.Polygon([(0, 0), (3, 0), (0, 4)], coordinates=XY),
        6,
        12,
    ),
    "L": (lambda: g.Polygon(L, coordinates=XY), 3, 8),
    "polygon with holes": (
        lambda: g.Polygon(
            [(0, 0), (4, 1), (4, 4), (0, 4)],
            [[(1, 1), (2, 1), (1, 2)], [(3, 3), (3, 2), (2, 3)]],
            XY,
        ),
        13,
        11 + np.sqrt(17) + 4 + 2 * np.sqrt(2),
    ),
    "polyhedron": (lambda: g.Polyhedron(CUBE_CORNERS, CUBE_FACES, XYZ), 2, 10),
    "mesh of triangles": (
        lambda: g.Mesh(L, [(0, 1, 2), (0, 2, 3), (0, 3, 4), (0, 4, 5)], None, XY),
        3,
        8,
    ),
    "mesh of tetrahedra": (
        lambda: g.Mesh(CUBE_CORNERS, TETRAHEDRA, coordinates=XYZ),
        2,
        10,
    ),
    "plate with a hole": (
        lambda: SQUARE - g.Disk((0.2, 0), 0.5),
        4 - np.pi / 4,
        8 + np.pi,
    ),
    "plate with a bite": (
        lambda: SQUARE - g.Disk((1, 0), 0.5),
        4 - np.pi / 8,
        7 + np.pi / 2,
    ),
    "half a disk": (
        lambda: g.Disk((0, 0), 1) & g.Box({X: (0, 1), Y: (-1, 1)}),
        np.pi / 2,
        np.pi + 2,
    ),
    "two boxes side by side": (
        lambda: g.Box({X: (0, 1), Y: (0, 1)}) + g.Box({X: (1, 2), Y: (0, 1)}),
        2,
        6,
    ),
    "cut flush": (lambda: SQUARE - g.Box({X: (0, 1), Y: (-1, 1)}), 2, 6),
    "two holes": (
        lambda: SQUARE - g.Disk((-0.5, 0), 0.3) - g.Disk((0.5, 0), 0.3),
        4 - 0.18 * np.pi,
        8 + 1.2 * np.pi,
    ),
    "cylinder": (
        lambda: g.Disk((0, 0), 1, XY) * g.Box({Z: (0, 3)}),
        3 * np.pi,
        8 * np.pi,
    ),
    "plate with a hole in time": (
        lambda: g.Box({X: (-1, 1), Y: (-1, 1)}, time={T: (5, 7)}) - g.Disk((0, 0), 0.5),
        2 * (4 - np.pi / 4),
        2 * (8 + np.pi),
    ),
    "box with a round hollow": (
        lambda: g.Box(dict.fromkeys(XYZ, (0, 1))) - g.Ball((0.5,) * 3, 0.25),
        1 - np.pi / 48,
        6 + np.pi / 4,
    ),
}


@pytest.fixture(params=SHAPES, scope="session")
def shape(request):
    make, size, boundary_size = SHAPES[request.param]
    domain = make()
    domain.size, domain.boundary_size = size, boundary_size
    return domain
