"""Tests for all geometries: points, normals, measures, uniformity, configurations."""

import json

import keras
import numpy as np
import pytest
from keras import ops
from scipy import stats

from keraspinn.geometry.rejection import Kept
from tensors import compiled

COUNT = 4096


def drawn(domain, part, count=COUNT, seed=0):
    uniform = np.random.default_rng(seed).random((count, domain.draws(part)))
    return domain.sample(part, uniform)


def test_points_lie_inside(shape):
    points = drawn(shape, shape.interior)
    assert points.shape == (COUNT, shape.dimension)
    assert shape.contains(shape.interior, points).all()
    assert (np.abs(points) <= shape.half * (1 + 1e-6)).all()
    far = 3 * shape.half * np.ones(shape.dimension)
    assert not shape.contains(shape.interior, far[None]).any()


def test_boundary_points_have_the_domain_on_one_side(shape):
    for part in shape.boundary:
        points = drawn(shape, part, 1024)
        assert shape.contains(part, points).all()
        normals = shape.normals(part, points)
        assert normals.shape == (1024, len(shape.space_coordinates))
        np.testing.assert_allclose(np.linalg.norm(normals, axis=-1), 1)
        step = np.zeros_like(points)
        step[:, : normals.shape[1]] = 1e-4 * shape.half[: normals.shape[1]] * normals
        # All but the points within a step of a corner.
        assert shape.contains(shape.interior, points - step).mean() > 0.999
        assert shape.contains(shape.interior, points + step).mean() < 0.001


def test_measures(shape):
    assert shape.measure(shape.interior) == pytest.approx(shape.size, rel=2e-3)
    sizes = sum(map(shape.measure, shape.boundary))
    assert sizes == pytest.approx(shape.boundary_size, rel=2e-3)


def test_measure_agrees_with_contains(shape):
    rng = np.random.default_rng(1)
    points = rng.uniform(-1, 1, (20_000, shape.dimension)) * shape.half
    share = shape.contains(shape.interior, points).mean()
    expected = shape.size / np.prod(2 * shape.half)
    error = np.sqrt(expected * (1 - expected) / 20_000)
    assert abs(share - expected) <= 4 * error


def counts(points, others, half):
    """Count the points of two sets in each cell of a grid."""
    cells = 4 if points.shape[1] > 2 else 8
    edges = [np.linspace(-h, h, cells + 1) * (1 + 1e-6) for h in half]
    one, _ = np.histogramdd(points, edges)
    two, _ = np.histogramdd(others, edges)
    return one.ravel(), two.ravel()


def is_even(points, others, half):
    one, two = counts(points, others, half)
    usual = two >= 20
    table = np.stack([one[usual], two[usual]])
    return stats.chi2_contingency(table).pvalue > 1e-3


def test_the_interior_is_sampled_uniformly(shape):
    """Compare with rejection sampling in the bounding box by a chi-square test."""
    rng = np.random.default_rng(2)
    box = rng.uniform(-1, 1, (20_000, shape.dimension)) * shape.half
    accepted = box[shape.contains(shape.interior, box)]
    points = drawn(shape, shape.interior, 10_000)
    assert is_even(points, accepted, shape.half)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_tensors_and_arrays_agree(shape, dtype):
    for part in (shape.interior, *shape.boundary):
        uniform = np.random.default_rng(4).random((64, shape.draws(part)))
        uniform = uniform.astype(dtype).astype("float64")
        tensor = ops.convert_to_tensor(uniform, dtype)
        points = shape.sample(part, tensor)
        assert keras.backend.standardize_dtype(points.dtype) == dtype
        assert bool(ops.all(shape.contains(part, points)))
        exact = shape.sample(part, uniform)
        error = np.abs(ops.convert_to_numpy(points) - exact) / shape.half
        agree = error.max(axis=-1) < (1e-12 if dtype == "float64" else 1e-4)
        # In float32 a few of a pool's numbers round to a neighbour.
        has_pool = part is shape.interior and isinstance(part, Kept)
        assert np.mean(agree) >= (0.9 if has_pool and dtype == "float32" else 1)
        if part is not shape.interior:
            np.testing.assert_allclose(
                ops.convert_to_numpy(shape.normals(part, points)),
                shape.normals(part, exact),
                atol=1e-3 if dtype == "float32" else 1e-9,
            )


def test_leading_axes(shape):
    for part in (shape.interior, shape.boundary[0]):
        uniform = np.random.default_rng(5).random((2, 3, 5, shape.draws(part)))
        points = shape.sample(part, uniform)
        assert points.shape == (2, 3, 5, shape.dimension)
        np.testing.assert_array_equal(points[1, 2], shape.sample(part, uniform[1, 2]))
        assert shape.contains(part, points).shape == (2, 3, 5)


def test_config_round_trip(shape):
    saved = json.loads(json.dumps(keras.saving.serialize_keras_object(shape)))
    restored = keras.saving.deserialize_keras_object(saved)
    assert restored.coordinates == shape.coordinates
    np.testing.assert_array_equal(restored.centre, shape.centre)
    for part, restored_part in zip(
        (shape.interior, *shape.boundary),
        (restored.interior, *restored.boundary),
        strict=True,
    ):
        assert str(part) == str(restored_part)
        np.testing.assert_array_equal(
            drawn(shape, part, 32), drawn(restored, restored_part, 32)
        )


def test_the_grid_lies_inside(shape):
    grid = shape.grid(9)
    assert len(grid) and shape.contains(shape.interior, grid - shape.centre).all()


def test_compiles(shape):
    """Trace sampling, membership and normals without concrete values."""
    for part in (shape.interior, shape.boundary[-1]):

        def program(uniform, part=part):
            points = shape.sample(part, uniform)
            if part is not shape.interior:
                shape.normals(part, points)
            return shape.contains(part, points)

        uniform = np.random.default_rng(6).random((16, shape.draws(part)))
        inside = compiled(program, False)(ops.convert_to_tensor(uniform, "float32"))
        assert bool(ops.all(inside))
