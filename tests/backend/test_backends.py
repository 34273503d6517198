"""Names that all backends must define."""

import ast
import re
from pathlib import Path

import keraspinn.backend as backend

FOLDER = Path(backend.__file__).parent


def names(folder):
    """Return the names of the functions and classes in a folder's modules."""
    modules = [ast.parse(path.read_text("utf-8")) for path in folder.glob("*.py")]
    kinds = ast.FunctionDef, ast.ClassDef
    return {n.name for m in modules for n in m.body if isinstance(n, kinds)}


def test_backends_define_the_names_in_use():
    others = [p for p in FOLDER.parent.rglob("*.py") if FOLDER not in p.parents]
    texts = [path.read_text("utf-8") for path in others]
    texts = [text for text in texts if "from keraspinn import backend" in text]
    used = set(re.findall(r"(?<![\w.])backend\.(\w+)", "\n".join(texts)))
    assert {"jacobian", "snapshot", "StepFunctions"} <= used
    for folder in backend.BACKENDS:
        assert used <= names(FOLDER / folder)
    assert all(hasattr(backend, name) for name in used)
