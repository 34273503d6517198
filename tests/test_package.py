"""Structure of the whole package: its layers and imports, and the length of files."""

import ast
import functools
import json
import re
import subprocess
import sys
from pathlib import Path

import keraspinn

PACKAGE = Path(keraspinn.__file__).parent
REPOSITORY = Path(__file__).parents[1]
FILES = sorted(PACKAGE.rglob("*.py"))
LONGEST_FILE = 400

# Bottom to top. A folder or module directly in keraspinn imports from
# itself and from lines below its line. `keraspinn/__init__.py` is above them all.
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
# Folders that may import fewer of our folders than the lines below them.
ONLY = {
    "layers": "common derivatives expressions",
    "networks": "common derivatives layers declaration",
    "problems": "common expressions geometry declaration",
}
# Other packages that a folder may import when it is loaded; imports inside functions
# are not counted.
USUAL = "keras numpy scipy sympy"
OTHERS = {
    "backend": "jax keras numpy tensorflow",
    "common": "keras numpy",
    "derivatives": "keras numpy sympy",
    "expressions": "keras mpmath numpy sympy",  # mpmath is SymPy's own arithmetic
    "layers": "keras sympy",
    "metrics": "keras",
    "networks": "keras numpy",
    "optimizers": "keras numpy",
    "training": "h5py keras numpy",
    "weighting": "keras",
}

LEVELS = {
    folder: level for level, folders in enumerate(LAYERS) for folder in folders.split()
}
LEVELS["version"] = -1  # a number, which all folders may read
FOLDERS = sorted(
    {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in FILES}
)
FOLDERS.remove("__init__")


def relative(path):
    return path.relative_to(PACKAGE).as_posix()


def folder_of(path):
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@functools.cache
def parse(path):
    return ast.parse(path.read_text("utf-8"))


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


@functools.cache
def all_imports(path):
    return list(imports(ast.walk(parse(path)), path))


def imports_on_loading(path):
    """Return the imports outside of functions and of TYPE_CHECKING."""

    def outside(node):
        for child in ast.iter_child_nodes(node):
            if not isinstance(child, (ast.FunctionDef, ast.Lambda)) and not (
                isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
            ):
                yield child
                yield from outside(child)

    return list(imports(outside(parse(path)), path))


# Arrows


def test_every_folder_has_a_layer():
    assert set(FOLDERS) <= set(LEVELS), f"Write it on its line of LAYERS in {__file__}."


def test_arrows_point_down():
    upward = []
    for path in FILES:
        folder = folder_of(path)
        allowed = ONLY[folder].split() if folder in ONLY else LEVELS
        for name in all_imports(path) if folder != "__init__" else ():
            if f"{name}.".startswith("keraspinn."):
                other = f"{name}.".split(".")[1]
                is_below = LEVELS.get(other, len(LAYERS)) < LEVELS[folder]
                if other != folder and not (is_below and other in allowed):
                    upward.append(f"{relative(path)} imports {name}")
    assert not upward, "imports point down the lines of LAYERS, as far as ONLY says"


def test_outside_packages():
    refused = []
    for path in FILES:
        name, names = relative(path), all_imports(path)
        if any(f"{n}.".startswith("keras.src.") for n in names):
            refused += [name] * (name != "backend/compatibility.py")
        for engine in {n.split(".")[0] for n in names} & {"tensorflow", "jax"}:
            refused += [name] * (not name.startswith(f"backend/{engine}/"))
        loaded = {n.split(".")[0] for n in imports_on_loading(path)}
        loaded -= {"keraspinn", *sys.stdlib_module_names}
        refused += [name] * (
            not loaded <= set(OTHERS.get(folder_of(path), USUAL).split())
        )
    assert not refused, (
        "keras.src belongs in backend/compatibility.py, an engine under its folder in "
        "backend/, and other packages are those of OTHERS and USUAL"
    )


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

before = state()
import sympy
modules = set(sys.modules)
import keraspinn
changed = before != state()
slow = "matplotlib scipy.fft scipy.interpolate scipy.linalg scipy.optimize"
slow += " scipy.sparse.linalg scipy.spatial"
imported = set(slow.split()) & set(sys.modules) - modules  # Keras may have, not we
print(json.dumps({"changed": changed, "slow": sorted(imported)}))
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
    assert json.loads(run.stdout) == {"changed": False, "slow": []}


# Bookkeeping


def test_version_is_the_changelog_s():
    changelog = (REPOSITORY / "CHANGELOG.md").read_text("utf-8")
    newest = re.search(r"^## \[(.+?)\]", changelog, re.MULTILINE)[1]
    assert keraspinn.__version__ == newest


def test_files_are_short():
    lines = {relative(p): len(p.read_text("utf-8").splitlines()) for p in FILES}
    assert not {name: n for name, n in lines.items() if n > LONGEST_FILE}
