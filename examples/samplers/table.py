"""Tables of the records, with a row for each sampler and a column for each problem."""

import math
import re
import statistics

from examples.samplers.problems import PROBLEMS
from examples.samplers.training import SAMPLERS

STAGES = "adam", "ssbroyden"


def runs(records, problem, sampler, stage):
    """Return the last results of a stage by seed, a dict.

    Args:
        records: Dict of records by problem, sampler and seed.
        problem: Name of the problem.
        sampler: Name of the sampler.
        stage: `"adam"` or `"ssbroyden"`.
    """
    entries = records.get(problem, {}).get(sampler, {})
    return {seed: entry["last"][stage] for seed, entry in entries.items()}


def relative(records, sampler, stage):
    """Return the geometric mean of errors relative to uniform points, or `None`.

    Args:
        records: As for `runs`.
        sampler: Name of the sampler.
        stage: As for `runs`.
    """
    ratios = []
    for problem in PROBLEMS:
        usual = runs(records, problem, "uniform", stage)
        for seed, result in runs(records, problem, sampler, stage).items():
            if seed in usual:
                ratios.append(math.log(result["error"] / usual[seed]["error"]))
    return math.exp(statistics.fmean(ratios)) if ratios else None


def table(records, stage):
    """Return the table of a stage, as Markdown.

    Args:
        records: As for `runs`.
        stage: As for `runs`.
    """
    titles = [title for title, _ in PROBLEMS.values()]
    lines = [f"| Sampler | {' | '.join(titles)} | Relative to uniform | CPU |"]
    lines += [f"|{'---|' * (len(titles) + 3)}"]
    for sampler, (title, _) in SAMPLERS.items():
        cells, seconds = [title], []
        for problem in PROBLEMS:
            results = runs(records, problem, sampler, stage).values()
            errors = [result["error"] for result in results]
            cells.append(f"{statistics.median(errors):.1e}" if errors else "–")
            seconds += [result["cpu_seconds"] for result in results]
        ratio = relative(records, sampler, stage)
        cells.append(f"{ratio:.2f}" if ratio is not None else "–")
        cells.append(f"{statistics.fmean(seconds):.0f} s" if seconds else "–")
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def write_page(records, page):
    """Replace the tables of a page, each after the marker of its stage.

    Args:
        records: As for `runs`.
        page: Path of the page.
    """
    text = page.read_text("utf-8")
    for stage in STAGES:
        before, mark, _, after = re.split(
            rf"(<!-- {stage} -->\n\n```.*?```\n\n)(.*?)(?=\n\n)", text, flags=re.DOTALL
        )
        text = f"{before}{mark}{table(records, stage)}{after}"
    page.write_text(text, "utf-8")
