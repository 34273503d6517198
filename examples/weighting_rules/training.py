"""Training of one problem with one rule, in two stages.

python -m examples.weighting_rules.training PROBLEM RULE SEED
"""

import json
import platform
import sys
import time

import keras

import keraspinn as kp
from examples.exam.__main__ import true_errors
from examples.weighting_rules.problems import PROBLEMS
from examples.weighting_rules.rules import RULES
from examples.weighting_rules.rules.per_point import held

# Units of each hidden layer, and number of hidden layers.
UNITS, DEPTH = 30, 3

# Numbers of points inside and on each face, in all steps of both stages.
INSIDE, ON_A_FACE = 3_000, 200

# Number of epochs of Adam, and of steps in each. The rule by the tangent kernel updates
# its weights after each epoch.
ADAM_EPOCHS, EPOCH = 15, 100

# Number of steps of SSBroyden.
SECOND = 300


def first_stage(problem, rule, seed, epochs=ADAM_EPOCHS, steps=EPOCH):
    """Return a model trained with Adam in float32; the rate decays from 3e-3 to 0.

    Args:
        problem: The `Problem`.
        rule: The `Entry` of a rule.
        seed: Integer for points and initial weights.
        epochs: Number of epochs.
        steps: Number of steps of an epoch.
    """
    keras.utils.set_random_seed(seed)
    model = kp.PINNModel(problem, kp.networks.MLP(UNITS, DEPTH), seed=seed)
    schedule = keras.optimizers.schedules.CosineDecay(3e-3, epochs * steps)
    model.compile(keras.optimizers.Adam(schedule))
    kinds = {
        name: rule.equations if term.is_equation else rule.conditions
        for name, term in problem.terms.items()
    }
    model.fit(
        {name: kind() for name, kind in kinds.items()},
        batch_size=dict.fromkeys(kinds, ON_A_FACE) | {"residual": INSIDE},
        steps_per_epoch=steps,
        epochs=epochs,
        callbacks=rule.callbacks(),
        verbose=0,
    )
    return model


def second_stage(model, steps=SECOND):
    """Continue training with SSBroyden in float64, with constant weights.

    Args:
        model: The result of `first_stage`.
        steps: Number of steps.
    """
    points = held(model)
    model = model.astype("float64")
    model.compile(kp.optimizers.SSBroyden())
    model.fit(points, steps_per_epoch=steps, verbose=0)
    return model


def run(name, rule, seed):
    """Train a problem with a rule; return a JSON-serializable dict."""
    problem = PROBLEMS[name][1]()
    errors, seconds, cpu = [], [], []
    model = None
    for stage in (0, 1):
        clocks = time.perf_counter(), time.process_time()
        if stage == 0:
            model = first_stage(problem, RULES[rule], seed)
        else:
            model = second_stage(model)
        seconds.append(round(time.perf_counter() - clocks[0], 1))
        cpu.append(round(time.process_time() - clocks[1], 1))
        errors.append(max(true_errors(model, problem, {}).values()))
    return {
        "errors": errors,
        "weights": {n: float(w.numpy()) for n, w in model.loss_weights.items()},
        "seed": seed,
        "steps": [ADAM_EPOCHS * EPOCH, SECOND],
        "seconds": seconds,
        "cpu_seconds": cpu,
        "machine": f"{platform.machine()}, shared",
        "versions": {"keraspinn": kp.__version__, "keras": keras.__version__},
    }


if __name__ == "__main__":
    print(json.dumps(run(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
