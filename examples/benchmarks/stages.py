"""Stages of the command, which yield measurements."""

import dataclasses

from cells import Pool, compare
from entries import (
    ALL,
    ENTRIES,
    EPOCHS,
    FUSED_TAPES,
    NESTED_KERASPINN,
    NETWORKS,
    ON_JAX,
    chosen,
    named,
    overhead_entries,
)
from environments import NotInstalled, python_of
from work import WORKS


def environments(pool, options):
    """Build all environments, so that nothing is installed between measurements."""
    failures = {}
    for entry in ENTRIES:
        try:
            python_of(entry.requirements_file, options.cache)
        except NotInstalled as reason:
            failures[entry.label] = str(reason)
            print(f"  {entry.label}: {reason}", flush=True)
    yield "environments", {"results": {}, "failures": failures}


def packages(pool, options):
    """Measure all contestants on Helmholtz, and the core ones on other works."""
    for name in options.work or WORKS:
        everybody = name == "helmholtz" or options.all_contestants
        models = options.models or (ALL if everybody else NETWORKS)
        entries = [
            (model, entry)
            for entry in ENTRIES
            if chosen(entry, options) and (everybody or entry.core)
            for model in entry.models
            if model in models
        ]
        yield name, compare_with(pool, entries, paper_cell(name, options), options)


def backends(pool, options):
    """Measure Keras on TensorFlow and JAX, and hand-written JAX in all modes."""
    entries = [*named("keraspinn")[:1], ON_JAX]
    entries += named("hand-written JAX")
    for name in options.work or WORKS:
        pairs = pairs_of(entries, options)
        yield name, compare_with(pool, pairs, paper_cell(name, options), options)


def third_order(pool, options):
    """Measure the Taylor engine and nested tapes on the cavity's third derivatives."""
    entries = [*named("keraspinn")[:1], NESTED_KERASPINN, FUSED_TAPES]
    entries += [e for e in named("stock Keras") if e.core]
    cell = paper_cell("cavity-streamfunction", options)
    pairs = [("M4", entry) for entry in entries if chosen(entry, options)]
    yield "cavity-streamfunction", compare_with(pool, pairs, cell, options)


# Number of steps of an epoch in which callbacks are timed.
STEPS_PER_EPOCH = 1_000
# Largest number of steps of one program, as in `fit`.
CHUNK = 250
# Number of steps of one program, by number of points.
BATCHES = {128: CHUNK, 1_024: 50, 8_192: 5, 100_000: 1}
UNITS = (20, 50, 100, 256)


def sweep(pool, options):
    """Measure batches and widths of keraspinn, stock Keras and JAX on Helmholtz."""
    entries = [*named("keraspinn")[:1]]
    entries += [e for e in named("stock Keras") if e.core]
    entries += named("hand-written JAX", "forward")
    sizes = [(batch, 50) for batch in BATCHES] + [(128, u) for u in UNITS if u != 50]
    for name in options.work or ["helmholtz"]:
        for batch, units in sizes[: 1 if options.quick else None]:
            cell = {"work": name, "batch": batch, "units": units, "depth": 5}
            cell["chunk"] = BATCHES[batch]
            pairs = pairs_of(entries, options)
            key = f"{name} {units}x5, {batch} points"
            yield key, compare_with(pool, pairs, cell, options)


# The same on a GPU, and units and depth there.
CARD_BATCHES = {128: CHUNK, 1_024: CHUNK, 8_192: 50, 100_000: 5}
CARD_SIZES = (50, 5), (256, 6)


def accelerator(pool, options):
    """Measure batches and sizes on a GPU, with all products in full float32."""
    whole = {"JAX_DEFAULT_MATMUL_PRECISION": "highest"}  # as in PyTorch and keraspinn
    entries = [
        dataclasses.replace(entry, variables={**entry.variables, **whole})
        for entry in (ON_JAX, *named("hand-written JAX", "forward"))
    ]
    entries += named("PyTorch", "torch.compile of torch.func, a thread a core")
    pairs = pairs_of(entries, options)
    few = 1 if options.quick else None
    for units, depth in CARD_SIZES[:few]:
        for batch in options.batches or list(CARD_BATCHES)[:few]:
            cell = {"work": "helmholtz", "batch": batch, "units": units, "depth": depth}
            cell["chunk"] = CARD_BATCHES[batch]
            key = f"helmholtz {units}x{depth}, {batch} points"
            # The peak memory of a process never falls, so each entry has a new one.
            with Pool(options.cache, options.installed) as new_pool:
                record = compare_with(new_pool, pairs, cell, options)
                yield key, record | {"versions": new_pool.versions()}


def overheads(pool, options):
    """Measure callbacks, and the matrix products of a step alone.

    Differences of a few per cent need more turns than ratios in other stages.
    """
    entries = [pair for pair in overhead_entries() if chosen(pair[1], options)]
    cell = paper_cell("helmholtz", options)
    steps = options.steps or EPOCHS * STEPS_PER_EPOCH
    repeats = 2 * options.repeats
    yield "helmholtz", compare_with(pool, entries, cell, options, steps, repeats)


def pairs_of(entries, options):
    """Return the pairs of a model and an entry that the options select."""
    return [
        (model, entry)
        for entry in entries
        if chosen(entry, options)
        for model in options.models or NETWORKS
        if model in entry.models
    ]


def paper_cell(work, options):
    """Return the cell of a work, by default with the sizes of the paper."""
    sizes = {"units": options.units, "depth": options.depth, "batch": options.batch}
    return {"work": work, **sizes, "chunk": CHUNK}


def compare_with(pool, entries, cell, options, steps=None, repeats=None):
    """Call `compare` with the options of the command."""
    cell = {**cell, "chunk": min(cell["chunk"], options.steps or cell["chunk"])}
    print(", ".join(f"{k} {v}" for k, v in cell.items()), flush=True)
    steps, repeats = steps or options.steps, repeats or options.repeats
    limits = repeats, options.seconds, steps, options.timeout
    return compare(pool, entries, cell, *limits)
