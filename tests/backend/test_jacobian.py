"""Jacobians of values at points, compared with those of the backend."""

import keras
import numpy as np
import pytest
from keras import ops

import keraspinn
import tensors
from keraspinn.backend import jacobian
from keraspinn.derivatives.engines import taylor_derivatives


def residuals_of(network):
    """Return two second-order residuals as functions of the weights."""
    variables = network.trainable_variables

    def residuals(weights, points):
        pairs = zip(variables, weights, strict=True)
        with keras.StatelessScope(state_mapping=list(pairs)):
            derivatives = taylor_derivatives(
                lambda x: keraspinn.taylor.propagate(network, x),
                points,
                [(0, 0), (1, 0), (2, 0), (0, 2)],
            )
        u, u_x, u_xx, u_yy = (
            derivatives[index][..., 0] for index in [(0, 0), (1, 0), (2, 0), (0, 2)]
        )
        return [u_xx + u_yy + u**2, points[:, 0] * u_x]

    return residuals, [variable.value for variable in variables]


def rows_by_the_backend(residuals, weights, points):
    return [
        np.concatenate(
            [
                np.reshape(part, (len(points), -1))
                for part in tensors.jacobian(
                    lambda weights, number=number: residuals(weights, points)[number],
                    weights,
                )
            ],
            axis=1,
        )
        for number in range(2)
    ]


@pytest.mark.slow
@pytest.mark.parametrize("jit_compile", [False, True])
@pytest.mark.parametrize("network", ["MLP", "ModifiedMLP"])
def test_jacobian_agrees_with_the_backend(network, jit_compile):
    network = getattr(keraspinn.networks, network)(units=5, depth=2, dtype="float64")
    network.build((None, 2))
    residuals, weights = residuals_of(network)
    points = ops.convert_to_tensor(np.random.default_rng(0).uniform(-1, 1, (7, 2)))
    program = tensors.compiled(
        lambda weights, points: jacobian(residuals, weights, points), jit_compile
    )
    expected = rows_by_the_backend(residuals, weights, points)
    for derivative, reference in zip(program(weights, points), expected, strict=True):
        assert derivative.shape == (7, network.count_params())
        np.testing.assert_allclose(derivative, reference, rtol=1e-10, atol=1e-12)


def test_jacobian_at_points_with_further_columns():
    points = {"x": ops.convert_to_tensor([[1.0], [2.0]]), "weight": ops.arange(2.0)}
    (rows,) = jacobian(
        lambda weights, points: [points["weight"] * weights[0] * points["x"][:, 0]],
        [ops.convert_to_tensor(3.0)],
        points,
    )
    np.testing.assert_array_equal(rows, [[0.0], [2.0]])
