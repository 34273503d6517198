import itertools

import numpy as np
from keras import ops

from examples.samplers import R3


def test_r3_is_a_sampler(assert_is_sampler):
    assert_is_sampler(R3(3))


def test_points_above_the_mean_residual_are_retained(batches_of):
    def squared(x):
        return ops.exp(6 * x)

    sets = list(batches_of(R3(1), squared, range(4), count=500))
    sets = [ops.convert_to_numpy(batch.coordinates) for batch in sets]
    for before, after in itertools.pairwise(sets):
        size = np.exp(3 * before[:, 0])
        retained = size > size.mean()
        assert 50 < retained.sum() < 450
        np.testing.assert_array_equal(after[retained], before[retained])
        assert (after[~retained] != before[~retained]).all()
    # Points gather: a uniform set has half of them there.
    assert np.mean(sets[-1][:, 0] > 2) > 0.6


def test_points_are_released_when_the_residual_falls(batches_of):
    def equal(x):
        return ops.ones_like(x)

    first, second = batches_of(R3(1), equal, range(2))
    assert not np.intersect1d(first.coordinates, second.coordinates).size
