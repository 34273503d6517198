"""Tables and plots of the benchmarks' page, made from the results."""

import pathlib
import re


def test_tables_and_plots_are_made_from_results(benchmarks, tmp_path):
    import plots
    import report

    def result(group, model, milliseconds, **more):
        times = {"median_ms": milliseconds, "min_ms": 0.5, "max_ms": 9.0}
        settings = {"group": group, "setting": "", "model": model, "steps": 1}
        waits = {"import_seconds": 1.0, "first_steps_seconds": 2.0}
        return settings | times | waits | more

    results = {
        "packages": {
            "helmholtz": {
                "results": {
                    "M1 keraspinn": result("keraspinn", "M1", 2.0),
                    "M1 DeepXDE": result("DeepXDE", "M1", 8.0, residual_points=640),
                    # Neither a fit nor a best time.
                    "M1 keraspinn, bare": result(
                        "keraspinn", "M1", 1.0, setting="bare"
                    ),
                    "M1 DeepXDE, slow": result("DeepXDE", "M1", 9.0, setting="slow"),
                },
                "failures": {
                    "M4 DeepXDE": "refused: it has no gates",
                    "M1 PINA": "error: no such wheel",
                    "M1 jaxpi": "pip said nothing",
                },
                "cell": {"batch": 64},
                "versions": {
                    "deepxde_step": {"deepxde": "1.2.3", "jax": "2"},
                    "jax_step": {"jax": "3"},
                },
                "machine": "2-core x",
                "date": "2026-01-01",
            }
        }
    }
    page = "Before\n<!-- table NAME -->\nold\n<!-- end -->\nAfter\n"
    made = report.rendered(page.replace("NAME", "everybody"), results)
    assert "old" not in made
    assert made.startswith("Before\n") and made.endswith("After\n")
    row = "| DeepXDE | 8.000 (0.500–9.000) | 4.00 | – | – | 2.0 |"
    assert row in made
    assert "- M1 PINA: no such wheel" in made
    assert "- M1 jaxpi: pip said nothing" in made
    assert "no gates" not in made
    assert report.rendered(made, results) == made
    (tmp_path / "other.json").write_text("{}")
    aims = page.replace("NAME", "aims@other.json")
    other = report.rendered(aims, results, tmp_path)
    assert "| M2 / M1 | – | at most 1.05 |" in other
    evaluations = report.rendered(page.replace("NAME", "residual-evaluations"), results)
    assert "| DeepXDE | 640 | 4.0 | 0.4 |" in evaluations
    training = report.rendered(page.replace("NAME", "whole-training"), results)
    assert "| keraspinn | – | 83 | 3.0 | – | – | – |" in training
    assert "| DeepXDE | – | 323 | 3.0 | – | – | – |" in training
    conditions = report.rendered(page.replace("NAME", "conditions"), results)
    expected = "deepxde 1.2.3, jax 2 (deepxde_step), jax 3 (jax_step)."
    assert f"2-core x, 2026-01-01: {expected}" in conditions
    plots.draw(results, tmp_path)
    assert (tmp_path / "speed.png").stat().st_size > 5_000


def test_every_table_of_the_page_exists(benchmarks):
    import tables

    docs = pathlib.Path(__file__).parents[2] / "docs"
    results, page = docs / "results", (docs / "speed.md").read_text("utf-8")
    names = re.findall(r"<!-- table (\S+) -->", page)
    assert names
    assert {name.partition("@")[0] for name in names} <= tables.TABLES.keys()
    files = {file for name in names if (file := name.partition("@")[2])}
    assert all((results / file).exists() for file in files)
    assert page.count("<!-- end -->") == len(names)
    for make in tables.TABLES.values():
        assert isinstance(make({}), str)
