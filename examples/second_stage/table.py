"""Tables of docs/second_stage.md, made from the records.

python -m examples.second_stage.table docs/results/second_stage.jsonl

The first table has a row for each problem. The second has a row for each optimizer of
problems with several; `--plot FILE` draws these. The last table compares networks and
weights λ by errors after equal numbers of steps.
"""

import argparse
import json
import math
import pathlib

# Errors of which the tables show the time until they are reached.
MARKS = 1e-2, 1e-3, 1e-4, 1e-5, 1e-6
# Networks and weights of the last table.
KINDS = {
    "plain, λ = 1": {"network": "plain", "weights": "one"},
    "plain, annealed": {"network": "plain", "weights": "annealed"},
    "gated, annealed": {"network": "gated", "weights": "annealed"},
}
# Recipe that the page recommends.
USUAL = {"optimizer": "SSBroyden", "network": "plain", "weights": "annealed"}


def error(line):
    """Return the largest relative error of the fields."""
    return max(v for k, v in line.items() if k.endswith("relative_l2"))


def seconds_to(trace, mark):
    """Return the CPU seconds until the error is below the mark, or `None`."""
    return next((e["cpu_seconds"] for e in trace if error(e) < mark), None)


def span(values, form):
    """Return the smallest and the largest number as text, one if they are equal."""
    low, high = (format(pick(values), form) for pick in (min, max))
    return low if low == high else f"{low} to {high}"


def reached(traces, mark):
    """Return the seconds to a mark, and the number of seeds unless all reach it."""
    times = [s for s in (seconds_to(trace, mark) for trace in traces) if s is not None]
    if not times:
        return ""
    part = "" if len(times) == len(traces) else f" ({len(times)} of {len(traces)})"
    return span(times, ".0f") + part


def row(records):
    """Return a row of the table, from records that differ only in the seed."""
    first, traces = records[0], [record["trace"] for record in records]
    ends = [error(trace[-1]) for trace in traces]
    cells = [
        first["problem"],
        first["size"] if first["network"] == "plain" else f"gated {first['size']}",
        first["optimizer"],
        str(len(records)),
        *(reached(traces, mark) for mark in MARKS),
        span([trace[-1]["cpu_seconds"] for trace in traces], ".0f"),
        f"**{span(ends, '.1e')}**",
    ]
    return f"| {' | '.join(cells)} |"


def grouped(records):
    """Return lists of records that differ only in the seed, in order of the first."""
    groups = {}
    for record in records:
        names = "problem", "optimizer", "network", "size", "weights"
        groups.setdefault(tuple(record[name] for name in names), []).append(record)
    return list(groups.values())


def usual(record):
    """Return whether a record belongs to the recipe that the page recommends."""
    return all(record[name] == value for name, value in USUAL.items())


def compared(records):
    """Return the records of problems with more than the recipe, by problem."""
    problems = dict.fromkeys(r["problem"] for r in records if not usual(r))
    return [r for name in problems for r in records if r["problem"] == name]


def of_optimizers(records):
    """Return the records of the recipe and of other optimizers."""
    return [r for r in records if usual(r) or r["optimizer"] != USUAL["optimizer"]]


def by_kind(records):
    """Return a table that compares networks and weights with the recipe's optimizer.

    Errors are those of the first seed after equal numbers of steps, those of the
    shortest trace.
    """
    rows = {}
    for record in records:
        for kind, settings in KINDS.items():
            if record["seed"] == 0 and record == record | USUAL | settings:
                name = record["problem"], record["size"]
                rows.setdefault(name, {})[kind] = record["trace"]
    rows = {name: traces for name, traces in rows.items() if len(traces) > 1}
    lines = [
        f"| Problem | Network | Steps | {' | '.join(KINDS)} |",
        f"|{'---|' * (3 + len(KINDS))}",
    ]
    for name, traces in rows.items():
        steps = min(trace[-1]["steps"] for trace in traces.values())
        cells = [*name, f"{steps:,}"]
        for kind in KINDS:
            until = [e for e in traces.get(kind, ()) if e["steps"] <= steps]
            cells.append(f"{error(until[-1]):.1e}" if until else "")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) if rows else ""


def printed(records):
    marks = [f"s to {mark:.0e}" for mark in MARKS]
    names = ["Problem", "Network", "Optimizer", "Seeds", *marks, "s in all", "Error"]
    lines = [f"| {' | '.join(names)} |", f"|{'---|' * len(names)}"]
    return "\n".join(lines + [row(group) for group in grouped(records)])


def plot(records, path):
    """Plot error over time, a panel for each problem and a line for each optimizer."""
    from matplotlib.figure import Figure

    problems = list(dict.fromkeys(record["problem"] for record in records))
    optimizers = list(dict.fromkeys(record["optimizer"] for record in records))
    columns = min(len(problems), 4)
    rows = math.ceil(len(problems) / columns)
    figure = Figure(figsize=(4 * columns, 3.4 * rows), layout="constrained")
    panels = figure.subplots(rows, columns, sharey=True, squeeze=False).ravel()
    for axes in panels[len(problems) :]:
        axes.remove()
    panels = panels[: len(problems)]
    for axes, problem in zip(panels, problems, strict=True):
        for record in records:
            if record["problem"] == problem:
                trace = record["trace"]
                axes.loglog(
                    [line["cpu_seconds"] for line in trace],
                    [error(line) for line in trace],
                    color=f"C{optimizers.index(record['optimizer'])}",
                    label=record["optimizer"],
                    linewidth=1.5,
                )
        axes.set_title(problem.replace("_", " "))
        axes.set_xlabel("seconds of one core")
        axes.grid(alpha=0.3)
    for axes in panels[::columns]:
        axes.set_ylabel("relative L2 error")
    handles = {h.get_label(): h for axes in panels for h in axes.get_lines()}
    panels[-1].legend(handles.values(), handles.keys(), fontsize=8)
    figure.savefig(path, dpi=120)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("records", type=pathlib.Path)
    parser.add_argument("--plot", type=pathlib.Path, help="draw the optimizers here")
    arguments = parser.parse_args()
    records = [
        json.loads(line) for line in arguments.records.read_text("utf-8").splitlines()
    ]
    print(printed([record for record in records if usual(record)]))
    several = compared(of_optimizers(records))
    for table in (printed(several) if several else "", by_kind(records)):
        if table:
            print("\n" + table)
    if several and arguments.plot:
        plot([r for r in several if r["seed"] == 0], arguments.plot)


if __name__ == "__main__":
    main()
