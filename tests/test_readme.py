"""Program, links and figures of the README."""

import json
import re
import shlex
import statistics
from pathlib import Path

import keras
import pytest

from examples.reproduction.__main__ import parser, trainings
from examples.reproduction.results import Results
from examples.reproduction.tables import PAPER, error_of
from examples.reproduction.training import MODELS

REPOSITORY = Path(__file__).parents[1]
README = (REPOSITORY / "README.md").read_text("utf-8")
RESULTS = REPOSITORY / "docs" / "results"
SHORTER = {
    "tolerance=1e-3)": "max_time=1e-3, verbose=0)",
    "model.fit(epochs=2)": "model.fit(steps_per_epoch=4, verbose=0)",
    "steps_per_epoch=500": "steps_per_epoch=2, verbose=0",
}


@pytest.mark.slow
def test_first_example(tmp_path, monkeypatch):
    programs = re.findall(r"^```python\n(.*?)^```$", README, re.DOTALL | re.MULTILINE)
    program = "\n".join(programs)
    for long, short in SHORTER.items():
        assert long in program
        program = program.replace(long, short)
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(compile(program, "README.md", "exec"), names)

    loaded = keras.models.load_model("plate.keras")
    points = names["plate"].grid(5)
    expected = names["solution"].model.predict(points)
    assert (loaded.predict(points) == expected).all()


def test_the_first_example_is_that_of_the_front_page():
    page = (REPOSITORY / "docs" / "index.md").read_text("utf-8")
    declared = README.partition("u = sp.Function")[2].partition("print(solution)")[0]
    assert "kp.solve(" in declared and declared in page
    printed = REPOSITORY / "docs" / "guide" / "printed" / "index_1.txt"
    assert f"```\n{printed.read_text('utf-8')}```\n" in README


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_links_lead_to_files_of_the_source_distribution(page):
    shipped = (REPOSITORY / "MANIFEST.in").read_text("utf-8").split()
    links = re.findall(r"\]\((?!http)([\w./]+)", (REPOSITORY / page).read_text("utf-8"))
    assert links
    for link in links:
        assert (REPOSITORY / link).exists(), link
        assert link.split("/")[0] in shipped, f"Name {link} in MANIFEST.in."


def check_stated(text, numbers):
    """Check that figures agree with numbers to half of the last printed digit."""
    stated = re.findall(r"\d+\.\d+(?:e-\d+)?", text)
    for figure, number in zip(stated, numbers, strict=True):
        mantissa, _, power = figure.partition("e")
        unit = 10.0 ** (int(power or 0) - len(mantissa.partition(".")[2]))
        assert float(figure) == pytest.approx(number, abs=0.501 * unit), text


def test_table_agrees_with_the_records_of_its_commands():
    rows = iter([line.split("|") for line in README.splitlines() if "±" in line][1:])
    for command in re.findall(r"-m examples\.reproduction (.*)", README):
        arguments, groups = parser().parse_args(shlex.split(command)), {}
        records = Results(REPOSITORY / arguments.results).records()
        for _, training in trainings(arguments):
            key = (training.units, training.depth), training.model
            groups.setdefault(key, []).append(error_of(records[training]))
        for (size, model), errors in groups.items():
            *_, error, paper, _ = next(rows)
            check_stated(error, [statistics.mean(errors), statistics.stdev(errors)])
            if paper.strip():
                assert float(paper) == PAPER["helmholtz"][size][MODELS.index(model)]
    assert not list(rows)


def test_second_stage_errors_agree_with_the_records_at_five_minutes():
    lines = (RESULTS / "second_stage.jsonl").read_text("utf-8").splitlines()
    settings = {"problem": "helmholtz", "optimizer": "SSBroyden", "size": "30x3"}
    settings |= {"network": "plain", "weights": "annealed"}
    records = [r for r in map(json.loads, lines) if settings.items() <= r.items()]
    assert len(records) == 3
    errors = []
    for record in records:
        trace = [at for at in record["trace"] if at["cpu_seconds"] < 305]
        assert trace[-1]["cpu_seconds"] > 295
        errors.append(trace[-1]["u_relative_l2"])
    stated = README.partition("A [second")[2].partition("(three seeds)")[0]
    check_stated(stated, [min(errors), max(errors)])


def test_step_times_agree_with_the_records():
    ratios = {"M1": [], "M4": []}
    for name in "speed.json", "speed_faster_machine.json":
        cells = json.loads((RESULTS / name).read_text("utf-8"))["packages"]
        results = cells["helmholtz"]["results"]
        for model, measured in ratios.items():
            step = results[f"{model} keraspinn"]["median_ms"]
            assert 0.5 < step < 1.5  # a millisecond, give or take a half
            stock = [r for n, r in results.items() if n.startswith(f"{model} stock")]
            measured.append(min(r["median_ms"] for r in stock) / step)
    text = README.partition("; stock Keras")[2].partition(":")[0]
    check_stated(text, [*sorted(ratios["M1"]), *sorted(ratios["M4"])])
