"""Table of errors for each reading of the paper's algorithm."""

from examples.reproduction.tables import error_of, markdown, spread

PROBLEMS = ["helmholtz", "klein-gordon"]

# Dict from names of readings to the fields of a `Training` that they change.
READINGS = {
    "as the protocol has it": {},
    "literal λ̂": {"rule": "literal"},
    "α = 0.1": {"alpha": 0.1},
    "statistics of kernels only": {"exclude": ("bias",)},
    "an update every step": {"update_freq": 1},
    "an update every 100 steps": {"update_freq": 100},
    "raw inputs": {"standardize": False},
    "the first gate on the input": {"gate_input": True},
    "one mean over the boundary": {"one_mean": True},
}


def table(readings):
    """Return a Markdown table, with a column for each problem and model.

    Args:
        readings: Iterable of pairs of a reading's name and a record of `Results`.
    """
    errors, readings = {}, list(readings)
    networks = {(record["units"], record["depth"]) for _, record in readings}
    for reading, record in readings:
        column = f"{record['problem']} {record['model']}"
        if len(networks) > 1:
            column += f" {record['units']} × {record['depth']}"
        errors.setdefault(reading, {}).setdefault(column, []).append(error_of(record))
    columns = sorted({column for row in errors.values() for column in row})
    rows = [
        [reading, *(spread(row.get(column, ())) for column in columns)]
        for reading, row in errors.items()
    ]
    return markdown(["reading", *columns], rows)
