"""Least loss that a Gauss–Newton step reaches with the SVD of J, for any damping.

python -m examples.second_stage.singular_values poisson-4 --steps 100

JᵀJ squares the condition number of J. This program trains by `GaussNewton` until the
loss stalls. It then takes steps by the singular values of J, with each μ from 1 to
1e-30 relative to the mean square of J's columns, and prints the least loss at fresh
points. If that is the loss before, no factorization of J is of use.
"""

import argparse

import keras
import numpy as np
from keras import ops
from keras.optimizers import schedules

import keraspinn as kp
from examples.second_stage.problems import CASES

DAMPING = 10.0 ** -np.arange(31)
# Times the points of the study: many, so that a step does not overfit them.
TIMES = 8


@keras.saving.register_keras_serializable("examples")
class SingularValues(kp.optimizers.GaussNewton):
    """Gauss–Newton with the SVD of J, in eager mode; prints what each step reaches."""

    def step(self, objective, parameters, state):
        residuals = np.array(objective.residuals(parameters))
        jacobian = np.array(objective.jacobian(parameters))
        judge = objective.fresh()
        left, values, right = np.linalg.svd(jacobian, full_matrices=False)
        squares = values**2
        mean, along = squares.sum() / len(parameters), left.T @ residuals
        steps = [right.T @ (values * along / (squares + m * mean)) for m in DAMPING]
        after = [float(judge.loss(parameters - ops.array(step))) for step in steps]
        before, best = float(judge.loss(parameters)), int(np.nanargmin(after))
        is_less = after[best] < before
        print(
            f"loss {before:.3e} before, {min(before, after[best]):.3e} at least, "
            f"{after[12]:.1e} with μ = 1e-12; condition {values[0] / values[-1]:.0e}",
            flush=True,
        )
        nothing = ops.zeros((), parameters.dtype)
        logs = dict.fromkeys(self.log_names, nothing) | {"loss": ops.array(before)}
        moved = parameters - ops.array(steps[best])
        return moved if is_less else parameters, state, logs


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("problem", choices=CASES)
    parser.add_argument("--steps", type=int, default=100, help="of GaussNewton before")
    parser.add_argument("--trials", type=int, default=10)
    given = parser.parse_args()
    keras.config.set_dtype_policy("float64")
    keras.utils.set_random_seed(0)
    case = CASES[given.problem]
    problem = case.problem()
    network = kp.networks.MLP(case.units, case.depth, outputs=len(problem.fields))
    model = kp.PINNModel(problem, network, seed=0)
    faces = 1 if problem.domain.dimension == 1 else case.faces
    sizes = dict.fromkeys(problem.terms, faces) | {"residual": TIMES * case.points}
    model.compile(keras.optimizers.Adam(schedules.CosineDecay(3e-3, 2000)))
    annealing = kp.callbacks.LearningRateAnnealing()
    fit = {"steps_per_epoch": 2000, "callbacks": [annealing], "verbose": 0}
    model.fit(batch_size=300, **fit)
    fit = {"x": kp.sampling.Uniform(), "batch_size": sizes, "verbose": 0}
    model.compile(kp.optimizers.GaussNewton())
    model.fit(steps_per_epoch=given.steps, **fit)
    model.compile(SingularValues(), run_eagerly=True)
    model.fit(steps_per_epoch=given.trials, **fit)


if __name__ == "__main__":
    main()
