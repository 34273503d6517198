"""User-defined optimizer: θ − (JᵀJ + μI)⁻¹ Jᵀr, with μ smaller after a success."""

import keras
import pytest
from keras import ops

import keraspinn as kp


@keras.saving.register_keras_serializable("stranger")
class Damped(kp.optimizers.Optimizer):
    def __init__(self, damping=1e-2, **kwargs):
        super().__init__(**kwargs)
        self.damping = damping

    def init(self, parameters):
        return {"damping": ops.full((), self.damping, parameters.dtype)}

    def step(self, objective, parameters, state):
        rows, jacobian = objective.residuals(parameters), objective.jacobian(parameters)
        ridge = state["damping"] * ops.eye(parameters.shape[0], dtype=parameters.dtype)
        normal = ops.transpose(jacobian) @ jacobian + ridge
        step = ops.linalg.solve(normal, ops.sum(jacobian * rows[:, None], axis=0))
        before, after = map(objective.loss, (parameters, moved := parameters - step))
        better = after < before
        damping = ops.where(better, state["damping"] / 10, state["damping"] * 10)
        moved, loss = ops.where(better, moved, parameters), ops.minimum(before, after)
        return moved, {"damping": damping}, {"loss": loss, "damping": damping}


@pytest.mark.slow
def test_user_optimizer_trains_and_resumes_exactly(assert_resume_is_bit_exact):
    def make():
        model = kp.PINNModel(kp.problems.poisson(), kp.networks.MLP(4, 1), seed=0)
        return model.astype("float64")

    assert_resume_is_bit_exact(make, Damped)
