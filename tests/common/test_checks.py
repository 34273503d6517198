"""Checks of numbers: masked values, dates, texts."""

import numpy as np
import pytest

from keraspinn.common import checks

MASKED = np.ma.masked_values([[0.1, 0.2], [-9999.0, 0.4]], -9999.0)


class Variable:
    """Array-like object, as in netCDF and xarray."""

    dtype = np.dtype("float64")

    def __init__(self, array):
        self._array = array

    def __array__(self, dtype=None, copy=None):
        return self._array


@pytest.mark.parametrize(
    "numbers",
    [
        MASKED,
        Variable(MASKED),
    ],
)
def test_rejects_masked_values(numbers):
    with pytest.raises(ValueError, match=r"points.*1 masked.*points\[~mask\]"):
        checks.real_array("points", numbers)


def test_accepts_masked_arrays_without_masked_values():
    unmasked = np.ma.masked_values([[0.1, 0.2]], -9999.0)
    for numbers in (
        unmasked,
        list(unmasked),
        Variable(unmasked),
        Variable(unmasked.data),
    ):
        np.testing.assert_array_equal(checks.point_array("p", numbers), unmasked.data)


DAYS = np.array(["2026-01-01", "NaT"], "datetime64[D]")


@pytest.mark.parametrize(
    "numbers",
    [
        DAYS,
        DAYS - DAYS[0],
        Variable(DAYS),
    ],
)
def test_rejects_dates(numbers):
    with pytest.raises(ValueError, match="dates or times.*seconds since"):
        checks.real_array("points", numbers)


@pytest.mark.parametrize(
    "numbers", [None, "text", ["a"], [[1], [1, 2]], {}, [1j], np.array([1j])]
)
def test_rejects_values_that_are_not_numbers(numbers):
    with pytest.raises(ValueError, match="points must be an array of numbers"):
        checks.real_array("points", numbers)


@pytest.mark.parametrize("points", [[], 1.0, [1.0], [[[1.0]]], np.zeros((0, 2))])
def test_points_must_be_two_dimensional(points):
    with pytest.raises(ValueError, match=r"points must have shape \(n, d\)"):
        checks.point_array("points", points)


def test_points_need_a_column_for_each_coordinate():
    with pytest.raises(ValueError, match=r"shape \(n, 2\), a column for each of.*'x'"):
        checks.point_array("points", [[1.0]], ["x", "y"])


def test_nonfinite_row_is_named():
    with pytest.raises(ValueError, match="finite.*row 1.*Drop"):
        checks.point_array("points", [[0.0], [np.nan]])


@pytest.mark.parametrize("count", [0, -1, 1.0, True, "1", None])
def test_counts_are_positive_integers(count):
    with pytest.raises(ValueError, match="`n` must be a positive integer or 'auto'"):
        checks.check_count("n", count, "auto")
    assert checks.check_count("n", np.int64(3)) == 3
    assert checks.check_count("n", "auto", "auto") == "auto"


def test_names_must_be_known():
    checks.check_known("batch_size", ["a"], "ab", "terms")
    with pytest.raises(
        ValueError, match=r"`batch_size` names \[1, 'c'\].*\['a', 'b'\]"
    ):
        checks.check_known("batch_size", ["c", "a", 1], "ab", "terms")


@pytest.mark.parametrize("weight", [-1, np.nan, np.inf, "x", None])
def test_weights_are_finite_and_not_negative(weight):
    with pytest.raises(ValueError, match="`weight` must be a finite number"):
        checks.nonnegative("weight", weight)


def test_seeds_fit_into_32_bits():
    assert checks.checked_seed(np.int64(7)) == 7
    for seed in (-1, 2**32, 1.5, True):
        with pytest.raises(ValueError, match=r"`seed` must be.*to 2\*\*32 - 1"):
            checks.checked_seed(seed)


def test_flags_must_be_booleans():
    assert checks.checked_flag("f", np.True_) is True
    with pytest.raises(TypeError, match="`f` must be True or False. Received: 1"):
        checks.checked_flag("f", 1)
