"""Tables of `docs/speed.md`, functions of the results."""

from ladder_tables import ladder, ladder_ratios
from reading import OURS, best, plain_fit, record, table, time, times_as_long


def everybody(results):
    """Compare all contestants on Helmholtz: times, ratios to ours, seconds to begin."""
    stored, failures = record(results, "packages", "helmholtz")
    labels = {}
    for result in stored.values():
        labels.setdefault((result["group"], result["setting"]), {})[result["model"]] = (
            result
        )
    rows = []
    for (group, setting), by_model in labels.items():
        row = [f"{group}, {setting}" if setting else group]
        for model in ("M1", "M4"):
            result = by_model.get(model)
            row += [time(result), times_as_long(result, plain_fit(stored, model))]
        begin = [f"{r['first_steps_seconds']:.1f}" for r in by_model.values()]
        rows.append([*row, " / ".join(begin)])
    header = ["milliseconds a step", "M1", "× ours", "M4", "× ours", "s to begin"]
    text = table(header, rows)
    wrong = [
        f"- {label}: {reason.removeprefix('error: ')}"
        for label, reason in failures.items()
        if not reason.startswith("refused")
    ]
    return "\n".join([text, "", "Did not run:", "", *wrong]) if wrong else text


def four_models(results):
    """Compare M1 to M4 for contestants that train all of them."""
    stored, _ = record(results, "packages", "helmholtz")
    rows = []
    for group in (OURS, "the paper's algorithm"):
        times = [
            plain_fit(stored, model) if group == OURS else best(stored, group, model)
            for model in ("M1", "M2", "M3", "M4")
        ]
        if any(times):
            row = [group, *map(time, times)]
            rows.append([*row, *(times_as_long(times[k], times[0]) for k in (1, 3))])
    return table(["", "M1", "M2", "M3", "M4", "M2 / M1", "M4 / M1"], rows)


# Number of steps of a training in the paper.
TRAINING = 40_000


def whole_training(results):
    """Estimate times of a whole training, for the best setting of each group."""
    stored, _ = record(results, "packages", "helmholtz")
    cell = results.get("packages", {}).get("helmholtz", {}).get("cell", {})
    others = TRAINING - cell.get("chunk", 0)
    timed = [r for r in stored.values() if r["group"] != OURS or not r["setting"]]
    rows = []
    for group in dict.fromkeys(result["group"] for result in timed):
        row = [group]
        for model in ("M1", "M4"):
            candidates = [
                r for r in timed if (r["group"], r["model"]) == (group, model)
            ]
            waits = [
                (r["import_seconds"] + r["first_steps_seconds"], r) for r in candidates
            ]
            totals = [(s + others * r["median_ms"] / 1e3, s, r) for s, r in waits]
            seconds, begin, chosen = min(totals, key=lambda t: t[0], default=[None] * 3)
            if chosen:
                row += [chosen["setting"] or "–", f"{seconds:.0f}", f"{begin:.1f}"]
            else:
                row += ["–"] * 3
        rows.append(row)
    header = [(f"{model} at", "s", "of them to begin") for model in ("M1", "M4")]
    return table(["", *header[0], *header[1]], rows)


GROUPS = ("stock Keras", "hand-written JAX", "DeepXDE", "the paper's algorithm")


def works(results):
    """Compare all works: our times, and ratios of the best of other groups."""
    rows = []
    for name in results.get("packages", {}):
        stored, _ = record(results, "packages", name)
        for model in ("M1", "M4"):
            ours = plain_fit(stored, model)
            if ours:
                others = [times_as_long(best(stored, g, model), ours) for g in GROUPS]
                rows.append([name, model, time(ours), *others])
    return table(["", "", "keraspinn, ms", *(f"{g}, ×" for g in GROUPS)], rows)


def backends(results):
    """Compare TensorFlow, JAX and hand-written JAX on all works."""
    rows = []
    for name in results.get("backends", {}):
        stored, _ = record(results, "backends", name)
        for model in ("M1", "M4"):
            ours, jax = (
                plain_fit(stored, model),
                best(stored, "keraspinn on JAX", model),
            )
            by_hand = best(stored, "hand-written JAX", model)
            if ours or jax:
                times = [time(result) for result in (ours, jax, by_hand)]
                mode = by_hand["setting"] if by_hand else "–"
                rows.append([name, model, *times, mode, times_as_long(jax, by_hand)])
    header = ["milliseconds a step", "", "on TensorFlow", "on JAX", "JAX by hand"]
    return table([*header, "at its best", "on JAX / by hand"], rows)


