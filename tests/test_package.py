"""Structure of the whole package: its layers and imports, and the length of files."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import keraspinn

PACKAGE = Path(keraspinn.__file__).parent
REPOSITORY = Path(__file__).parents[1]
FILES = sorted(PACKAGE.rglob("*.py"))
LONGEST_FILE = 400

# Bottom to top. A room, which is a module or a package directly in keraspinn, imports
# from itself and from lines below its own. `keraspinn/__init__.py` is above them all.
LAYERS = (
    "common",
    "backend expressions",
    "derivatives geometry metrics optimizers weighting",
    "layers declaration",
    "networks problems residuals sampling",
    "training",
    "diagnostics",
    "callbacks plot",
    "recipes",
)
# Rooms that may import less of ours than the lines below them.
ONLY = {
    "layers": "common derivatives",
    "networks": "common derivatives layers declaration",
    "problems": "common expressions geometry declaration",
}
# Packages of others that a room may import when it is loaded; imports inside functions
# are not counted.
USUAL = "keras numpy scipy sympy"
OTHERS = {
    "backend": "jax keras numpy tensorflow",
    "common": "keras numpy",
    "derivatives": "keras numpy",
    "expressions": "keras mpmath numpy sympy",  # mpmath is SymPy's own arithmetic
    "layers": "keras",
    "metrics": "keras",
    "networks": "keras numpy",
    "optimizers": "keras numpy",
    "training": "h5py keras numpy",
    "weighting": "keras",
}

LEVELS = {room: level for level, rooms in enumerate(LAYERS) for room in rooms.split()}
LEVELS["version"] = -1  # a number, which every room may read
ROOMS = sorted(
    {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in FILES}
)
ROOMS.remove("__init__")


def relative(path):
    return path.relative_to(PACKAGE).as_posix()


def each_file(test):
    return pytest.mark.parametrize("path", FILES, ids=relative)(test)


def imports(nodes, path):
    """Full names of all that import statements name; `from a import b` names a.b."""
    package = ("keraspinn", *path.relative_to(PACKAGE).parts[:-1])
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join((*start, *filter(None, [node.module])))
            yield from (f"{module}.{alias.name}" for alias in node.names)


def all_imports(path):
    return list(imports(ast.walk(ast.parse(path.read_text("utf-8"))), path))


def imports_on_loading(path):
    """Return the imports outside of functions and of TYPE_CHECKING."""

    def outside(node):
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, (ast.FunctionDef, ast.Lambda)) and not (
                isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
            ):
                yield child
                yield from outside(child)

    return list(imports(outside(ast.parse(path.read_text("utf-8"))), path))


# Arrows


@pytest.mark.parametrize("room", ROOMS)
def test_every_room_has_a_layer(room):
    assert room in LEVELS, f"Write '{room}' on its line of LAYERS in {__file__}."


@each_file
def test_arrows_point_down(path):
    room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    if room == "__init__":
        return
    for name in all_imports(path):
        if not name.startswith("keraspinn."):
            assert name != "keraspinn", f"{room} imports the package's __init__"
            continue
        other = name.split(".")[1]
        assert other in LEVELS, f"{room} imports {name}, which is above it"
        if other == room:
            continue
        allowed = ONLY[room].split() if room in ONLY else LEVELS
        assert LEVELS[other] < LEVELS[room] and other in allowed, (
            f"{room} may not import {name}: arrows point down the lines of LAYERS, and "
            "no farther than ONLY says."
        )


@each_file
def test_outside_packages(path):
    room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    private = [n for n in all_imports(path) if f"{n}.".startswith("keras.src.")]
    own = "backend/compatibility.py"
    assert not private or relative(path) == own, f"{private} belongs in {own}"
    roots = {name.split(".")[0] for name in all_imports(path)}
    for engine in roots & {"tensorflow", "jax"}:
        own = f"backend/{engine}/"
        assert relative(path).startswith(own), f"{engine} belongs under {own}"
    loaded = {name.split(".")[0] for name in imports_on_loading(path)}
    loaded -= {"keraspinn", *sys.stdlib_module_names}
    assert loaded <= set(OTHERS.get(room, USUAL).split())


def test_importing_has_no_side_effects():
    program = """
import json, random, sys
import keras
import numpy as np

def state():
    config = {
        "floatx": keras.config.floatx(),
        "epsilon": keras.config.epsilon(),
        "dtype_policy": keras.config.dtype_policy().name,
        "backend": keras.config.backend(),
        "image_data_format": keras.config.image_data_format(),
        "traceback_filtering": keras.config.is_traceback_filtering_enabled(),
        "interactive_logging": keras.config.is_interactive_logging_enabled(),
    }
    numpy_state = [str(part.tolist() if hasattr(part, "tolist") else part)
                   for part in np.random.get_state()]
    return json.dumps([config, random.getstate(), numpy_state, np.geterr()])

before, modules = state(), set(sys.modules)
import keraspinn
changed = before != state()
imported = "matplotlib" in set(sys.modules) - modules  # Keras may have, not we
print(json.dumps({"changed": changed, "matplotlib": imported}))
"""
    run = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=True,
        cwd=PACKAGE.parent,
    )
    # The one line is the program's own: importing prints nothing.
    assert run.stdout.count("\n") == 1, run.stdout
    assert json.loads(run.stdout) == {"changed": False, "matplotlib": False}


# Bookkeeping


def test_version_is_the_changelog_s():
    changelog = (REPOSITORY / "CHANGELOG.md").read_text("utf-8")
    newest = re.search(r"^## \[(.+?)\]", changelog, re.MULTILINE)[1]
    assert keraspinn.__version__ == newest


@each_file
def test_files_are_short(path):
    lines = len(path.read_text("utf-8").splitlines())
    assert lines <= LONGEST_FILE, f"{relative(path)} has {lines} lines"


def test_import_loads_no_more_than_it_needs():
    names = "interpolate", "optimize", "sparse.linalg", "fft", "spatial", "linalg"
    heavy = [f"scipy.{name}" for name in names]
    program = (
        "import keras, sympy, sys; before = set(sys.modules); import keraspinn; "
        f"print(sorted(({set(heavy)!r} & set(sys.modules)) - before))"
    )
    out = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert out.stdout.strip() == "[]"
