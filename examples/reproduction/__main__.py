"""Command line that runs the missing trainings of a table and prints the table."""

import argparse
import dataclasses
import os

from examples.reproduction import ablation, stiffness
from examples.reproduction.pool import AVAILABLE, run
from examples.reproduction.results import Results
from examples.reproduction.tables import ARCHITECTURES, table, timings
from examples.reproduction.training import (
    CAVITY_PROTOCOLS,
    CHOICES,
    MODELS,
    PROTOCOL_ARCHITECTURES,
    PROTOCOLS,
    Training,
)

TABLES = {
    "poisson": [f"poisson-{c}" for c in (1, 2, 4, 8, 16)],
    "helmholtz": ["helmholtz"],
    "klein-gordon": ["klein-gordon"],
    "cavity-psi-p": ["cavity-psi-p"],
    "cavity-u-v-p": ["cavity-u-v-p"],
    "stiffness": stiffness.PROBLEMS,
    "ablation": ablation.PROBLEMS,
}

# Fields of a training that have separate options.
_IDENTITY = {"problem", "model", "units", "depth", "seed", "steps"}
SETTINGS = [
    field for field in dataclasses.fields(Training) if field.name not in _IDENTITY
]


def architecture(text):
    """Convert `"50x3"` to (50, 3)."""
    units, _, depth = text.partition("x")
    try:
        return int(units), int(depth)
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"write units x depth, such as 50x3, not {text!r}"
        ) from None


def positive(text):
    """Convert a text to a positive integer."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"write a number from 1, not {text!r}")
    return int(text)


def parser():
    """Return the argument parser."""
    result = argparse.ArgumentParser(
        prog="python -m examples.reproduction",
        description="Train the models of one of the paper's tables, and print it.",
    )
    result.add_argument("table", choices=TABLES)
    result.add_argument("--models", nargs="+", choices=MODELS, help="the table's")
    result.add_argument(
        "--architectures",
        nargs="+",
        type=architecture,
        help="such as 50x3; the table's",
    )
    result.add_argument(
        "--trials", type=positive, default=3, help="of each training; 3"
    )
    result.add_argument("--steps", type=int, default=40_000, help="40,000")
    result.add_argument("--seed", type=int, default=0, help="of the first trial; 0")
    result.add_argument(
        "--protocol", choices=PROTOCOLS, default="library", help="library"
    )
    cores = len(AVAILABLE) or os.cpu_count()
    result.add_argument("--workers", type=positive, default=cores, help="one a core")
    result.add_argument(
        "--ensemble", action="store_true", help="train trials together, as one program"
    )
    result.add_argument("--results", default="results.jsonl", help="file of records")
    settings = result.add_argument_group(
        "settings", "Fields of `examples.reproduction.Training`; the protocol's."
    )
    for field in SETTINGS:
        option = f"--{field.name.replace('_', '-')}"
        if field.type is bool:
            settings.add_argument(option, action=argparse.BooleanOptionalAction)
        elif field.type is tuple:
            settings.add_argument(option, nargs="*")
        else:
            kind = float if field.default is None else field.type
            settings.add_argument(option, type=kind, choices=CHOICES.get(field.name))
    return result


def trainings(arguments):
    """Return all trainings of a table with the names of their readings.

    The first trials of all trainings come first.
    """
    settings = dict(PROTOCOLS[arguments.protocol])
    if arguments.table.startswith("cavity"):
        settings |= CAVITY_PROTOCOLS.get(arguments.protocol, {})
    elif arguments.table == "stiffness":
        settings |= stiffness.SETTINGS
    for field in SETTINGS:
        value = getattr(arguments, field.name)
        if value is not None:
            settings[field.name] = field.type(value) if field.type is tuple else value
    architectures, models, variants = [(50, 5)], MODELS, {"": {}}
    if arguments.table == "helmholtz":
        architectures = ARCHITECTURES
    elif arguments.table == "stiffness":
        models = ("M1", "M3")
    elif arguments.table == "ablation":
        models, variants = ("M2", "M4"), ablation.READINGS
    architectures = PROTOCOL_ARCHITECTURES.get(arguments.protocol, architectures)
    return [
        (
            reading,
            Training(
                problem=problem,
                model=model,
                units=units,
                depth=depth,
                seed=arguments.seed + trial,
                steps=arguments.steps,
                **(settings | changes),
            ),
        )
        for trial in range(arguments.trials)
        for reading, changes in variants.items()
        for problem in TABLES[arguments.table]
        for units, depth in arguments.architectures or architectures
        for model in dict.fromkeys(arguments.models or models)
    ]


def main():
    commands = parser()
    arguments = commands.parse_args()
    results = Results(arguments.results)
    try:
        wanted = trainings(arguments)
    except ValueError as error:
        commands.error(str(error))
    distinct = list(dict.fromkeys(training for _, training in wanted))
    missing = results.missing(distinct)
    print(
        f"{len(distinct) - len(missing)} of {len(distinct)} trainings are done already."
    )
    try:
        failures = run(missing, results, arguments.workers, arguments.ensemble)
    except KeyboardInterrupt:
        print("\nStopped. The same command goes on from here.")
        return 130
    records = results.records()
    done = [(name, training) for name, training in wanted if training in records]
    shown = [records[training] for training in distinct if training in records]
    if arguments.table == "stiffness":
        print(stiffness.table(shown))
    elif arguments.table == "ablation":
        print(ablation.table([(name, records[training]) for name, training in done]))
    else:
        problems = TABLES[arguments.table]
        print(table(shown, problems), timings(shown, problems), sep="\n\n")
    return 1 if failures else 0


if __name__ == "__main__":
    raise SystemExit(main())
