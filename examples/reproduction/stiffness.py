"""Table of the stiffness of training: λ_max of the loss's Hessian."""

import statistics

from examples.reproduction.tables import markdown, spread

PROBLEMS = ["helmholtz-1-1", "helmholtz"]
# Fields of a `Training`: number of steps between two values of λ_max.
SETTINGS = {"hessian_every": 2000}


def table(records):
    """Return a Markdown table of the median of λ_max in the second half of training.

    Args:
        records: Iterable of records of `Results`.
    """
    groups = {}
    for record in records:
        trace = record["eigenvalues"]
        if not trace:  # the training has fewer steps than `hessian_every`
            continue
        late = statistics.median(trace[len(trace) // 2 :])
        key = record["problem"], f"{record['units']} × {record['depth']}"
        groups.setdefault(key, {}).setdefault(record["model"], []).append(late)
    models = sorted({model for row in groups.values() for model in row})
    rows = [
        [*key, *(spread(row.get(model, ())) for model in models), _ratio(row)]
        for key, row in groups.items()
    ]
    return markdown(["problem", "network", *models, "M1 / M3 (about 3)"], rows)


def _ratio(row):
    if "M1" not in row or "M3" not in row:
        return "–"
    return f"{statistics.mean(row['M1']) / statistics.mean(row['M3']):.1f}"
