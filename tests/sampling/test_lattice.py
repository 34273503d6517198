"""Lattice points, compared with integrals in closed form."""

import numpy as np
import pytest
from keras import ops

from keraspinn.sampling.lattice import lattice

SHIFTS = np.random.default_rng(0).random((20, 3))


def points(count, draws, shift):
    return ops.convert_to_numpy(
        lattice((count,), ops.convert_to_tensor(shift[None, :draws], "float32"))
    )


def misses(count, draws):
    """Return the error of means of exp(x₁ + …), over several shifts."""
    exact = (np.e - 1) ** draws
    means = [
        np.exp(points(count, draws, s).astype("float64").sum(-1)).mean() for s in SHIFTS
    ]
    return np.abs(np.array(means) / exact - 1)


@pytest.mark.parametrize(("draws", "bound"), [(1, 5e-6), (2, 5e-5), (3, 3e-4)])
def test_lattice_means_beat_random_points(draws, bound):
    assert misses(512, draws).max() < bound  # random ones miss by 2e-2 and more


def test_lattice_means_converge():
    assert misses(1024, 2).mean() < misses(128, 2).mean() / 8


def test_errors_of_many_triangles_cancel():
    """Take 100 lattices of 20 points. With a common shift errors do not cancel."""
    shifts = ops.convert_to_tensor(SHIFTS[:, None], "float64")
    corners = ops.convert_to_numpy(lattice((20,) * 100, shifts))[..., 1:]
    means = np.exp(corners.sum(-1)).mean(-1) / (np.e - 1) ** 2
    assert abs(means - 1).mean() < 5e-4  # 6e-3 with one shift


@pytest.mark.parametrize("count", [1, 2, 3, 7, 100])
def test_lattice_points_are_in_the_cube(count):
    sampled = points(count, 2, np.array([0.5, 0.9999999]))
    assert sampled.shape == (count, 2)
    assert (sampled >= 0).all()
    assert (sampled < 1).all()
