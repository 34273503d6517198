"""Tests for unions, differences and intersections of random shapes."""

import time

import numpy as np
import pytest
import sympy as sp
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from keraspinn import geometry as g
from keraspinn.geometry.part import quasi_random

XY = sp.symbols("x y")
# Multiples of 1e-3: distinct faces closer than 1e-5 are treated as one.
SIZES = st.integers(200, 1500).map(lambda n: n / 1000)
# Hypothesis tries small shapes first, which rarely meet.
LAWS = settings(max_examples=12, suppress_health_check=[HealthCheck.filter_too_much])
PLACES = st.integers(-600, 600).map(lambda n: n / 1000)


def box(x, y, width, height):
    return g.Box({XY[0]: (x, x + width), XY[1]: (y, y + height)})


def triangle(x, y, width, height):
    corners = [(x, y), (x + width, y + height / 3), (x, y + height)]
    return g.Polygon(corners, coordinates=XY)


SHAPES = st.one_of(
    st.builds(box, PLACES, PLACES, SIZES, SIZES),
    st.builds(triangle, PLACES, PLACES, SIZES, SIZES),
    st.builds(lambda x, y, r: g.Disk((x, y), r, XY), PLACES, PLACES, SIZES),
    st.builds(
        lambda x, y, a, b: g.Ellipse((x, y), (a, b), XY), PLACES, PLACES, SIZES, SIZES
    ),
)


def has(domain, points):
    """Test which points, in the user's coordinates, a domain contains."""
    return domain.contains(domain.interior, points - domain.centre)


def size(domain):
    return domain.measure(domain.interior)


def common(a, b):
    """Return the intersection, if its measure can be estimated."""
    points = np.random.default_rng(0).uniform(a.lower, a.upper, (2000, 2))
    both = has(a, points) & has(b, points)
    assume(both.sum() > 50 and (has(a, points) & ~has(b, points)).sum() > 50)
    return a & b


POINTS = np.random.default_rng(1).uniform(-3, 3, (4000, 2))
# Steps across a face, which belongs to both sides to 1e-6.
STEPS = 1e-5 * np.array([(1, 0), (-1, 0), (0, 1), (0, -1)])


@LAWS
@given(a=SHAPES, b=SHAPES)
def test_combinations_contain_their_points(a, b):
    both = common(a, b)
    moved = [(has(a, POINTS + step), has(b, POINTS + step)) for step in STEPS]
    points = POINTS[np.all(moved == np.array(moved[0]), axis=(0, 1))]
    in_a, in_b = has(a, points), has(b, points)
    np.testing.assert_array_equal(has(a + b, points), in_a | in_b)
    np.testing.assert_array_equal(has(a - b, points), in_a & ~in_b)
    np.testing.assert_array_equal(has(both, points), in_a & in_b)


@LAWS
@given(a=SHAPES, b=SHAPES)
def test_measures_add_up(a, b):
    both = common(a, b)
    margin = {"abs": 5e-3 * (size(a) + size(b))}
    assert size(a + b) + size(both) == pytest.approx(size(a) + size(b), **margin)
    assert size(a - b) + size(both) == pytest.approx(size(a), **margin)
    assert size(both) == pytest.approx(size(b & a), **margin)


@LAWS
@given(a=SHAPES, b=SHAPES)
def test_boundaries_add_up(a, b):
    """Test that each piece of a boundary bounds the union or the intersection."""
    both = common(a, b)

    def length(domain):
        return sum(map(domain.measure, domain.boundary))

    margin = {"abs": 0.02 * (length(a) + length(b))}
    assert length(a + b) + length(both) == pytest.approx(
        length(a) + length(b), **margin
    )


