"""Curves that shapes or relations cut: exact intervals and integrals."""

import numpy as np
import pytest
import sympy as sp

import keraspinn as kp
from keraspinn.geometry.simplices import Simplices

X, Y = sp.symbols("x y")
SQUARE = kp.geometry.Box({X: (0, 1), Y: (0, 1)})
L_SHAPE = SQUARE - kp.geometry.Box({X: (0.4, 1), Y: (0.3, 1)})
UNIFORM = (np.arange(1000)[:, None] + 0.5) / 1000


@pytest.mark.parametrize(
    ("domain", "on", "where", "size", "mean"),
    [
        (L_SHAPE, {X: 1}, None, 0.3, 0.15),
        (SQUARE, {Y: 0}, sp.Or(X < 0.2, X > 0.7), 0.5, None),
        (SQUARE, {X: 0}, sp.Abs(Y - 0.5) < 0.1, 0.2, 0.5),
    ],
)
def test_faces_have_exact_measures_and_means(domain, on, where, size, mean):
    ((face,),) = domain.blocks(on, where)
    assert domain.measure(face) == pytest.approx(size, abs=1e-6)
    points = domain.centre + domain.sample(face, UNIFORM)
    assert domain.contains(face, points - domain.centre).all()
    if mean:
        assert points[:, 1].mean() == pytest.approx(mean, abs=1e-6)
    else:
        sorted_x = np.sort(points[:, 0])
        assert sorted_x.mean() == pytest.approx((0.02 + 0.255) / 0.5, abs=1e-6)
        assert np.ptp(sorted_x[sorted_x < 0.5]) < 0.2


def test_portions_of_a_rim_are_arcs():
    disk = kp.geometry.Disk((0, 0), 1, coordinates=(X, Y))
    ((arc,),) = disk.blocks("boundary", X > 0)
    assert disk.measure(arc) == pytest.approx(np.pi, abs=1e-5)
    points = disk.sample(arc, UNIFORM)
    np.testing.assert_allclose(points.mean(axis=0), [2 / np.pi, 0], atol=1e-5)


def test_each_triangle_has_its_number_of_points():
    corners = np.array([[[0, 0], [1, 0], [0, 1]], [[2, 0], [3, 0], [2, 1]]], float)
    part = Simplices(corners, None)
    points = part.sample_each([3, 5], np.random.default_rng(0).random((8, 3)))
    assert (points[:3, 0] <= 1).all()
    assert (points[3:, 0] >= 2).all()
    assert (points[:, 1] >= 0).all()
