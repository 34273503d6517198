"""Tables of the paper, with our numbers and those of the paper."""

import math
import statistics

from examples.reproduction.training import MODELS

ARCHITECTURES = [(units, depth) for depth in (3, 5, 7) for units in (30, 50, 100)]

# Relative L2 errors of the paper: table 2, table 3, and the captions of section 3.3.
# The one-dimensional Poisson errors are those of the plain model in the published
# version.
PAPER = {
    "helmholtz": {
        (30, 3): (2.44e-1, 5.39e-2, 5.31e-2, 1.07e-2),
        (50, 3): (1.06e-1, 1.12e-2, 2.46e-2, 3.87e-3),
        (100, 3): (9.07e-2, 4.84e-3, 1.17e-2, 2.71e-3),
        (30, 5): (2.47e-1, 2.74e-2, 4.12e-2, 3.49e-3),
        (50, 5): (1.40e-1, 7.43e-3, 1.97e-2, 2.54e-3),
        (100, 5): (1.15e-1, 5.37e-3, 1.08e-2, 1.63e-3),
        (30, 7): (3.10e-1, 2.67e-2, 3.17e-2, 3.59e-3),
        (50, 7): (1.98e-1, 7.33e-3, 2.37e-2, 2.04e-3),
        (100, 7): (8.14e-2, 4.52e-3, 9.36e-3, 1.49e-3),
    },
    "klein-gordon": {(50, 5): (1.79e-1, 1.06e-2, 1.97e-2, 2.81e-3)},
    "cavity-u-v-p": {(50, 5): (0.784, 0.748, 0.748, 0.753)},
    "cavity-psi-p": {(50, 5): (0.271, 0.249, 0.121, 0.0342)},
    "poisson-1": {(50, 5): (1.34e-4,)},
    "poisson-2": {(50, 5): (4.65e-4,)},
    "poisson-4": {(50, 5): (3.82e-3,)},
    "poisson-8": {(50, 5): (1.30e-2,)},
    "poisson-16": {(50, 5): (9.44,)},
}


def error_of(record):
    """Return the error in the paper's table, that of u or of the cavity's speed."""
    errors = record["errors"]
    return errors.get("speed", next(iter(errors.values())))


def spread(values, digits=2):
    """Return mean ± deviation of values as text; a dash stands for none.

    Nonfinite errors are counted separately.
    """
    values = list(values)
    finite = [value for value in values if math.isfinite(value)]
    text = "–"
    if finite:
        text = f"{statistics.mean(finite):.{digits}e}"
    if len(finite) > 1:
        text += f" ± {statistics.stdev(finite):.{digits - 1}e}"
    lost = len(values) - len(finite)
    return f"{text}, {lost} not finite" if lost else text


def markdown(header, rows):
    """Return a Markdown table from texts."""
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def table(records, problems):
    """Return a Markdown table of errors, those of the paper, and their ratios.

    Args:
        records: Iterable of records of `Results`.
        problems: Names of problems, each with a block of rows.
    """
    rows = []
    groups = _grouped(records, problems)
    models = [model for model in MODELS if any(model in row for row in groups.values())]
    for (index, depth, units), row in sorted(groups.items()):
        cells = [problems[index], f"{units} × {depth}"]
        for model in models:
            errors = [error_of(record) for record in row.get(model, ())]
            cells.append(spread(errors))
            published = _published(problems[index], units, depth, model)
            if errors and published and math.isfinite(sum(errors)):
                cells[-1] += (
                    f" ({published:.2e}, × {statistics.mean(errors) / published:.2f})"
                )
        rows.append(cells)
    return markdown(["problem", "network", *models], rows)


def timings(records, problems):
    """Return a Markdown table of median seconds, and of their ratios to those of M1.

    Args:
        records: Iterable of records of `Results`.
        problems: Names of problems, each with a block of rows.
    """
    rows = []
    for (index, depth, units), row in sorted(_grouped(records, problems).items()):
        seconds = {
            model: statistics.median(record["seconds"] for record in trained)
            for model, trained in row.items()
        }
        cells = [problems[index], f"{units} × {depth}"]
        for model in MODELS:
            median = seconds.get(model)
            cells.append(f"{median:.0f} s" if median else "–")
            if median and "M1" in seconds:
                cells[-1] += f" (× {median / seconds['M1']:.2f})"
        rows.append(cells)
    return markdown(["problem", "network", *MODELS], rows)


def _grouped(records, problems):
    """Group records by (index of the problem, depth, units), then by model."""
    groups = {}
    for record in records:
        key = problems.index(record["problem"]), record["depth"], record["units"]
        groups.setdefault(key, {}).setdefault(record["model"], []).append(record)
    return groups


def _published(problem, units, depth, model):
    row = PAPER.get(problem, {}).get((units, depth), ())
    column = MODELS.index(model)
    return row[column] if column < len(row) else None
