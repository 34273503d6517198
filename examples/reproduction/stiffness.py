"""The stiffness of training: λ_max of the loss's Hessian along it."""

import statistics

from examples.reproduction.tables import markdown, spread

PROBLEMS = ["helmholtz-1-1", "helmholtz"]
SETTINGS = {"hessian_every": 2000}


def table(records):
    """A Markdown table of λ_max over the second half of each training, its median.

    Args:
        records: Iterable of records, as `Results` keeps them.
    """
    groups = {}
    for record in records:
        trace = record["eigenvalues"]
        if not trace:  # fewer steps than lie between two values
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
