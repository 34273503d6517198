import numpy as np
import pytest
from keras import ops

from keraspinn.sampling import Batch


@pytest.mark.parametrize("weights", ["number", "tensor"])
@pytest.mark.parametrize("targets", [False, True])
@pytest.mark.parametrize("largest", [1, 3, 4, 6, 7, 100, None])
def test_chunks_of_a_batch_have_its_loss(largest, targets, weights):
    rng = np.random.default_rng(0)
    points = rng.uniform(size=(7, 2))
    batch = Batch(
        ops.convert_to_tensor(points),
        ops.convert_to_tensor(2 * points),
        1 / 7 if weights == "number" else ops.convert_to_tensor(rng.uniform(size=7)),
        ops.convert_to_tensor(rng.uniform(size=(7, 1))) if targets else None,
    )

    def loss(part):
        target = 0.0 if part.targets is None else part.targets[:, 0]
        return ops.sum(part.weights * ops.square(part.points[:, 1] - target))

    count, part = batch.parts(largest)
    parts = [part(number) for number in range(count)]
    assert all(p.points.shape[0] <= (largest or 7) for p in parts)
    assert count == (1 if largest is None else -(-7 // largest))
    for chunk in parts:
        np.testing.assert_array_equal(chunk.coordinates, 2 * np.array(chunk.points))
    np.testing.assert_allclose(sum(map(loss, parts)), loss(batch), rtol=1e-12)
