"""Densities that follow the residual, against shares computed by hand."""

import numpy as np
import pytest
from keras import ops

from examples.samplers import Exponential
from examples.samplers.training import sampler


def thirds(x):
    """Return ε² with ε = 0, 7/2 and 7 in three strips of equal area."""
    strip = ops.floor(3 * (x - 1) / 2)
    return ops.square(3.5 * strip)


def shares(batch):
    strips = np.floor(3 * (ops.convert_to_numpy(batch.coordinates)[:, 0] - 1) / 2)
    return [np.mean(strips == k) for k in range(3)]


def test_exponential_is_a_sampler(assert_is_sampler):
    assert_is_sampler(Exponential(3))


@pytest.mark.parametrize("ratio", [4, 100])
def test_exponential_density(batches_of, ratio):
    (batch,) = batches_of(Exponential(3, ratio), thirds, [0], count=2000)
    expected = np.array([1, ratio**0.5, ratio])
    np.testing.assert_allclose(shares(batch), expected / expected.sum(), atol=0.02)


def test_exponential_density_of_zero_residuals_is_uniform(batches_of):
    (batch,) = batches_of(Exponential(3), ops.zeros_like, [0], count=2000)
    np.testing.assert_allclose(shares(batch), [1 / 3] * 3, atol=0.03)


def test_exponential_density_leaves_out_residuals_that_are_not_finite(batches_of):
    def broken(x):
        return ops.where(x > 2.9, np.nan, thirds(x))

    (batch,) = batches_of(Exponential(3, 4), broken, [0], count=2000)
    assert np.isfinite(batch.coordinates).all() and shares(batch)[2] > 0.4


def test_squared_density(batches_of):
    (batch,) = batches_of(sampler("squared", 0), thirds, [0], count=2000)
    np.testing.assert_allclose(shares(batch), [0, 0.2, 0.8], atol=0.02)