def residual_evaluations(results):
    """Compare contestants that evaluate the equation at more points."""
    stored, _ = record(results, "packages", "helmholtz")
    batch = results.get("packages", {}).get("helmholtz", {}).get("cell", {})
    ours = plain_fit(stored, "M1")
    rows = []
    for label, result in stored.items():
        points = result.get("residual_points")
        if points and ours:
            ratio = result["median_ms"] / ours["median_ms"]
            name = label.removeprefix("M1 ")
            share = batch["batch"] / points
            rows.append([name, points, f"{ratio:.1f}", f"{ratio * share:.1f}"])
    header = ["", "equation evaluated at", "× ours a step", "× ours an evaluation"]
    return table(header, rows)


def third_order(results):
    stored, _ = record(results, "third-order", "cavity-streamfunction")
    ours = plain_fit(stored, "M4")
    rows = [
        [label.removeprefix("M4 "), time(result), times_as_long(result, ours)]
        for label, result in stored.items()
    ]
    return table(["milliseconds a step", "M4", "× ours"], rows)


def sweep(results):
    """Compare sizes, with a column for each contestant."""
    columns = (
        ("keraspinn", ""),
        ("stock Keras", "graph"),
        ("stock Keras", "XLA"),
        ("hand-written JAX", "forward"),
    )
    rows = []
    for key, stored in results.get("sweep", {}).items():
        timed = {result["model"] for result in stored["results"].values()}
        for model in sorted(timed):
            row = [key.split(" ", 1)[1], model]
            for group, setting in columns:
                row.append(
                    next(
                        (
                            time(result)
                            for result in stored["results"].values()
                            if result["group"] == group
                            and result["setting"].startswith(setting)
                            and result["model"] == model
                        ),
                        "–",
                    )
                )
            rows.append(row)
    header = ["ms a step", "", *(", ".join(filter(None, c)) for c in columns)]
    return table(header, rows)


def overheads(results):
    """Compare additions to a step, in per cent of its time."""
    stored, _ = record(results, "overheads", "helmholtz")
    named = {
        label.removeprefix("M4 keraspinn, "): result for label, result in stored.items()
    }
    pairs = (
        ("`fit` and its History", "fit, no output", "the compiled loop alone"),
        ("annealing", "fit, no output", "M3 keraspinn, fit, no output"),
        ("the progress bar", "progress bar", "fit, no output"),
        ("`GradientHistogram`, every 1,000 steps", "histograms", "fit, no output"),
        ("`ModelCheckpoint`, every 1,000 steps", "checkpoints", "fit, no output"),
    )
    rows = []
    for name, with_it, without in pairs:
        if with_it in named and without in named:
            with_it, without = named[with_it], named[without]
            ratio = with_it["median_ms"] / without["median_ms"]
            percent = f"{100 * (ratio - 1):+.1f} %"
            rows.append([name, time(without), time(with_it), percent])
    return table(["ms a step", "without", "with", ""], rows)


def products(results):
    """Compare a step with its matrix products alone."""
    stored, _ = record(results, "overheads", "helmholtz")
    fit = stored.get("M4 keraspinn, progress bar")
    rows = []
    for result in stored.values():
        if "megaflops" in result and fit:
            operations = result["megaflops"]
            speed = f"{operations / result['median_ms']:.0f}"
            ratio = f"{fit['median_ms'] / result['median_ms']:.2f}"
            setting = f"NumPy, {result['setting']}"
            rows.append([setting, f"{operations:.0f}", time(result), speed, ratio])
    header = ["", "MFLOP", "ms", "GFLOP/s", "M4 through `fit` / products"]
    return table(header, rows)


def memory(results):
    """Compare peak memory of processes with single steps."""
    peaks = [
        (key, label, f"{result['peak_bytes'] / 1e9:.2f}")
        for key, stored in results.get("memory", {}).items()
        for label, result in stored["results"].items()
    ]
    peaks += [
        (key, label, reason.removeprefix("error: "))
        for key, stored in results.get("memory", {}).items()
        for label, reason in stored["failures"].items()
    ]
    # The third part of a label is a number of steps, which is one for these batches.
    rows = [
        [key, ", ".join(label.removeprefix("M4 ").split(", ")[:2]), peak]
        for key, label, peak in peaks
    ]
    return table(["cavity, M4 50 × 5", "", "peak GB"], rows)


