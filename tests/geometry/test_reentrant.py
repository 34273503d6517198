import pytest
import sympy as sp

import keraspinn as kp
from keraspinn.geometry.reentrant import has_reentrant_corner

X, Y, Z, T = sp.symbols("x y z t")
g = kp.geometry
SQUARE = g.Box({X: (0, 1), Y: (0, 1)})
CUBE = g.Box({X: (0, 1), Y: (0, 1), Z: (0, 1)})


@pytest.mark.parametrize(
    "domain",
    [
        g.Polygon([(0, 0), (2, 0), (2, 1), (1, 1), (1, 2), (0, 2)], coordinates=(X, Y)),
        SQUARE - g.Box({X: (0.4, 0.6), Y: (0.4, 0.6)}),
        SQUARE - g.Box({X: (0.4, 0.6), Y: (0.5, 1)}),
        g.Sector((0, 0), 1, (0, 4.7), coordinates=(X, Y)),
        CUBE - g.Box({X: (0.5, 1), Y: (0, 1), Z: (0.5, 1)}),
    ],
    ids=str,
)
def test_reentrant_corners_are_detected(domain):
    assert has_reentrant_corner(domain)


@pytest.mark.parametrize(
    "domain",
    [
        *(SQUARE, CUBE, g.Box({X: (0, 20), Y: (0, 1)}), g.Box({X: (0, 1)})),
        *(g.Box({X: (0, 1)}, time={T: (0, 1)}), g.Box(time={T: (0, 1)})),
        *(SQUARE - g.Disk((0.5, 0.5), 0.02), SQUARE - g.Disk((0, 0), 0.2)),
        g.Polygon([(0, 0), (1, 0), (0.2, 0.6)], coordinates=(X, Y)),
        g.Ball((0, 0, 0), 1, coordinates=(X, Y, Z)),
        g.Box({X: (0, 1), Y: (0, 1)}, periodic=[X]),
    ],
    ids=str,
)
def test_convex_corners_and_round_holes_are_not(domain):
    assert not has_reentrant_corner(domain)
