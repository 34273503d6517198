"""Names that all backends must define."""

import ast
from pathlib import Path

import keraspinn.backend as backend


def names(folder):
    tree = ast.parse(
        (Path(backend.__file__).parent / folder / "__init__.py").read_text()
    )
    imports = (node.names for node in tree.body if isinstance(node, ast.ImportFrom))
    return {alias.name for own in imports for alias in own}


def test_backends_have_the_same_names():
    first, *others = map(names, backend.BACKENDS)
    assert all(own == first for own in others)
    assert all(hasattr(backend, name) for name in first)
