"""Gallery pages, made from programs, and programs run with fewer steps."""

import json
import re

import matplotlib
import numpy as np
import pytest

from examples.gallery import __main__ as gallery

matplotlib.use("Agg")


@pytest.mark.parametrize("name", gallery.names())
def test_program_is_short_and_has_its_page(name):
    title, words = gallery.text(name)
    assert words and len(gallery.source(name).splitlines()) < 60
    record = json.loads(gallery.RECORDS.read_text("utf-8"))[name]
    page = (gallery.PAGES / f"{name}.md").read_text("utf-8")
    assert page.startswith(f"# {title}\n")
    assert all(part in page for part in gallery.parts(words))
    assert gallery.sentence(record) in page
    assert (gallery.PAGES / f"{name}.png").exists()
    stated = gallery.mathematics(name, record)
    assert all(len(row) <= gallery.LONGEST for row in "".join(stated).splitlines())
    assert all(part in page for part in stated)
    assert f"{name}.csv" in page or not (gallery.PROGRAMS / f"{name}.csv").exists()
    notebook = json.loads((gallery.PAGES / f"{name}.ipynb").read_text("utf-8"))
    assert notebook == gallery.as_notebook(name, record)


def test_front_page_has_errors_and_times():
    records = json.loads(gallery.RECORDS.read_text("utf-8"))
    page = (gallery.PAGES.parent / "capabilities.md").read_text("utf-8")
    assert gallery.with_figures(page, records) == page
    (row,) = [line for line in page.splitlines() if "beam_si" in line]
    error = gallery.size(records["beam_si"]["errors"]["w"])
    assert row.endswith(f"| {error}, 1 min |") and "-" not in error


def test_gallery_lists_all_programs():
    pages = re.findall(
        r"\[\*\*.*\((\w+)\.md\)", (gallery.PAGES / "index.md").read_text("utf-8")
    )
    assert pages == gallery.names() and len(pages) == len(set(pages)) > 16
    assert set(pages) == {path.stem for path in gallery.PROGRAMS.glob("[a-z]*.py")}


def test_heated_l_has_its_table():
    pytest.importorskip("skfem")
    from examples import l_shape_reference as reference

    points = reference.lattice()
    basis, state = reference.solve(1 / 10)
    table = np.loadtxt(reference.TABLE, delimiter=",")
    np.testing.assert_allclose(table[:, :2], points.T, atol=1e-9)
    apart = basis.probes(points) @ state - table[:, 2]
    assert np.linalg.norm(apart) < 5e-3 * np.linalg.norm(table[:, 2])


@pytest.mark.parametrize("name", ["resume", "unknown_diffusivity"])
def test_notebooks_run(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    record = json.loads(gallery.RECORDS.read_text("utf-8"))[name]
    _, *cells = gallery.as_notebook(name, record)["cells"]
    assert len(cells) > 3
    code = "\n\n".join("".join(cell["source"]) for cell in cells)
    program = re.sub(r"steps_per_epoch=\d+", "steps_per_epoch=2", code)
    left = {}
    exec(compile(program, name, "exec"), left)
    assert np.isfinite(list(gallery.shown(left["error"]).values())).all()
    assert left["figure"].axes
