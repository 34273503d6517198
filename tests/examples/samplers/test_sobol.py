import numpy as np
from keras import ops
from scipy.stats import qmc

from examples.samplers import Sobol
from examples.samplers.sobol import DIGITS, scrambled


def test_sobol_is_a_sampler(assert_is_sampler):
    assert_is_sampler(Sobol(3))


def test_each_elementary_interval_holds_one_point(batches_of):
    for batch in batches_of(Sobol(1), None, range(3), count=64):
        points = (ops.convert_to_numpy(batch.coordinates) - [1, -2]) / 2
        for power in range(7):
            cells = np.floor(points * [2**power, 2 ** (6 - power)])
            assert len(np.unique(cells, axis=0)) == 64


def test_sequence_without_scramble_is_that_of_scipy():
    zeros = ops.zeros((3, DIGITS, DIGITS + 1), "float64")
    expected = qmc.Sobol(3, scramble=False).random_base2(5)[:19]
    np.testing.assert_array_equal(scrambled(19, zeros), expected)


def test_scramble_differs_from_a_shift():
    """Compare digit by digit with the first point: a shift alone would cancel."""
    random = np.random.default_rng(0).random((2, DIGITS, DIGITS + 1))
    points = ops.convert_to_numpy(scrambled(64, ops.convert_to_tensor(random)))
    numbers = (points * 2**DIGITS).astype(int)
    plain = (qmc.Sobol(2, scramble=False).random_base2(6) * 2**DIGITS).astype(int)
    assert ((numbers ^ numbers[0]) != plain).any()
