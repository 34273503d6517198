"""Regions of a domain, interfaces, and expressions by region."""

import numpy as np
import pytest
import sympy as sp

import keraspinn as kp
from keraspinn.geometry.part import quasi_random
from keraspinn.geometry.regions import region

x, y, z, t = sp.symbols("x y z t")
Box, Disk, Interface = kp.geometry.Box, kp.geometry.Disk, kp.geometry.Interface
SQUARE = Box({x: (-1, 1), y: (-1, 1)})


def drawn(domain, part, count=500):
    return domain.centre + domain.sample(part, quasi_random(count, domain.draws(part)))


def test_thin_region_is_sampled_as_its_geometry():
    layer = Box({x: (0.5, 0.5001)})
    (part,) = region(SQUARE, layer)
    points = drawn(SQUARE, part)
    assert ((points[:, 0] >= 0.5) & (points[:, 0] <= 0.5001)).all()
    assert len(np.unique(points[:, 0])) == 500
    assert SQUARE.measure(part) == pytest.approx(2e-4, rel=1e-6)


def test_region_beyond_the_domain_is_clipped():
    (part,) = region(SQUARE, Disk((1, 0), 0.5))
    points = drawn(SQUARE, part)
    assert (points[:, 0] <= 1).all()
    assert (np.hypot(points[:, 0] - 1, points[:, 1]) <= 0.5 + 1e-6).all()


def test_an_interface_has_the_outward_normal_of_the_first():
    disk = Disk((0.2, 0), 0.5, coordinates=(x, y))
    for pair, sign in (((disk, SQUARE - disk), 1), ((SQUARE - disk, disk), -1)):
        ((part,),) = SQUARE.blocks(Interface(*pair))
        relative = SQUARE.sample(part, quasi_random(200, SQUARE.draws(part)))
        outward = (relative - [0.2, 0]) / 0.5
        np.testing.assert_allclose(np.hypot(*outward.T), 1, atol=1e-6)
        np.testing.assert_allclose(
            SQUARE.normals(part, relative), sign * outward, atol=1e-6
        )


def test_regions_in_space_extend_over_all_times():
    domain = Box({x: (0, 2)}, time={t: (0, 3)})
    ((part,),) = domain.blocks(Interface(Box({x: (0, 1)}), Box({x: (1, 2)})))
    points = drawn(domain, part)
    assert (points[:, 0] == 1).all() and np.ptp(points[:, 1]) > 2.9


def test_regions_that_do_not_touch_are_refused():
    with pytest.raises(ValueError, match="no common boundary"):
        Box({x: (0, 3)}).blocks(Interface(Box({x: (0, 1)}), Box({x: (2, 3)})))
    with pytest.raises(ValueError, match="no common boundary"):
        SQUARE.blocks(Interface(Disk((0, 0), 0.5), Disk((0, 0), 0.5)))


def test_where_may_be_a_geometry():
    domain = Box({x: (0, 2)}, time={t: (0, 3)})
    ((part,),) = domain.blocks("initial", Box({x: (0, 1)}))
    points = drawn(domain, part)
    assert (points[:, 0] <= 1).all() and (points[:, 1] == 0).all()
    with pytest.raises(TypeError, match="geometry"):
        domain.blocks("initial", "left")


L_SHAPE = [(-0.8, -0.8), (0.8, -0.8), (0.8, 0), (0, 0), (0, 0.8), (-0.8, 0.8)]
SHAPES = [
    Box({x: (-0.5, 0.25), y: (0, 0.5)}),
    Disk((0.1, 0.2), 0.4, coordinates=(x, y)),
    kp.geometry.Ellipse((0, 0), (0.7, 0.2), coordinates=(x, y)),
    kp.geometry.Annulus((0, 0), 0.2, 0.6, coordinates=(x, y)),
    kp.geometry.Polygon(L_SHAPE, coordinates=(x, y)),
    SQUARE - Disk((0, 0), 0.5),
    Box({x: (-1, 0), y: (-1, 0)}) + Disk((0, 0), 0.5),
    SQUARE & Disk((1, 1), 1.2),
    Box({x: (-1, 0)}) * Box({y: (0, 1)}),
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_by_region_agrees_with_contains(shape):
    points = 2 * quasi_random(2000, 2) - 1
    inside = shape.contains(shape.interior, points - shape.centre)
    assert 0 < inside.mean() < 1
    values = sp.lambdify((x, y), kp.by_region({shape: sp.S(1), SQUARE: sp.S(2)}))
    np.testing.assert_array_equal(values(*points.T), np.where(inside, 1, 2))


def test_by_region_takes_coordinates_from_the_other_regions():
    hole = Disk((0, 0), 0.5)
    chosen = kp.by_region({hole: x, SQUARE - hole: y})
    assert chosen.subs({x: 0.1, y: 0.3}) == 0.1


def test_region_without_a_formula_may_be_last():
    wide = kp.geometry.Sector((0, 0), 1, (0, 4.5), coordinates=(x, y))
    with pytest.raises(ValueError, match="Put it last"):
        kp.by_region({wide: x, SQUARE: y})
    half = Box({x: (-1, 0), y: (-1, 1)})
    assert kp.by_region({half: y, wide: x}).subs({x: 0.5, y: 0}) == 0.5


def test_sides_of_the_domain_are_not_an_interface():
    half = Box({x: (-1, 0), y: (-1, 1)})
    ((part,),) = SQUARE.blocks(Interface(half, SQUARE))
    assert (drawn(SQUARE, part)[:, 0] == 0).all()
