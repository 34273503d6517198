"""Times of the guard against nonfinite steps.

    python examples/benchmarks/guard.py --repeats 9

The problem is Helmholtz with 50 units × 5 hidden layers, M1 and M4 with annealing, 128
points inside and on each side, and XLA. Programs of 100 steps, as compiled by `fit`,
run in turn with and without the guard. The smallest time of each is printed, because
other programs disturb it least.
"""

import argparse
import contextlib
import inspect
import time
from unittest import mock

import keras

import keraspinn as kp
from keraspinn.backend.tensorflow.trainer import StepFunctions
from keraspinn.training import step
from keraspinn.training.execution import executions

NETWORKS = {"M1": kp.networks.MLP, "M4": kp.networks.ModifiedMLP}


def program(name, guarded, units, depth):
    """Return the program that `fit` compiles, as a function of a number of steps."""
    model = kp.PINNModel(kp.problems.helmholtz(), NETWORKS[name](units, depth), seed=0)
    model.compile(keras.optimizers.Adam(1e-3))
    annealing = [kp.callbacks.LearningRateAnnealing(alpha=0.9)] if name == "M4" else []
    with contextlib.ExitStack() as patches:
        if not guarded:
            for owner, attribute, substitute in (
                (step, "all_finite", lambda tensors: True),
                (StepFunctions, "loop_function", without_copies()),
            ):
                patches.enter_context(mock.patch.object(owner, attribute, substitute))
        # This traces the program.
        model.fit(steps_per_epoch=1, callbacks=annealing, verbose=0)

    def run(steps):
        model.trainer.progress = executions(steps, steps)
        keras.ops.convert_to_numpy(model.train_function(None)["loss"])
        model.trainer.progress = None

    return run


def without_copies():
    """Return a loop that does not restore variables after a nonfinite step."""
    loop_function = StepFunctions.loop_function

    def build(*arguments, **options):
        bound = inspect.signature(loop_function).bind(*arguments, **options)
        for name in {"variables", "watched"} & bound.arguments.keys():
            bound.arguments[name] = ()
        return loop_function(*bound.args, **bound.kwargs)

    return build


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--units", type=int, default=50)
    parser.add_argument("--depth", type=int, default=5)
    arguments = parser.parse_args()
    size = arguments.units, arguments.depth
    for name in NETWORKS:
        programs = {guarded: program(name, guarded, *size) for guarded in (True, False)}
        best = dict.fromkeys(programs, float("inf"))
        for _ in range(arguments.repeats):
            for guarded, run in programs.items():
                began = time.perf_counter()
                for _ in range(arguments.steps // 100):
                    run(100)
                elapsed = 1000 * (time.perf_counter() - began) / arguments.steps
                best[guarded] = min(best[guarded], elapsed)
        print(
            f"{name}: {best[True]:.3f} ms a step with the guard, {best[False]:.3f} ms "
            f"without, ratio {best[True] / best[False]:.3f}"
        )


if __name__ == "__main__":
    main()
