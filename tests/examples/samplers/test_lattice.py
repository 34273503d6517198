import numpy as np
from keras import ops

from examples.samplers import Lattice


def test_lattice_is_a_sampler(assert_is_sampler):
    assert_is_sampler(Lattice(3))


def test_gaps_in_each_coordinate_are_bounded(batches_of):
    """Two folded combs of n/2 points each leave no gap above 2/n."""
    for batch in batches_of(Lattice(1), None, range(3), count=101):
        points = (ops.convert_to_numpy(batch.coordinates) - [1, -2]) / 2
        assert np.diff(np.sort(points, axis=0), axis=0).max() < 2 / 101 + 1e-9
        assert abs((points**2).prod(axis=1).mean() - 1 / 9) < 2e-3
