"""Training with a sampler in two stages, and its record."""

import platform
import time

import keras

import keraspinn as kp
from examples import samplers
from examples.exam.__main__ import true_errors
from examples.samplers.problems import PROBLEMS

# Numbers of steps of Adam and of SSBroyden.
STEPS = 1_500, 500

# Numbers of points inside and on each face in a step of Adam.
FIRST_POINTS = 1_000, 100

# Numbers of points in a step of SSBroyden, the default of `fit`.
SECOND_POINTS = 3_000, 200

# Number of steps of Adam with the same points, for samplers that evaluate a pool.
FIRST_PERIOD = 100

# Number of steps of SSBroyden with the same points.
SECOND_PERIOD = 100

# Numbers of additions of RAR-D by stage, so that its set is full before the last
# period.
ROUNDS = 10, 4

# Number of steps with the same points for samplers that never resample.
FOREVER = 10**9

# Title, and function of the number of the stage and the period, by name of sampler.
SAMPLERS = {
    "uniform": ("Uniform", lambda _, every: kp.sampling.Renewed(every)),
    "held": ("Uniform, held", lambda _, every: kp.sampling.Renewed(FOREVER)),
    "lattice": ("Lattice", lambda _, every: samplers.Lattice(every)),
    "sobol": ("Sobol", lambda _, every: samplers.Sobol(every)),
    "residual": ("`ResidualBased`", lambda _, every: kp.sampling.ResidualBased(every)),
    "squared": ("ε²", lambda _, every: kp.sampling.ResidualBased(every, k=2, c=0)),
    "exponential": ("exp(ε)", lambda _, every: samplers.Exponential(every)),
    "rar_d": ("RAR-D", lambda n, every: samplers.RARD(every, rounds=ROUNDS[n])),
    "r3": ("R3", lambda _, every: samplers.R3(every)),
}

# Samplers that draw new points in each step of Adam: they evaluate no pool.
CHEAP = "uniform", "lattice", "sobol", "r3"


def sampler(name, stage):
    """Return a sampler for a stage.

    Args:
        name: One of `SAMPLERS`.
        stage: 0 for Adam, 1 for SSBroyden.
    """
    period = (1 if name in CHEAP else FIRST_PERIOD, SECOND_PERIOD)[stage]
    return SAMPLERS[name][1](stage, period)


def run(problem_name, sampler_name, seed, steps=STEPS):
    """Train a problem with a sampler; returns a JSON-serializable dict.

    Args:
        problem_name: One of `PROBLEMS`.
        sampler_name: One of `SAMPLERS`.
        seed: Integer.
        steps: Numbers of steps of Adam and of SSBroyden.
    """
    keras.utils.set_random_seed(seed)
    problem = PROBLEMS[problem_name][1]()
    model = kp.PINNModel(problem, kp.networks.MLP(30, 3), seed=seed)
    record = {"seed": seed, "steps": [*steps]}
    recipe = kp.recipes.TwoStage(*steps)
    points = FIRST_POINTS, SECOND_POINTS
    for number, label in enumerate(("adam", "ssbroyden")):
        inside, on_a_face = points[number]
        sizes = dict.fromkeys(problem.terms, on_a_face) | {"residual": inside}
        wall, cpu = time.perf_counter(), time.process_time()
        trained = recipe.stages[number].train(
            model, x=sampler(sampler_name, number), batch_size=sizes, verbose=0
        )
        seconds = time.perf_counter() - wall, time.process_time() - cpu
        model = trained.model
        record[label] = {
            "error": max(true_errors(model, problem, {}).values()),
            "loss": kp.recipes.stages.last_loss(trained.history),
            "seconds": round(seconds[0], 1),
            "cpu_seconds": round(seconds[1], 1),
        }
    return record | {
        "machine": f"{platform.machine()}, shared",
        "versions": {"keraspinn": kp.__version__, "keras": keras.__version__},
    }
