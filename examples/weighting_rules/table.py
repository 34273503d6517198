"""Tables of `docs/weighting_rules.md`, which are made from the records."""

import pathlib
import re
import statistics

from examples.weighting_rules.problems import PROBLEMS
from examples.weighting_rules.rules import RULES

PAGE = pathlib.Path(__file__).parents[2] / "docs" / "weighting_rules.md"
STAGES = ("first", "second")
BASELINES = ("fixed", "annealing")

# Errors below this fraction of the smaller baseline's error are bold.
MUCH_SMALLER = 0.5


def table(records, stage):
    """Return the table of one stage as Markdown, a row for each rule.

    Args:
        records: Dict from problems to dicts from rules to dicts from seeds to records.
        stage: 0 or 1.
    """
    problems = [name for name in PROBLEMS if name in records]
    lines = [f"| Rule | {' | '.join(PROBLEMS[name][0] for name in problems)} |"]
    lines += ["|---" * (1 + len(problems)) + "|"]
    for rule, entry in RULES.items():
        cells = [cell(records[name], rule, stage) for name in problems]
        if any(cells):
            lines.append(f"| {' | '.join([entry.title, *cells])} |")
    return "\n".join(lines)


def cell(of_problem, rule, stage):
    """Return the median error of a rule, bold if far below the baselines' errors."""
    error = median(of_problem, rule, stage)
    if error is None:
        return ""
    baselines = [median(of_problem, name, stage) for name in BASELINES]
    is_bold = rule not in BASELINES and None not in baselines
    is_bold = is_bold and error < MUCH_SMALLER * min(baselines)
    return f"**{error:.1e}**" if is_bold else f"{error:.1e}"


def median(of_problem, rule, stage):
    """Return the median of the seeds' errors, or `None` without records."""
    runs = [entry["last"] for entry in of_problem.get(rule, {}).values()]
    return statistics.median(r["errors"][stage] for r in runs) if runs else None


def write_page(records):
    """Replace the tables of the page."""
    text = PAGE.read_text("utf-8")
    for index, stage in enumerate(STAGES):
        text = re.sub(
            rf"(<!-- {stage} -->\n\n).*?(?=\n\n)",
            lambda match, index=index: match[1] + table(records, index),
            text,
            flags=re.DOTALL,
        )
    PAGE.write_text(text, "utf-8")
