"""A stranger's optimizer, written from the docstring of `Optimizer` alone."""

import keras
import numpy as np
from keras import ops

import keraspinn


@keras.saving.register_keras_serializable("stranger")
class Damped(keraspinn.optimizers.Optimizer):
    """θ − (JᵀJ + μI)⁻¹ Jᵀr, with μ ten times smaller after a step that decreases."""

    def __init__(self, damping=1e-2, **kwargs):
        super().__init__(**kwargs)
        self.damping = damping

    def init(self, parameters):
        return {"damping": ops.full((), self.damping, parameters.dtype)}

    def step(self, objective, parameters, state):
        rows = ops.expand_dims(objective.residuals(parameters), -1)
        jacobian = objective.jacobian(parameters)
        transposed = ops.transpose(jacobian)
        ridge = state["damping"] * ops.eye(parameters.shape[0], dtype=parameters.dtype)
        normal = ops.matmul(transposed, jacobian) + ridge
        step = ops.linalg.solve(normal, ops.matmul(transposed, rows))[:, 0]
        before, after = objective.loss(parameters), objective.loss(parameters - step)
        better = after < before
        damping = ops.where(better, state["damping"] / 10, state["damping"] * 10)
        return (
            ops.where(better, parameters - step, parameters),
            {"damping": damping},
            {"loss": ops.where(better, after, before), "damping": damping},
        )

    def get_config(self):
        return {**super().get_config(), "damping": self.damping}


def test_it_trains_a_least_squares_problem(least_squares, rosenbrock, run):
    start = np.linspace(-1.0, 1.5, 6)
    parameters, _, logs = run(Damped(), least_squares(rosenbrock), start, 40)
    np.testing.assert_allclose(parameters, 1.0, atol=1e-9)
    assert min(log["damping"] for log in logs) < 1e-4


def test_keras_builds_and_saves_it(tmp_path):
    dense = keras.layers.Dense(3, dtype="float64")
    model = keras.Sequential([keras.Input((2,)), dense])
    model.compile(Damped(damping=0.5, resample_every=20), loss="mse")
    model.optimizer.build(model.trainable_variables)
    model.optimizer.assign_state({"damping": 0.125}, steps=3)
    model.save(tmp_path / "model.keras")
    again = keras.models.load_model(tmp_path / "model.keras").optimizer
    assert again.get_config() == model.optimizer.get_config()
    assert float(again.state["damping"]) == 0.125
    assert int(again.iterations) == 3


def test_it_fits_saves_and_goes_on_to_the_bit(tmp_path):
    backup = keraspinn.callbacks.BackupAndRestore(tmp_path, delete_checkpoint=False)

    def trained(epochs, *callbacks):
        keras.utils.set_random_seed(0)
        problem, network = keraspinn.problems.poisson(), keraspinn.networks.MLP(6, 1)
        model = keraspinn.PINNModel(problem, network, seed=0).astype("float64")
        model.compile(Damped(resample_every=7), jit_compile=False)
        run = {"batch_size": 20, "steps_per_epoch": 5, "verbose": 0}
        history = model.fit(epochs=epochs, callbacks=[*callbacks], **run).history
        return model, history["loss"]

    trained(2, backup)[0].save(tmp_path / "toy.keras")
    loaded = keraspinn.load_model(tmp_path / "toy.keras")
    (resumed, losses), (undisturbed, _) = trained(4, backup), trained(4)
    assert losses[-1] < 0.1 * losses[0]
    for mine, theirs in zip(
        [*resumed.weights, *resumed.optimizer.variables],
        [*undisturbed.weights, *undisturbed.optimizer.variables],
        strict=True,
    ):
        np.testing.assert_array_equal(mine, theirs)
    went_on = loaded.fit(batch_size=20, steps_per_epoch=5, epochs=2, verbose=0)
    assert went_on.history["loss"][-1] < 0.1 * losses[0]
