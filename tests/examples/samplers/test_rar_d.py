import itertools

import numpy as np
import pytest
from keras import ops

from examples.samplers import RARD


def in_set(batch):
    """Return the points of positive weight, and check that those weigh the same."""
    weights = ops.convert_to_numpy(batch.weights)
    np.testing.assert_allclose(weights[weights > 0], 1 / np.sum(weights > 0))
    return ops.convert_to_numpy(batch.coordinates)[weights > 0]


def test_rar_d_is_a_sampler(assert_is_sampler):
    assert_is_sampler(RARD(3))


def test_set_grows_by_parts_until_it_is_full(batches_of):
    sampler = RARD(every=2, begin=0.4, rounds=4)
    batches = batches_of(sampler, ops.square, range(13))
    sets = [in_set(batch) for batch in batches]
    counts = [len(points) for points in sets]
    assert counts == [40, 40, 55, 55, 70, 70, 85, 85, 100, 100, 100, 100, 100]
    for before, after in itertools.pairwise(sets):
        np.testing.assert_array_equal(after[: len(before)], before)
    assert len(np.unique(sets[-1], axis=0)) == 100


@pytest.mark.parametrize(
    ("k", "c", "share"), [(2, 0, 0.8), (1, 0, 2 / 3), (2, 1, 0.65)]
)
def test_points_are_added_by_the_density(batches_of, k, c, share):
    """Compare with ε = 1 in one half and 2 in the other.

    For k = 2, c = 0 the shares are 1 to 4; with c = 1 they are 1/2.5 + 1 to 4/2.5 + 1.
    """
    sampler = RARD(every=1, k=k, c=c, begin=0.2, rounds=1)

    def squared(x):
        return ops.where(x > 2, 4.0, 1.0 + 0 * x)

    _, batch = batches_of(sampler, squared, range(2), count=1000)
    added = in_set(batch)[200:]
    assert len(added) == 800
    assert np.mean(added[:, 0] > 2) == pytest.approx(share, abs=0.03)
