import numpy as np
from keras import ops

from keraspinn.layers import AdaptiveSkip


def test_adaptive_skip_weights_the_block_by_alpha():
    layer = AdaptiveSkip()
    x, h = ops.ones((2, 3)), 5.0 * ops.ones((2, 3))
    np.testing.assert_array_equal(layer(x, h), x)
    assert layer.trainable_variables == [layer.alpha]
    layer.alpha.assign(0.25)
    np.testing.assert_allclose(layer(x, h), 2.0 * x)
