import keras
import numpy as np
import pytest

import keraspinn as kp
from keraspinn.derivatives.engines import jvp_derivatives, taylor_derivatives
from keraspinn.derivatives.taylor import propagate

CORNER = {"at": (0.2, -0.1), "direction": 2.0, "exponent": 2 / 3, "stretch": (1, 0.5)}
POINTS = np.random.default_rng(0).uniform(-1, 1, (40, 3))


def test_corner_features_are_powers_of_the_complex_position():
    (real, imaginary) = values(CORNER)[:, 3:].T
    z = (POINTS[:, 0] - 0.2) + 0.5j * (POINTS[:, 1] + 0.1)
    expected = (z * np.exp(-2j)) ** (2 / 3)
    np.testing.assert_allclose(real + 1j * imaginary, expected, rtol=1e-12)


def test_corner_features_vanish_beyond_their_radius():
    features = values(CORNER | {"radius": 0.5, "plane": (0, 2)})[:, 3:]
    far = np.hypot(POINTS[:, 0] - 0.2, 0.5 * (POINTS[:, 2] + 0.1)) > 0.5
    assert far.any() and not far.all()
    assert not features[far].any()
    assert features[~far].all()


@pytest.mark.parametrize("radius", [None, 0.7])
def test_derivatives_of_corner_features_agree_with_differentiation(radius):
    layer = kp.layers.Corners([CORNER | {"radius": radius}], dtype="float64")
    points = keras.ops.convert_to_tensor(POINTS)
    indices = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0), (0, 2, 0), (2, 1, 0)]
    taylor = taylor_derivatives(lambda x: propagate(layer, x), points, indices)
    nested = jvp_derivatives(layer, points, indices)
    for index in indices:
        np.testing.assert_allclose(taylor[index], nested[index], rtol=1e-8, atol=1e-8)


def test_corner_features_are_finite_at_the_corner():
    layer = kp.layers.Corners([CORNER], dtype="float64")
    at = np.array([[0.2, -0.1, 0.0]])
    assert np.isfinite(keras.ops.convert_to_numpy(layer(at))).all()


@pytest.mark.parametrize("wrong", [{"at": (0, 0)}, CORNER | {"angle": 1.0}])
def test_corners_with_other_keys_raise(wrong):
    with pytest.raises(TypeError, match="direction|angle"):
        kp.layers.Corners([wrong])


def values(corner):
    layer = kp.layers.Corners([corner], dtype="float64")
    return keras.ops.convert_to_numpy(layer(POINTS))