@pytest.mark.slow
@settings(max_examples=6)
@given(a=SHAPES, b=SHAPES, c=SHAPES, sign=st.sampled_from("+-&"))
def test_one_side_of_a_boundary_is_inside(a, b, c, sign):
    common(a, b)
    combined = {"+": a + b, "-": a - b, "&": a & b}[sign]
    points = combined.sample(
        combined.interior,
        np.random.default_rng(2).random((2000, combined.draws(combined.interior))),
    )
    cut = has(c, points + combined.centre)
    assume(50 < cut.sum() < 1950)
    domain = combined - c
    for part in domain.boundary:
        uniform = np.random.default_rng(3).random((200, domain.draws(part)))
        points = domain.sample(part, uniform)
        assert domain.contains(part, points).all()
        normals = domain.normals(part, points)
        np.testing.assert_allclose(np.linalg.norm(normals, axis=-1), 1)
        # At the tip of a needle a step ends outside on either side.
        inner = domain.contains(domain.interior, points - 1e-4 * normals)
        outer = domain.contains(domain.interior, points + 1e-4 * normals)
        assert inner.mean() > 0.95 and outer.mean() < 0.05


CENTRES = [(x, y) for x in (-2.0, -1.0, 0.0, 1.0, 2.0) for y in (-1.0, 1.0)]


def united():
    first, *others = (g.Disk(centre, 0.3) for centre in CENTRES)
    return box(-3, -2, 6, 4) - sum(others, first)


def one_by_one():
    plate = box(-3, -2, 6, 4)
    for centre in CENTRES:
        plate = plate - g.Disk(centre, 0.3)
    return plate


@pytest.mark.parametrize("declare", [united, one_by_one])
def test_ten_equal_holes_have_ten_rims(declare):
    """Distinguish equal shapes at different positions."""
    began = time.process_time()
    plate = declare()
    assert time.process_time() - began < 20  # seconds; doubling with each hole takes 60
    rims = plate.boundary[4:]
    assert len(rims) == len(set(rims)) == 10
    assert sum(map(plate.measure, rims)) == pytest.approx(10 * 0.6 * np.pi)
    assert size(plate) == pytest.approx(24 - 10 * 0.09 * np.pi, rel=1e-3)
    tops = np.array(CENTRES) + (0, 0.3)
    assert has(plate, tops).all()
    assert not has(plate, tops - (0, 0.1)).any()
    ((interior,),) = plate.blocks("interior")
    points = plate.sample(interior, np.random.default_rng(0).random((2000, 2)))
    away = np.linalg.norm(points[:, None] - np.array(CENTRES), axis=-1)
    assert away.min() > 0.3 - 1e-6


def test_coordinates_of_holes_are_set_once(monkeypatch):
    """Build holes once: seventeen took four seconds, rebuilt for each condition."""
    made, placed = [], g.Disk.with_coordinates

    def counted(disk, symbols):
        made.append(disk)
        return placed(disk, symbols)

    monkeypatch.setattr(g.Disk, "with_coordinates", counted)
    first, *others = (g.Disk(centre, 0.3) for centre in CENTRES[:4])
    holes = sum(others, first)
    plate = box(-3, -2, 6, 4) - holes
    for _ in range(2):
        assert len(plate.blocks(holes)[0]) == 4
    assert len(made) == 4


def test_a_union_that_contains_its_second_shape_draws_as_before():
    """Compare with the first shape's points behind the number that picks a part."""
    outer, inner = box(0, 0, 2, 1), g.Disk((1, 0.5), 0.3)
    union, numbers = outer + inner, quasi_random(64, 3)
    assert union.draws(union.interior) == 3
    points = union.sample(union.interior, numbers)
    expected = outer.sample(outer.interior, numbers[:, 1:])
    np.testing.assert_array_equal(points, expected)


def test_grid_of_a_difference_leaves_out_faces_that_both_boxes_share():
    square, quarter = box(0, 0, 1, 1), box(0.5, 0.5, 0.5, 0.5)
    points = (square - quarter).grid(11)
    assert len(points) == 11**2 - 5**2
    assert not (points > 0.55).all(axis=1).any()
