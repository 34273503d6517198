"""Examples, run with fewer steps."""

import pathlib
import re

import pytest

EXAMPLES = pathlib.Path(__file__).parents[2] / "examples"
QUIET = "--verbose", "0"


@pytest.mark.parametrize(
    ("name", "arguments", "metric", "bound"),
    [
        ("helmholtz.py", ["--model", "M4", "--steps", "2000"], "u", 0.25),
        ("poisson.py", ["--model", "M2", "--steps", "2000", "--c", "2"], "u", 0.05),
        ("klein_gordon.py", ["--model", "M4", "--steps", "2000"], "u", 0.3),
        ("beam.py", ["--model", "M3", "--steps", "2000", "--si"], "w", 0.02),
        (
            "lid_driven_cavity.py",
            ["--model", "M2", "--steps", "2000", "--formulation", "velocity-pressure"],
            "speed",
            0.6,
        ),
    ],
)
def test_benchmark_examples(run_program, tmp_path, name, arguments, metric, bound):
    output = run_program(name, *QUIET, "--units", "24", "--depth", "3", *arguments)
    error = float(re.search(rf"^{metric}_relative_l2: (\S+)$", output, re.MULTILINE)[1])
    assert error < bound
    (figure,) = tmp_path.glob("*.png")
    assert figure.stat().st_size > 20_000


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ([], (0.1, "cosine", 3e-3)),
        (["--paper"], (0.9, "exponential", 1e-3)),
        (["--paper", "--alpha", "0.5"], (0.5, "exponential", 1e-3)),
        (["--schedule", "exponential"], (0.1, "exponential", 3e-3)),
    ],
)
def test_settings_from_the_command_line(monkeypatch, options, expected):
    monkeypatch.syspath_prepend(str(EXAMPLES))
    import common

    arguments = common.options("").parse_args(options)
    names = ("alpha", "schedule", "learning_rate")
    assert tuple(common.setting(arguments, name) for name in names) == expected


def test_inverse_problem(run_program):
    """Identify the Reynolds number 100 from an initial 20."""
    output = run_program(
        "inverse_cavity.py",
        *QUIET,
        *("--model", "M4", "--units", "24", "--depth", "3", "--steps", "3000"),
    )
    reynolds = float(re.search(r"number at the end: (\S+),", output)[1])
    assert 50 < reynolds < 200


def test_inverse_problem_with_a_second_stage(run_program):
    """Run a second stage, too short for a meaningful deviation."""
    options = ["--model", "M1", "--units", "8", "--depth", "2", "--steps", "1000"]
    options += [*QUIET, "--second-stage", "1"]
    output = run_program("inverse_cavity.py", *options)
    least = float(re.search(r"the least: ± (\S+)", output)[1])
    assert least == pytest.approx(1.02, abs=0.05)
    match = re.search(r"second stage: (\S+) ± (\S+), .* deviation (\S+)", output)
    estimate, deviation, relative = map(float, match.groups())
    assert deviation > least
    assert relative == pytest.approx(deviation / abs(estimate), rel=0.1)