# Ratios of times and their aims.
AIMS = (
    ("M4 through `fit` / its matrix products in NumPy", "at most 1.5"),
    ("the paper's algorithm / M4", "at least 5"),
    ("stock Keras at its best / M4", "at least 2"),
    ("hand-written JAX at its best / M4", "at least 1.3"),
    ("stock Keras at its best / M1", "at least 1.4"),
    ("DeepXDE at its best / M1", "at least 5"),
    ("stock Keras at its best / M4, cavity ψ–p", "at least 2"),
    ("M2 / M1", "at most 1.05"),
    ("M4 / M1", "at most 2"),
    ("nested tapes in one compiled loop / M4, cavity ψ–p", "at least 1.5"),
    ("stock Keras graph / M4, cavity ψ–p", "at least 2.5"),
)


def aims(results):
    """Compare measurements with aims."""
    helmholtz, _ = record(results, "packages", "helmholtz")
    cavity, _ = record(results, "third-order", "cavity-streamfunction")
    around, _ = record(results, "overheads", "helmholtz")
    numpy_best = best(around, "NumPy matrix products", "M4")
    graph = {k: r for k, r in cavity.items() if r["setting"].startswith("graph")}
    m1, m2, m4 = (plain_fit(helmholtz, model) for model in ("M1", "M2", "M4"))
    pairs = (
        (around.get("M4 keraspinn, progress bar"), numpy_best),
        (best(helmholtz, "the paper's algorithm", "M4"), m4),
        (best(helmholtz, "stock Keras", "M4"), m4),
        (best(helmholtz, "hand-written JAX", "M4"), m4),
        (best(helmholtz, "stock Keras", "M1"), m1),
        (best(helmholtz, "DeepXDE", "M1"), m1),
        (best(cavity, "stock Keras", "M4"), plain_fit(cavity, "M4")),
        (m2, m1),
        (m4, m1),
        (best(cavity, "nested tapes", "M4"), plain_fit(cavity, "M4")),
        (best(graph, "stock Keras", "M4"), plain_fit(cavity, "M4")),
    )
    rows = [
        [name, times_as_long(*pair), aim]
        for (name, aim), pair in zip(AIMS, pairs, strict=True)
    ]
    return table(["ratio of times", "measured", "aim"], rows)


def conditions(results):
    """Return machine, date and versions of the measurements."""
    records = [r for stage in results.values() for r in stage.values()]
    if not records:
        return "*nothing yet.*"
    versions = {}
    for stored in records:
        for contestant, installed in stored.get("versions", {}).items():
            for package, version in installed.items():
                contestants = versions.setdefault(package, {}).setdefault(
                    version, set()
                )
                contestants.add(contestant)
    machines = sorted({r["machine"] for r in records})
    dates = sorted({r["date"] for r in records})
    packages = ", ".join(
        f"{package} {version}"
        + (f" ({', '.join(sorted(users))})" if len(by_version) > 1 else "")
        for package, by_version in sorted(versions.items())
        for version, users in sorted(by_version.items())
    )
    days = dates[0] if len(set(dates)) == 1 else f"{dates[0]} to {dates[-1]}"
    return f"{', '.join(machines)}, {days}: {packages}."


def plot(stage, file, caption):
    """Return a function that makes the link to a plot of `plots.draw`."""

    def made(results):
        return f"![{caption}](results/{file})" if results.get(stage) else table([], [])

    return made


TABLES = {
    "plot": plot("packages", "speed.png", "Milliseconds a step of every contestant"),
    "plot-ladder": plot("ladder", "speed_ladder.png", "Milliseconds a step by order"),
    "aims": aims,
    "everybody": everybody,
    "four-models": four_models,
    "whole-training": whole_training,
    "works": works,
    "backends": backends,
    "residual-evaluations": residual_evaluations,
    "third-order": third_order,
    "sweep": sweep,
    "overheads": overheads,
    "products": products,
    "ladder-1": ladder(1),
    "ladder-2": ladder(2),
    "ladder-3": ladder(3),
    "ladder-ratios": ladder_ratios,
    "memory": memory,
    "conditions": conditions,
}
