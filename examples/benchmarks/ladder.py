"""Stages with a process for each measurement: the order ladder, and memory.

A step of the ladder trains on the mean squares of all derivatives of one order. It
compares the Taylor engine with nested differentiation.
"""

from cells import Pool, compare
from entries import NESTED_KERASPINN, TAYLOR_GRAPH, chosen, named

CELL = {"batch": 256, "units": 50, "depth": 3, "chunk": 20}
DIMENSIONS, ORDERS = (1, 2, 3), range(1, 9)
# Number of turns, seconds of a turn, and seconds until an entry has failed.
REPEATS, SECONDS, TIMEOUT = 5, 0.2, 60
# Highest order at which finite differences in float64 are accurate to 1e-4.
HIGHEST_CHECKED = 3


def ladder(pool, options):
    """Yield records by dimension and order; failed entries skip higher orders."""
    everybody = [
        *named("keraspinn")[:1],
        TAYLOR_GRAPH,
        NESTED_KERASPINN,
        *named("stock Keras", "graph")[-1:],
        *named("hand-written JAX", "forward"),
        *named("hand-written JAX", "jax.experimental.jet"),
    ]
    for dimension in DIMENSIONS[: 1 if options.quick else None]:
        pairs = [("M1", entry) for entry in everybody if chosen(entry, options)]
        for order in ORDERS[: 2 if options.quick else None]:
            cell = {"work": f"ladder-{dimension}-{order}", **CELL}
            record = alone(pairs, cell, options, agree=order > HIGHEST_CHECKED)
            pairs = [(m, e) for m, e in pairs if f"{m} {e.label}" in record["results"]]
            yield f"{dimension}D, order {order}", record


# Numbers of points on each of five parts: 100,000 in all, or 100,000 on each.
BATCHES = (20_000, 100_000)


def memory(pool, options):
    """Yield records with the peak memory of large batches, M4 50 × 5 on the cavity."""
    entries = [
        *named("keraspinn")[:1],
        *named("stock Keras", "graph")[-1:],
        *named("hand-written JAX", "forward"),
    ]
    pairs = [("M4", entry) for entry in entries if chosen(entry, options)]
    for batch in (1_000,) if options.quick else BATCHES:
        cell = {"work": "cavity-streamfunction", "batch": batch, "units": 50}
        cell |= {"depth": 5, "chunk": 1}
        record = alone(pairs, cell, options, timeout=600)
        yield f"{batch:,} points on each part", record


def alone(pairs, cell, options, timeout=TIMEOUT, agree=False):
    """Call `compare` with each entry in a new process, to measure its memory.

    An entry fails if it does not answer within `timeout` seconds. With `agree`, losses
    are checked against those of the first entry.
    """
    record = {"cell": cell, "results": {}, "failures": {}, "versions": {}}
    cell = {**cell, "chunk": min(cell["chunk"], options.steps or cell["chunk"])}
    limits = REPEATS, SECONDS, options.steps, timeout
    print(", ".join(f"{k} {v}" for k, v in cell.items()), flush=True)
    for pair in pairs:
        first = next(iter(record["results"].values()), None)
        expected = first["losses"] if first else {}
        with Pool(options.cache) as pool:
            compared = compare(pool, [pair], cell, *limits, expected if agree else None)
            record["versions"] |= pool.versions()
        for part in ("results", "failures"):
            record[part] |= compared[part]
    return record
