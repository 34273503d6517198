"""What holds for the package as a whole: its arrows, its imports, its documentation."""

import ast
import doctest
import importlib
import inspect
import json
import pkgutil
import re
import subprocess
import sys
import types
from pathlib import Path

import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn

PACKAGE = Path(keraspinn.__file__).parent
REPOSITORY = Path(__file__).parents[1]
FILES = sorted(PACKAGE.rglob("*.py"))
LONGEST_FILE = 400

# Bottom to top. A room, which is a module or a package directly in keraspinn, imports
# from itself and from lines below its own. `keraspinn/__init__.py` is above them all.
LAYERS = (
    "common backend expressions",
    "derivatives geometry metrics optimizers solvers weighting",
    "layers spec",
    "networks problems residuals sampling",
    "training",
    "diagnostics",
    "callbacks plot",
)
# Rooms that may import less of ours than the lines below them.
ONLY = {
    "layers": "common derivatives",
    "networks": "common derivatives layers spec",
    "problems": "common expressions geometry solvers spec",
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
    "solvers": "numpy scipy",
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
    """Those that happen when the module is imported: outside functions, and not for
    type checkers alone."""

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


# Documentation

# Public besides what keraspinn itself exports: imported by those who need them.
BESIDES = ("expressions",)
# Methods of Keras's protocol, documented there.
PROTOCOL = {"build", "call", "compute_output_shape"}
PROTOCOL |= {"from_config", "get_config", "set_model"}


def exports(module):
    """A module's public names, its `__all__` or else what is defined in it."""
    names = getattr(module, "__all__", None) or [
        name
        for name, value in vars(module).items()
        if not name.startswith("_")
        and getattr(value, "__module__", None) == module.__name__
    ]
    return {f"{module.__name__}.{name}": getattr(module, name) for name in names}


def public_objects():
    top = exports(keraspinn)
    modules = [value for value in top.values() if isinstance(value, types.ModuleType)]
    for name in BESIDES:
        modules.append(importlib.import_module(f"keraspinn.{name}"))
    objects = {name: value for name, value in top.items() if callable(value)}
    for module in modules:
        assert module.__doc__, f"{module.__name__} has no docstring"
        objects |= exports(module)
    return objects


PUBLIC = public_objects()


def each_public(test):
    return pytest.mark.parametrize("name", PUBLIC)(test)


@each_public
def test_public_names_have_a_docstring(name):
    value = PUBLIC[name]
    assert value.__doc__, f"{name} has no docstring"
    if not inspect.isclass(value):
        return
    for attribute, member in inspect.getmembers(value):
        owner = next((c for c in value.__mro__ if attribute in vars(c)), object)
        if attribute.startswith("_") or not owner.__module__.startswith("keraspinn"):
            continue
        if inspect.isroutine(member) or isinstance(member, property):
            documented = attribute in PROTOCOL or inspect.getdoc(member)
            assert documented, f"{name}.{attribute} has no docstring"


@each_public
def test_public_docstrings_have_arguments_and_an_example(name):
    value = PUBLIC[name]
    if not callable(value) or (
        inspect.isclass(value) and issubclass(value, BaseException)
    ):
        return
    text = inspect.cleandoc(value.__doc__ or "")
    assert ">>> " in text or "```" in text, f"{name} has no example"
    if inspect.signature(value).parameters:
        assert re.search(r"^Args:$", text, re.MULTILINE), f"{name} has no 'Args:'"


# What a user derives from.
BASES = {"keraspinn.geometry.Part", "keraspinn.optimizers.Objective"}


@each_public
def test_public_classes_say_what_they_are(name):
    value = PUBLIC[name]
    if inspect.isclass(value) and name not in BASES:
        assert value.__repr__ is not object.__repr__


def documented():
    """What the pages of the API document, and the members they show of it."""
    entry = re.compile(
        r"^\.\. auto(?:class|function|data|exception):: (\S+)\n(?:   :members: (.*))?",
        re.MULTILINE,
    )
    for page in sorted((REPOSITORY / "docs" / "api").glob("*.md")):
        for name, members in entry.findall(page.read_text("utf-8")):
            yield name, members.split(", ") if members else []


def test_the_api_has_a_place_for_every_public_name_and_no_other():
    written = [name for name, _ in documented()]
    assert len(written) == len(set(written))
    found = {id(resolved(name)): name for name in written}
    missing = [name for name, value in PUBLIC.items() if id(value) not in found]
    assert not missing, "Add them to a page of docs/api."
    public = set(map(id, PUBLIC.values()))
    assert not [name for number, name in found.items() if number not in public]


def resolved(name):
    value, *path = keraspinn, *name.split(".")[1:]
    for part in path:
        value = getattr(value, part)
    return value


def test_the_api_shows_no_hooks_of_keras():
    shown = {member for _, members in documented() for member in members}
    assert not shown & PROTOCOL
    assert not [member for member in shown if member.startswith(("on_", "_"))]


def called():
    """What a user calls: public functions, constructors, and members on the pages."""
    shown = {id(resolved(name)): members for name, members in documented()}
    for name, value in PUBLIC.items():
        found = {name: value}
        if inspect.isclass(value):
            names = {"__init__", "__new__", "__call__", *shown[id(value)]}
            there = [n for n in sorted(names) if hasattr(value, n)]
            found = {f"{name}.{n}": inspect.getattr_static(value, n) for n in there}
        for full, member in found.items():
            for inner in ("fget", "func", "__func__"):
                member = getattr(member, inner, member)
            own = getattr(member, "__module__", None) or ""
            if inspect.isfunction(member) and own.startswith("keraspinn"):
                yield pytest.param(member, id=full)


@pytest.mark.parametrize("function", list(called()))
def test_public_signatures_are_annotated(function):
    signature = inspect.signature(function)
    parameters = [
        p for n, p in signature.parameters.items() if n not in ("self", "cls")
    ]
    missing = [p.name for p in parameters if p.annotation is inspect.Parameter.empty]
    assert not missing and signature.return_annotation is not inspect.Signature.empty


def test_what_is_raised_is_said():
    """In its own docstring, or with its name in that of its class."""
    for given in called():
        (function,), (owner, _, name) = given.values, given.id.rpartition(".")
        generated = function.__code__.co_filename == "<string>"  # a dataclass's
        code = "" if generated else inspect.getsource(function)
        if re.search(r"^\s+raise \w", code, re.MULTILINE):
            said = (resolved(owner).__doc__ or "").partition("Raises:\n")[2]
            said = said.partition("\n\n")[0]
            names = f"`{name}`", "each method", *["Error:"] * name.startswith("__")
            own = "Raises:" in (function.__doc__ or "")
            assert own or any(n in said for n in names), given.id


def predict_expression_names():
    problem = keraspinn.problems.helmholtz()
    (u,), (x, y) = problem.fields, problem.coordinates
    model = keraspinn.PINNModel(problem, keraspinn.networks.MLP(units=4, depth=1))
    return {"model": model, "u": u, "x": x, "y": y, "points": problem.test_data(3)[0]}


# Names that a docstring's example takes as given, by the docstring's object.
CONTEXT = {
    "keraspinn.training.model.PINNModel.predict_expression": predict_expression_names,
}
MODULES = ["keraspinn"] + [
    module.name for module in pkgutil.walk_packages([str(PACKAGE)], "keraspinn.")
]


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name):
    module = importlib.import_module(name)
    package = importlib.import_module(module.__package__)
    namespace = {"keraspinn": keraspinn, "keras": keras, "sp": sp, "np": np}
    namespace |= {full.rpartition(".")[2]: v for full, v in exports(package).items()}
    runner = doctest.DocTestRunner(
        optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    )
    report = []
    for case in doctest.DocTestFinder(exclude_empty=True).find(module):
        case.globs.update(namespace)
        if case.examples and case.name in CONTEXT:
            case.globs.update(CONTEXT[case.name]())
        runner.run(case, out=report.append)
    assert runner.failures == 0, "".join(report)


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
    heavy = "scipy.interpolate", "scipy.optimize", "scipy.sparse.linalg", "scipy.fft"
    program = (
        "import keras, sympy, sys; before = set(sys.modules); import keraspinn; "
        f"print(sorted(({set(heavy)!r} & set(sys.modules)) - before))"
    )
    out = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert out.stdout.strip() == "[]"
