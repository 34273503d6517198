"""Helpers that read results and format them for tables and plots."""

# Group of our entries.
OURS = "keraspinn"


def table(header, rows):
    """Return a Markdown table, or a sentence if there are no rows."""
    if not rows:
        return "*Not measured yet.*"
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def record(results, stage, key):
    """Return one record's results by label, and its failures."""
    stored = results.get(stage, {}).get(key, {"results": {}, "failures": {}})
    return stored["results"], stored["failures"]


def time(result):
    """Return a median with its spread as text."""
    if result is None:
        return "–"
    digits = 3 if result["median_ms"] < 10 else 1
    low, middle, high = (
        f"{result[name]:.{digits}f}" for name in ("min_ms", "median_ms", "max_ms")
    )
    return f"{middle} ({low}–{high})"


def best(results, group, model):
    """Return the fastest result of a group for a model, or `None`."""
    candidates = [
        result
        for result in results.values()
        if result["group"] == group and result["model"] == model
    ]
    return min(candidates, key=lambda result: result["median_ms"], default=None)


def plain_fit(results, model):
    """Return our result for `fit` with the progress bar, or `None`."""
    return results.get(f"{model} {OURS}")


def times_as_long(result, reference):
    """Return a ratio of medians as text."""
    if result is None or reference is None:
        return "–"
    return f"{result['median_ms'] / reference['median_ms']:.2f}"
