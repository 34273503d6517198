"""The folders of the backends offer the same names."""

import ast
from pathlib import Path

import keraspinn.backend as backend


def names(folder):
    tree = ast.parse(
        (Path(backend.__file__).parent / folder / "__init__.py").read_text()
    )
    (listed,) = (node for node in tree.body if isinstance(node, ast.Assign))
    return ast.literal_eval(listed.value)


def test_every_backend_has_the_same_names():
    for folder in backend.BACKENDS:
        assert names(folder) == backend.__all__
