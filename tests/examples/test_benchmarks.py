"""Benchmark command, in which contestants with wrong losses fail."""

import itertools
import json
import pathlib
import re
import subprocess
import sys

import numpy as np
import pytest

BENCHMARKS = pathlib.Path(__file__).parents[2] / "examples" / "benchmarks"
TINY = ["--steps", "2", "--repeats", "2", "--models", "M1", "--work", "helmholtz"]
TINY += ["--units", "4", "--depth", "2", "--batch", "8"]


def run(tmp_path, *arguments):
    command = [sys.executable, str(BENCHMARKS / "run.py"), *arguments]
    command += ["--output", str(tmp_path / "speed.json"), "--cache", str(tmp_path)]
    return subprocess.run(command, capture_output=True, text=True, timeout=600)


def test_contestants_of_this_environment(tmp_path):
    done = run(
        tmp_path,
        *("--stage", "packages", "backends", *TINY),
        *("--contestants", "keraspinn, the", "keraspinn on", "stock Keras, graph, 10 "),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    stages = json.loads((tmp_path / "speed.json").read_text())
    (record,), (on_jax,) = stages["packages"].values(), stages["backends"].values()
    assert not record["failures"] | on_jax["failures"]
    assert set(on_jax["results"]) == {"M1 keraspinn on JAX"}
    assert on_jax["versions"]["keraspinn_fit-jax"]["jax"]
    results = record["results"]
    assert {result["group"] for result in results.values()} == {
        "keraspinn",
        "stock Keras",
    }
    assert len(results) == 2
    for result in results.values():
        assert result["disagreement"] < 1e-5
        assert len(result["milliseconds"]) == 2
        assert 0 < result["min_ms"] <= result["median_ms"] <= result["max_ms"]
        assert result["peak_bytes"] > result["imported_bytes"] > 1e7
    assert record["versions"]["keraspinn_fit"]["tensorflow"]


def test_stages_run_and_have_tables(benchmarks, tmp_path):
    import plots
    import tables

    done = run(
        tmp_path,
        *("--stage", "third-order", "overheads", "sweep", "ladder", "memory"),
        *("--contestants", "stock Keras, graph, 250", "nested tapes", "NumPy"),
        *("--quick", "--steps", "1", "--repeats", "1"),
        *("--units", "4", "--depth", "1", "--batch", "8"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    stages = json.loads((tmp_path / "speed.json").read_text())
    models = {
        stage: {key: set(record["results"]) for key, record in records.items()}
        for stage, records in stages.items()
    }
    stock = "stock Keras, graph, 250 steps an execution"
    assert models == {
        "third-order": {
            "cavity-streamfunction": {
                f"M4 {stock}",
                "M4 nested tapes, in one compiled loop",
            }
        },
        "overheads": {"helmholtz": {"M4 NumPy matrix products, in one a term"}},
        "sweep": {"helmholtz 50x5, 128 points": {f"M1 {stock}", f"M4 {stock}"}},
        "ladder": {f"1D, order {order}": {f"M1 {stock}"} for order in (1, 2)},
        "memory": {"1,000 points on each part": {f"M4 {stock}"}},
    }
    for records in stages.values():
        for record in records.values():
            assert not record["failures"]
            assert record["versions"] and record["machine"] and record["date"]
            for result in record["results"].values():
                assert 0 < result["min_ms"] <= result["median_ms"] <= result["max_ms"]
    written = {name: make(stages) for name, make in tables.TABLES.items()}
    assert "| 1,000 points on each part | stock Keras, graph | " in written["memory"]
    assert "| order | nested tapes, graph |" in written["ladder-1"]
    assert "| nested tapes, in one compiled loop |" in written["third-order"]
    assert "| 50x5, 128 points | M4 | – |" in written["sweep"]
    plots.draw(stages, tmp_path)
    assert (tmp_path / "speed_ladder.png").stat().st_size > 5_000


def test_shell_does_not_choose_the_backend(benchmarks, monkeypatch):
    from entries import ON_JAX, named
    from environments import environment

    monkeypatch.setenv("KERAS_BACKEND", "jax")
    entries = named("keraspinn")[0], ON_JAX
    backends = [environment(e.variables)["KERAS_BACKEND"] for e in entries]
    assert backends == ["tensorflow", "jax"]


def test_gpu_commands_run_without_a_gpu(benchmarks, tmp_path):
    import gpu
    import run as command

    from examples.reproduction import __main__ as reproduction

    parts = gpu.commands(tmp_path, "small")
    assert set(parts) <= set(gpu.commands(tmp_path, "short"))
    table = list(map(str, parts["table"][0][2:]))
    assert reproduction.parser().parse_args(table).ensemble
    assert command.parsed(list(map(str, parts["steps"][0][1:]))).installed
    done = run(
        tmp_path,
        *("--stage", "accelerator", "--installed", "--quick", *TINY[:6]),
        *("--contestants", "hand-written JAX", "keraspinn on JAX"),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (record,) = json.loads((tmp_path / "speed.json").read_text())[
        "accelerator"
    ].values()
    assert not record["failures"]
    assert record["versions"] and all(
        versions["jax"] for versions in record["versions"].values()
    )
    by_hand = "M1 hand-written JAX, forward over forward"
    assert set(record["results"]) == {by_hand, "M1 keraspinn on JAX"}


def test_failed_order_skips_higher_orders(benchmarks, monkeypatch):
    import ladder
    import run

    requested, checked_against = [], {}

    def compare(pool, pairs, cell, repeats, seconds, steps, timeout, expected):
        ((model, entry),) = pairs
        dimension, order = map(int, cell["work"].split("-")[1:])
        requested.append((dimension, order, entry.setting))
        checked_against[order] = expected
        label, losses = f"{model} {entry.label}", {"residual": 0.5 * order}
        if entry.setting == "without XLA" and (dimension, order) == (2, 4):
            return {"results": {}, "failures": {label: "error: no answer in 60 s"}}
        return {"results": {label: {"losses": losses}}, "failures": {}}

    monkeypatch.setattr(ladder, "compare", compare)
    arguments = ["--contestants", "keraspinn", "--output", "elsewhere.json"]
    records = dict(ladder.ladder(None, run.parsed(arguments)))
    everything = itertools.product((1, 2, 3), range(1, 9))
    assert list(records) == [f"{d}D, order {order}" for d, order in everything]
    orders = [
        order for d, order, setting in requested if (d, setting) == (2, "without XLA")
    ]
    assert orders == [1, 2, 3, 4]
    orders = [
        order for d, order, setting in requested if (d, setting) == (3, "without XLA")
    ]
    assert orders == list(range(1, 9))
    failed = records["2D, order 4"]["failures"]
    assert failed == {"M1 keraspinn, without XLA": "error: no answer in 60 s"}
    # Differences in float64 resolve three orders; above, the first entry is compared.
    assert checked_against[3] is None
    assert checked_against[4] == {"residual": 2.0}


def test_anatomy_of_a_step():
    command = [sys.executable, str(BENCHMARKS / "anatomy.py"), "--work", "poisson"]
    command += ["--models", "M1", "--units", "4", "--depth", "1", "--batch", "8"]
    command += ["--steps", "10", "--repeats", "1"]
    output = subprocess.run(
        command, capture_output=True, text=True, timeout=600, check=True
    ).stdout
    (row,) = re.findall(r"^poisson +M1 +(.+)$", output, re.MULTILINE)
    step, alone, share, products, loops, descent = row.replace("%", "").split()
    assert 0 < float(alone) < float(step)
    assert 0 <= float(share) < 100
    assert int(products) >= 6  # forward and backward, of two layers and two terms
    assert int(loops) > 10
    assert float(descent) > 0


def test_guard_is_timed(run_program):
    options = "--steps", "100", "--repeats", "1", "--units", "4", "--depth", "1"
    output = run_program("benchmarks/guard.py", *options)
    assert re.findall(r"(M\d): [\d.]+ ms a step with the guard", output) == ["M1", "M4"]


def test_importing_is_timed(run_program):
    output = run_program("benchmarks/imports.py", "--repeats", "1")
    assert re.match(r"(tensorflow|jax): [\d.]+ s beyond Keras, [\d.]+ s of", output)


def test_wrong_losses_are_detected(benchmarks, tmp_path, monkeypatch):
    import cells
    import entries
    import reference

    script = tmp_path / "wrong.py"
    script.write_text(
        "from protocol import serve\n"
        "class Wrong:\n"
        "    def __init__(self, task): pass\n"
        "    def losses(self): return {'residual': 1.0, 'boundary': 1.0}\n"
        "    def run(self, steps): pass\n"
        "serve(Wrong, ['numpy'])\n"
    )
    (tmp_path / "wrong.txt").write_text("# nothing\n")
    monkeypatch.setattr(cells, "CONTESTANTS", tmp_path)
    monkeypatch.setattr("environments.CONTESTANTS", tmp_path)
    wrong = entries.Entry("wrong", "", "wrong", {})
    cell = {"work": "helmholtz", "batch": 4, "units": 4, "depth": 2, "chunk": 1}
    with cells.Pool(tmp_path) as pool:
        record = cells.compare(pool, [("M1", wrong)], cell, 1, 0.1, 1)
        assert "losses at the start" in record["failures"]["M1 wrong"]
        assert not record["results"]
        # The same contestant passes with correct losses.
        monkeypatch.setattr(
            reference, "losses", lambda *_: {"residual": 1.0, "boundary": 1.0}
        )
        record = cells.compare(pool, [("M1", wrong)], cell, 1, 0.1, 1)
        assert not record["failures"]


def test_diagnostics_are_timed(run_program):
    options = "--histograms", "--units", "4", "--depth", "1", "--steps", "2000"
    output = run_program("benchmarks/diagnostics.py", *options)
    assert re.findall(r"(M\d), 4 × 1, (\d+) parameters: λ_max in", output) == [
        ("M1", "17"),
        ("M3", "61"),
    ]
    taken = r"(M\d) annealed, 4 × 1, 2000 steps: 2 measurements in"
    assert re.findall(taken, output) == ["M1", "M3"]


@pytest.mark.parametrize("name", ["klein-gordon", "cavity-streamfunction"])
def test_reference_losses_are_those_of_the_problem(benchmarks, name):
    """Compare losses by finite differences and by Taylor arithmetic, to third order."""
    import reference
    import work

    import keraspinn as kp

    problems = {
        "klein-gordon": kp.problems.klein_gordon,
        "cavity-streamfunction": lambda: kp.problems.lid_driven_cavity(corner_width=0),
    }
    case = work.WORKS[name]
    parameters = work.initial_parameters(case, "M1", 6, 2)
    points = case.draw(16, np.random.default_rng(0))
    network = kp.networks.MLP(6, 2, outputs=case.outputs)
    model = kp.PINNModel(problems[name](), network, seed=0)
    for layer, values in zip(network.layers, parameters, strict=True):
        layer.set_weights(values)
    model.compile("adam", jit_compile=False)
    logs = model.fit(points, steps_per_epoch=1, verbose=0).history
    expected = reference.losses(case, "M1", parameters, points)
    for term, value in expected.items():
        assert logs[f"{term}_loss"][0] == pytest.approx(value, rel=1e-5)


def test_gradient_plan_reaches_everything_with_few_calls(benchmarks):
    from work import gradient_plan, order_indices, raised

    for dimension, order in ((1, 4), (2, 3), (3, 3)):
        required = [(0, index) for index in order_indices(dimension, order)]
        reached, calls = {(0, (0,) * dimension)}, 0
        for level in gradient_plan(required):
            for (field, lower), axes in level.items():
                assert (field, lower) in reached
                reached |= {(field, raised(lower, axis)) for axis in axes}
                calls += 1
        assert reached >= set(required)
        assert calls <= {1: 4, 2: 5, 3: 10}[dimension]


def test_environment_that_cannot_be_built_is_reported(
    benchmarks, tmp_path, monkeypatch
):
    import environments

    monkeypatch.setattr(environments, "CONTESTANTS", tmp_path)
    (tmp_path / "no.txt").write_text(f"{tmp_path}/no-such-wheel.whl\n")
    for _ in range(2):  # it is tried once, and remembered
        with pytest.raises(environments.NotInstalled, match="no-such-wheel"):
            environments.python_of("no.txt", tmp_path / "cache")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "  fatal: unable to access 'https://a.org/b/': no such host\n"
            "  error: subprocess-exited-with-error\n\nERROR: git clone failed\n"
            "note: This error originates from a subprocess\n",
            "fatal: unable to access 'https://a.org/b/': no such host",
        ),
        ("WARNING: slow\nERROR: No matching distribution\nnote: x", "ERROR: No match"),
        ("something else", "something else"),
        ("", "pip said nothing"),
    ],
)
def test_cause_of_failure_is_read_from_pip(benchmarks, text, expected):
    from environments import cause

    assert cause(text).startswith(expected)


BREAKS = """
import os, time
from protocol import serve

class Breaks:
    held = 0  # of its process, which others share
    def __init__(self, task):
        self.how, self.turns = task.options["how"], 0
    def losses(self):
        return {}
    def run(self, steps):
        self.turns += 1
        Breaks.held += 1
        if self.turns > 2:
            if self.how == "raises":
                raise ValueError("enough")
            if self.how == "ends":
                os._exit(3)
        return 0.001
    def device_bytes(self):
        return Breaks.held

serve(Breaks, ["numpy"])
"""


def test_failed_contestant_does_not_end_the_run(benchmarks, tmp_path, monkeypatch):
    import cells
    import entries

    (tmp_path / "breaks.py").write_text(BREAKS)
    (tmp_path / "breaks.txt").write_text("# nothing\n")
    monkeypatch.setattr(cells, "CONTESTANTS", tmp_path)
    monkeypatch.setattr("environments.CONTESTANTS", tmp_path)
    made = {
        name: entries.Entry(
            name, "", "breaks", {"how": name}, variables={"OWN": variable}, trains=False
        )
        for name, variable in (
            ("works", "a"),
            ("raises", "a"),
            ("shares", "b"),
            ("ends", "b"),
        )
    }
    cell = {"work": "helmholtz", "batch": 4, "units": 4, "depth": 2, "chunk": 1}
    with cells.Pool(tmp_path) as pool:
        pairs = [("M1", entry) for entry in made.values()]
        record = cells.compare(pool, pairs, cell, 4, 0.1, 1)
        assert set(pool.versions()) == {"breaks-a", "breaks-b"}
    assert record["results"]["M1 works"]["device_bytes"] == 1
    assert list(record["results"]) == ["M1 works"]
    assert len(record["results"]["M1 works"]["milliseconds"]) == 4
    assert "enough" in record["failures"]["M1 raises"]
    assert "ended" in record["failures"]["M1 ends"]
    assert "others share" in record["failures"]["M1 shares"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--contestants", "Keraspin"], "no contestant's label begins with 'Keraspin'"),
        (["--quick"], "with --quick name another file by --output"),
        (["--models", "M1", "--steps", "2"], "with --models, --steps name another"),
        (["--repeats", "0"], "write a number from 1, not '0'"),
    ],
)
def test_partial_run_does_not_replace_full_results(
    benchmarks, capsys, options, message
):
    import run

    with pytest.raises(SystemExit):
        run.parsed(options)
    assert message in capsys.readouterr().err


def test_unreadable_results_raise_before_the_run(tmp_path):
    (tmp_path / "speed.json").write_text("{cut short")
    done = run(tmp_path, "--stage", "packages", *TINY)
    assert done.returncode and "JSONDecodeError" in done.stderr
    assert "Stage" not in done.stdout
    assert (tmp_path / "speed.json").read_text() == "{cut short"
