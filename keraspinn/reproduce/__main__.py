"""Command line: run what is missing of a table, and print it."""

import argparse
import os

from keraspinn.reproduce.pool import run
from keraspinn.reproduce.results import Results
from keraspinn.reproduce.tables import ARCHITECTURES, table
from keraspinn.reproduce.training import MODELS, PROTOCOLS, SCHEDULES, Training

TABLES = {
    "poisson": [f"poisson-{c}" for c in (1, 2, 4, 8, 16)],
    "helmholtz": ["helmholtz"],
    "klein-gordon": ["klein-gordon"],
    "cavity-psi-p": ["cavity-psi-p"],
    "cavity-u-v-p": ["cavity-u-v-p"],
}


def architecture(text):
    """`"50x3"` as (50, 3)."""
    units, _, depth = text.partition("x")
    try:
        return int(units), int(depth)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"write units x depth, such as 50x3, not {text!r}"
        ) from None


def parser():
    """The command line."""
    result = argparse.ArgumentParser(
        prog="python -m keraspinn.reproduce",
        description="Train the models of one of the paper's tables, and print it.",
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    result.add_argument("table", choices=TABLES)
    result.add_argument("--models", nargs="+", choices=MODELS, default=MODELS)
    result.add_argument(
        "--architectures",
        nargs="+",
        type=architecture,
        help="such as 50x3; the table's",
    )
    result.add_argument("--trials", type=int, default=3, help="trainings of each")
    result.add_argument("--steps", type=int, default=40_000)
    result.add_argument("--seed", type=int, default=0, help="of the first trial")
    result.add_argument("--protocol", choices=PROTOCOLS, default="library")
    result.add_argument("--alpha", type=float, help="of the annealing; the protocol's")
    result.add_argument(
        "--schedule", choices=SCHEDULES, help="of the learning rate; the protocol's"
    )
    result.add_argument("--learning-rate", type=float, help="its start; likewise")
    result.add_argument("--boundary-weight", type=float, help="of the cavity; 1")
    result.add_argument("--workers", type=int, default=os.cpu_count())
    result.add_argument("--results", default="results.jsonl", help="file of records")
    return result


def trainings(arguments):
    """All trainings of a table, first trials first."""
    settings = dict(PROTOCOLS[arguments.protocol])
    for name in ("alpha", "schedule", "learning_rate", "boundary_weight"):
        if getattr(arguments, name) is not None:
            settings[name] = getattr(arguments, name)
    default = ARCHITECTURES if arguments.table == "helmholtz" else [(50, 5)]
    return [
        Training(
            problem=problem,
            model=model,
            units=units,
            depth=depth,
            seed=arguments.seed + trial,
            steps=arguments.steps,
            **settings,
        )
        for trial in range(arguments.trials)
        for problem in TABLES[arguments.table]
        for units, depth in arguments.architectures or default
        for model in arguments.models
    ]


def main():
    arguments = parser().parse_args()
    results = Results(arguments.results)
    wanted = trainings(arguments)
    missing = results.missing(wanted)
    print(f"{len(wanted) - len(missing)} of {len(wanted)} trainings are done already.")
    if missing:
        run(missing, results, arguments.workers)
    records = results.records()
    shown = [records[training] for training in wanted]
    print(table(shown, TABLES[arguments.table], arguments.steps))


if __name__ == "__main__":
    main()
