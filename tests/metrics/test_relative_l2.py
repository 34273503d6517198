import keras
import numpy as np
import pytest

import keraspinn as kp


def test_relative_l2_is_the_ratio_of_norms_over_all_batches():
    rng = np.random.default_rng(0)
    exact, predicted = rng.normal(size=(2, 60))
    metric = kp.metrics.RelativeL2(dtype="float64")
    for part in (slice(0, 10), slice(10, 60)):
        metric.update_state(exact[part], predicted[part])
    expected = np.linalg.norm(exact - predicted) / np.linalg.norm(exact)
    assert float(metric.result()) == pytest.approx(expected)
    metric.reset_state()
    metric.update_state([1.0], [1.0])
    assert float(metric.result()) == 0.0


def test_relative_l2_up_to_a_constant():
    exact = np.array([1.0, 2.0, 4.0])
    metric = kp.metrics.RelativeL2(up_to_constant=True, dtype="float64")
    metric.update_state(exact, exact + 7.0)
    assert float(metric.result()) == pytest.approx(0.0, abs=1e-7)
    metric.reset_state()
    metric.update_state(exact + 7.0, 2 * exact)
    assert float(metric.result()) == pytest.approx(1.0)


def test_relative_l2_leaves_out_unknown_values():
    metric = kp.metrics.RelativeL2(up_to_constant=True, dtype="float64")
    metric.update_state([1.0, np.nan, 2.0, 4.0], [8.0, 1e9, 9.0, 11.0])
    assert float(metric.result()) == pytest.approx(0.0, abs=1e-7)
    metric.update_state([1.0, 2.0], [np.nan, 2.0])  # a NaN in a prediction counts
    assert np.isnan(float(metric.result()))


def test_rejects_shapes_that_would_broadcast():
    with pytest.raises(ValueError, match="one shape"):
        kp.metrics.RelativeL2().update_state(np.ones((3, 1)), np.ones(3))


def test_weights_and_config():
    metric = kp.metrics.RelativeL2(name="error")
    metric.update_state([1.0, 1.0], [2.0, 9.0], sample_weight=[1.0, 0.0])
    assert float(metric.result()) == 1.0
    copy = kp.metrics.RelativeL2.from_config(metric.get_config())
    assert copy.name == "error" and isinstance(copy, keras.metrics.Metric)
