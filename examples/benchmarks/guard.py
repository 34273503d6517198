"""Time what it costs to take no step that is not finite.

    python examples/benchmarks/guard.py --repeats 9

Helmholtz, 50 units × 5 hidden layers, M1 and M4 with annealing, 128 points inside and
on each side, XLA. Programs of 100 steps, as `fit` makes them, run in turn with the
guard and without; the smallest time of each is printed, as the least disturbed by
other work.
"""

import argparse
import time
from unittest import mock

import keras

import keraspinn as kp

NETWORKS = {"M1": kp.networks.MLP, "M4": kp.networks.ModifiedMLP}


def loop(name, guarded):
    """The compiled loop of a model as a function of a number of steps."""
    model = kp.PINNModel(kp.problems.helmholtz(), NETWORKS[name](50, 5), seed=0)
    model.compile(keras.optimizers.Adam(1e-3))
    if name == "M4":
        model.set_weighting(kp.weighting.GradientRatio())
    variables = (
        *model.trainable_variables,
        *model.adapted_variables,
        *model.optimizer.variables,
    )
    check = kp.backend.all_finite if guarded else (lambda tensors: True)
    with mock.patch.object(kp.backend, "all_finite", check):
        program = kp.backend.fused_loop(
            model.unguarded_step,
            model.training_logs,
            model.training_loss_names,
            model.variable_dtype,
            True,
            variables=variables if guarded else (),
        )
        program(1)  # traced here
    return program


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=500)
    parser.add_argument("--repeats", type=int, default=9)
    arguments = parser.parse_args()
    for name in NETWORKS:
        programs = {guarded: loop(name, guarded) for guarded in (True, False)}
        best = dict.fromkeys(programs, float("inf"))
        for _ in range(arguments.repeats):
            for guarded, program in programs.items():
                began = time.perf_counter()
                for _ in range(arguments.steps // 100):
                    float(program(100)["loss"])
                elapsed = 1000 * (time.perf_counter() - began) / arguments.steps
                best[guarded] = min(best[guarded], elapsed)
        print(
            f"{name}: {best[True]:.3f} ms a step with the guard, {best[False]:.3f} ms "
            f"without, ratio {best[True] / best[False]:.3f}"
        )


if __name__ == "__main__":
    main()
