import keras
import numpy as np
import pytest
from keras import ops

from keraspinn import backend


@pytest.mark.parametrize("count", [1, 3])
def test_products_follow_the_inputs_and_the_variables(count):
    """Return f = a Σ x² y_j with x (2,), y (3,), and its Hessian in closed form."""
    x, y = keras.Variable([1.0, 2.0]), keras.Variable([[3.0], [4.0], [5.0]])
    unused = keras.Variable([7.0])
    products = backend.hessian_products(
        lambda a: a * ops.sum(x.value**2) * ops.sum(y.value),
        [x, y, unused],
    )

    def expected(a, x, y):
        hessian = np.zeros((6, 6))
        hessian[:2, :2] = 2 * a * y.sum() * np.eye(2)
        hessian[:2, 2:5] = 2 * a * np.outer(x, np.ones(3))
        hessian[2:5, :2] = hessian[:2, 2:5].T
        return hessian

    vectors = np.random.default_rng(0).normal(size=(count, 6))
    for a in (1.0, -2.0):
        hessian = expected(a, x.numpy(), y.numpy())
        np.testing.assert_allclose(
            products(ops.convert_to_tensor(a), vectors), vectors @ hessian, rtol=1e-5
        )
        x.assign([3.0, -1.0])
