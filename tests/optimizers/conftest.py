"""Losses with known minima, as `PINNModel` would hand them to an optimizer."""

import numpy as np
import pytest
from keras import ops

import tensors
from keraspinn.optimizers import Objective


class LeastSquares(Objective):
    """Sum of squares of a function of the parameters."""

    def __init__(self, rows, renewed=False):
        self.rows = rows
        self.renewed = ops.convert_to_tensor(renewed)
        self.evaluations = 0

    def residuals(self, parameters):
        return self.rows(parameters)

    def loss(self, parameters):
        return ops.sum(ops.square(self.rows(parameters)))

    def value_and_gradient(self, parameters):
        self.evaluations += 1
        return tensors.value_and_gradient(self.loss, parameters)

    def jacobian(self, parameters):
        return tensors.jacobian(self.rows, parameters)


@pytest.fixture(scope="session")
def least_squares():
    """Return `LeastSquares`, the objective of a function from parameters to rows."""
    return LeastSquares


@pytest.fixture(scope="session")
def rosenbrock():
    """Return residuals that vanish at 1, at the end of a curved valley."""

    def rows(parameters):
        ahead, here = parameters[1:], parameters[:-1]
        return ops.concatenate([10 * (ahead - here * here), 1 - here])

    return rows


@pytest.fixture(scope="session")
def linear():
    """Return a function for residuals R (θ − target) and the Hessian 2 RᵀR.

    The Hessian's eigenvalues go from 2 to 2 `condition`.
    """

    def make(count, condition=100.0, seed=0, target=0.0):
        random = np.random.default_rng(seed)
        turn = np.linalg.qr(random.normal(size=(count, count)))[0]
        root = turn * np.sqrt(np.geomspace(1.0, condition, count)) @ turn.T

        def rows(parameters):
            away = ops.expand_dims(parameters - target, -1)
            return ops.matmul(ops.convert_to_tensor(root), away)[..., 0]

        return rows, 2 * root @ root

    return make


@pytest.fixture(scope="session")
def run():
    """Return a function that runs steps: parameters, state and a list of logs."""

    def run(optimizer, objective, parameters, steps, state=None, jit_compile=False):
        def step(parameters, state):
            return optimizer.step(objective, parameters, state)

        if jit_compile is not None:
            step = tensors.compiled(step, jit_compile)
        parameters = ops.convert_to_tensor(parameters, dtype="float64")
        state, logs = state or optimizer.init(parameters), []
        for _ in range(steps):
            parameters, state, log = step(parameters, state)
            logs.append({name: float(value) for name, value in log.items()})
        return parameters, state, logs

    return run
