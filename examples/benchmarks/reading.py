"""Results as tables and plots read them, and their words."""

OURS = "keraspinn"


def table(header, rows):
    """A Markdown table; without rows, a sentence."""
    if not rows:
        return "*Not measured yet.*"
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(map(str, line))} |" for line in lines)


def record(results, stage, key):
    """Return one record's results by label, and its failures."""
    found = results.get(stage, {}).get(key, {"results": {}, "failures": {}})
    return found["results"], found["failures"]


def time(result):
    """A median with its spread."""
    if result is None:
        return "–"
    digits = 3 if result["median_ms"] < 10 else 1
    low, middle, high = (
        f"{result[name]:.{digits}f}" for name in ("min_ms", "median_ms", "max_ms")
    )
    return f"{middle} ({low}–{high})"


def best(found, group, model):
    """The fastest result of a group for a model, or `None`."""
    own = [
        result
        for result in found.values()
        if result["group"] == group and result["model"] == model
    ]
    return min(own, key=lambda result: result["median_ms"], default=None)


def plain_fit(found, model):
    """Ours through `fit` with the progress bar."""
    return found.get(f"{model} {OURS}")


def times_as_long(result, reference):
    """A ratio of medians in words."""
    if result is None or reference is None:
        return "–"
    return f"{result['median_ms'] / reference['median_ms']:.2f}"
