"""Tests of contradictions between data and equations."""

import numpy as np
import pytest

from keraspinn.training.systematic import systematic_part


def share_of_noise(count, draws=500):
    """Return the share of draws of noise that are called systematic."""
    numbers = np.random.default_rng(0)
    return np.mean(
        [
            systematic_part(
                numbers.uniform(size=(count, 1)), numbers.normal(size=count), 1
            )
            > 0
            for _ in range(draws)
        ]
    )


@pytest.mark.parametrize("count", [3, 4, 8, 50])
def test_noise_in_data_is_rarely_a_contradiction(count):
    assert share_of_noise(count) < 0.08


@pytest.mark.parametrize("count", [1, 2, 3, 4, 8, 50])
def test_a_calibration_error_of_few_readings_is_a_contradiction(count):
    times = np.linspace(0.5, 2, count)
    residual = np.exp(-0.7 * times) - np.exp(-times)
    mean = np.mean(residual)
    share = systematic_part(times[:, None], residual, is_noisy=True)
    assert share == pytest.approx(mean, rel=0.15)


def test_a_residual_that_changes_sign_smoothly_is_a_contradiction():
    points = np.linspace(0, 1, 20)[:, None]
    residual = np.sin(2 * np.pi * points[:, 0])
    assert systematic_part(points, residual, is_noisy=True) > 0.5


def test_noise_of_rows_that_are_drawn_twice_is_no_contradiction():
    numbers = np.random.default_rng(0)
    points, noise = numbers.uniform(size=(101, 1)), numbers.normal(size=101)
    rows = numbers.integers(101, size=100)
    assert systematic_part(points[rows], noise[rows], is_noisy=True) == 0


def test_a_shift_of_the_later_half_of_many_rows_is_a_contradiction():
    times, noise = np.arange(3000.0), np.random.default_rng(0).normal(size=3000)
    residual = 0.01 * noise + 0.05 * (times >= 1500)
    assert systematic_part(times[:, None], residual, is_noisy=True) > 0.02


def test_residuals_of_conditions_count_in_full():
    residual = np.array([1.0, -1.0, 1.0])
    assert systematic_part(np.zeros((3, 1)), residual, is_noisy=False) == 1
    last = np.repeat([0.0, 1.0], [2000, 400])
    assert systematic_part(np.arange(2400.0)[:, None], last, is_noisy=False) == 1 / 6
