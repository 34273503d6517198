"""The README's program runs, with fewer steps, and its links lead to files."""

import re
from pathlib import Path

import keras
import pytest

REPOSITORY = Path(__file__).parents[1]
SHORTER = {
    "model.fit(epochs=5,": "model.fit(steps_per_epoch=4, epochs=2, verbose=0,",
    "steps_per_epoch=500, epochs=10": "steps_per_epoch=2, epochs=2, verbose=0",
}


def test_first_example(tmp_path, monkeypatch):
    readme = (REPOSITORY / "README.md").read_text("utf-8")
    (program,) = re.findall(r"^```python\n(.*?)^```$", readme, re.DOTALL | re.MULTILINE)
    for long, short in SHORTER.items():
        assert long in program
        program = program.replace(long, short)
    monkeypatch.chdir(tmp_path)
    names = {}
    exec(compile(program, "README.md", "exec"), names)

    loaded = keras.models.load_model("helmholtz.keras")
    points = names["points"][:5]
    assert (loaded.predict(points) == names["model"].predict(points)).all()


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md"])
def test_links_lead_to_files_of_the_source_distribution(page):
    shipped = (REPOSITORY / "MANIFEST.in").read_text("utf-8").split()
    links = re.findall(r"\]\((?!http)([\w./]+)", (REPOSITORY / page).read_text("utf-8"))
    assert links
    for link in links:
        assert (REPOSITORY / link).exists(), link
        assert link.split("/")[0] in shipped, f"Name {link} in MANIFEST.in."
