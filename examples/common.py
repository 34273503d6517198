"""Command-line options, training and report of the benchmark examples M1 to M4."""

import argparse
import time

import keras
import matplotlib

import keraspinn as kp

matplotlib.use("Agg")

MODELS = {
    "M1": "a plain network",
    "M2": "with learning-rate annealing",
    "M3": "with the gated architecture",
    "M4": "with both",
}

# Number of parameters above which the second stage uses LBFGS: SSBroyden keeps a dense
# matrix of them.
LARGEST_DENSE = 9_000

# Defaults of the options: the best settings that we measured.
SETTINGS = {"alpha": 0.1, "schedule": "cosine", "learning_rate": 3e-3}

# Defaults with `--paper`: the settings of the paper.
PAPERS = {"alpha": 0.9, "schedule": "exponential", "learning_rate": 1e-3}


def options(description, units=50, depth=5):
    """Return the argument parser of a benchmark example."""
    parser = argparse.ArgumentParser(
        description=description,
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    models = "; ".join(f"{name}: {features}" for name, features in MODELS.items())
    parser.add_argument("--model", choices=MODELS, default="M4", help=models)
    parser.add_argument("--units", type=int, default=units, help="units a layer")
    parser.add_argument("--depth", type=int, default=depth, help="hidden layers")
    parser.add_argument(
        "--gate-input",
        action="store_true",
        help="let the first gate of M3 and M4 act on the input",
    )
    parser.add_argument(
        "--paper",
        action="store_true",
        help="train as the paper does: the rate 1e-3 times 0.9 in 1,000 steps, α = 0.9",
    )
    parser.add_argument(
        "--alpha", type=float, help="of the annealing; 0.1, with --paper 0.9"
    )
    rules = ("weighted", "literal")
    parser.add_argument("--rule", choices=rules, default="weighted", help="likewise")
    parser.add_argument(
        "--schedule",
        choices=("exponential", "cosine"),
        help="of the learning rate: times 0.9 in 1,000 steps with --paper, or else to "
        "0 at the end on a cosine",
    )
    parser.add_argument(
        "--learning-rate", type=float, help="its start; 3e-3, with --paper 1e-3"
    )
    parser.add_argument("--steps", type=int, default=40_000, help="training steps")
    parser.add_argument("--batch-size", type=int, default=128, help="points a region")
    parser.add_argument(
        "--second-stage",
        type=int,
        default=0,
        metavar="EPOCHS",
        help="go on in float64 with SSBroyden, with LBFGS where the network is too "
        "large for its matrix, so many times 500 steps",
    )
    parser.add_argument("--seed", type=int, default=0, help="random seed")
    parser.add_argument("--figure", help="file to save the figure to")
    parser.add_argument("--verbose", type=int, default=1, help="as in Keras's fit")
    return parser


def setting(arguments, name):
    """Return the value of an option, or its default if the user set none."""
    value = getattr(arguments, name)
    return (PAPERS if arguments.paper else SETTINGS)[name] if value is None else value


def train(
    problem, arguments, x=None, callbacks=(), steps_per_epoch=1000, second_weights=()
):
    """Train one of the paper's models; returns the model and its history.

    `second_weights` has loss weights λ by condition, for the second stage. Other
    conditions keep the weights of the first stage.
    """
    keras.utils.set_random_seed(arguments.seed)
    gated, annealed = arguments.model in ("M3", "M4"), arguments.model in ("M2", "M4")
    shape = {"units": arguments.units, "depth": arguments.depth}
    shape["outputs"] = len(problem.fields)
    if gated:
        network = kp.networks.ModifiedMLP(**shape, gate_input=arguments.gate_input)
    else:
        network = kp.networks.MLP(**shape)
    model = kp.PINNModel(problem, network, seed=arguments.seed)
    schedules = keras.optimizers.schedules
    initial_rate = setting(arguments, "learning_rate")
    if setting(arguments, "schedule") == "cosine":
        learning_rate = schedules.CosineDecay(initial_rate, arguments.steps)
    else:
        learning_rate = schedules.ExponentialDecay(initial_rate, 1000, 0.9)
    model.compile(keras.optimizers.Adam(learning_rate))
    annealing = kp.callbacks.LearningRateAnnealing(
        alpha=setting(arguments, "alpha"), rule=arguments.rule
    )
    steps_per_epoch = min(steps_per_epoch, arguments.steps)
    if arguments.steps < 1 or arguments.steps % steps_per_epoch:
        raise SystemExit(f"--steps must be a positive multiple of {steps_per_epoch}.")
    began = time.perf_counter()
    history = model.fit(
        x,
        batch_size=arguments.batch_size,
        steps_per_epoch=steps_per_epoch,
        epochs=arguments.steps // steps_per_epoch,
        callbacks=[*callbacks, *([annealing] if annealed else [])],
        verbose=arguments.verbose,
    )
    print(f"trained {arguments.steps} steps in {time.perf_counter() - began:.0f} s")
    if arguments.second_stage:
        model = model.astype("float64")
        dense = model.count_params() <= LARGEST_DENSE
        for name, weight in dict(second_weights).items():
            model.loss_weights[name].assign(weight)
        model.compile(kp.optimizers.SSBroyden() if dense else kp.optimizers.LBFGS())
        run = {"steps_per_epoch": 500, "epochs": arguments.second_stage}
        model.fit(x, **run, verbose=arguments.verbose)
        took = (
            f"{500 * arguments.second_stage} steps of {type(model.optimizer).__name__}"
        )
        print(f"and {took}: {time.perf_counter() - began:.0f} s in all")
    return model, history


def report(model, history, arguments, name):
    """Print the errors against the reference, and save the figure."""
    import matplotlib.pyplot as plt

    errors = model.evaluate(*model.problem.test_data(100), verbose=0, return_dict=True)
    for metric, value in errors.items():
        if metric.endswith("relative_l2"):
            print(f"{metric}: {value:.3e}")
    figure = plt.figure(figsize=(12, 7), layout="constrained")
    top, bottom = figure.subfigures(2, 1)
    kp.plot.solution(model, figure=top)
    kp.plot.history(history, figure=bottom)
    path = arguments.figure or f"{name}_{arguments.model}.png"
    figure.savefig(path, dpi=150)
    plt.close(figure)
    print(f"figure saved to {path}")
