"""Public names: their documentation and existence."""

import doctest
import importlib
import inspect
import pkgutil
import re
import types
from pathlib import Path

import keras
import numpy as np
import pytest
import sympy as sp

import keraspinn

PACKAGE = Path(keraspinn.__file__).parent
REPOSITORY = Path(__file__).parents[1]
# Public names that keraspinn itself does not export.
BESIDES = ("expressions",)
# Methods of Keras's protocol, documented there.
PROTOCOL = {"build", "call", "compute_output_shape"}
PROTOCOL |= {"from_config", "get_config", "set_model"}


def exports(module):
    """Return a module's public names: its `__all__`, or else its definitions."""
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


# Base classes for users.
BASES = {"keraspinn.geometry.Part", "keraspinn.optimizers.Objective"}


@each_public
def test_public_classes_have_a_repr(name):
    value = PUBLIC[name]
    if inspect.isclass(value) and name not in BASES:
        assert value.__repr__ is not object.__repr__


def documented():
    """Return the names that the API's pages document, and their members."""
    entry = re.compile(
        r"^\.\. auto(?:class|function|data|exception):: (\S+)\n(?:   :members: (.*))?",
        re.MULTILINE,
    )
    for page in sorted((REPOSITORY / "docs" / "api").glob("*.md")):
        for name, members in entry.findall(page.read_text("utf-8")):
            yield name, members.split(", ") if members else []


def test_api_pages_document_all_public_names_and_no_others():
    written = [name for name, _ in documented()]
    assert len(written) == len(set(written))
    documented_ids = {id(resolved(name)): name for name in written}
    missing = [n for n, value in PUBLIC.items() if id(value) not in documented_ids]
    assert not missing, "Add them to a page of docs/api."
    public = set(map(id, PUBLIC.values()))
    assert not [name for key, name in documented_ids.items() if key not in public]


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
    """Yield the public functions, constructors, and members on the pages."""
    shown = {id(resolved(name)): members for name, members in documented()}
    for name, value in PUBLIC.items():
        functions = {name: value}
        if inspect.isclass(value):
            names = {"__init__", "__new__", "__call__", *shown[id(value)]}
            names = [n for n in sorted(names) if hasattr(value, n)]
            functions = {f"{name}.{n}": inspect.getattr_static(value, n) for n in names}
        for full, member in functions.items():
            for inner in ("fget", "func", "__func__"):
                member = getattr(member, inner, member)
            module = getattr(member, "__module__", None) or ""
            if inspect.isfunction(member) and module.startswith("keraspinn"):
                yield pytest.param(member, id=full)


@pytest.mark.parametrize("function", list(called()))
def test_public_signatures_are_annotated(function):
    signature = inspect.signature(function)
    parameters = [
        p for n, p in signature.parameters.items() if n not in ("self", "cls")
    ]
    missing = [p.name for p in parameters if p.annotation is inspect.Parameter.empty]
    assert not missing and signature.return_annotation is not inspect.Signature.empty


def test_raised_errors_are_documented():
    """Find them in the function's docstring, or with its name in that of its class."""
    for case in called():
        (function,), (owner, _, name) = case.values, case.id.rpartition(".")
        generated = function.__code__.co_filename == "<string>"  # a dataclass's
        code = "" if generated else inspect.getsource(function)
        if re.search(r"^\s+raise \w", code, re.MULTILINE):
            section = (resolved(owner).__doc__ or "").partition("Raises:\n")[2]
            section = section.partition("\n\n")[0]
            names = f"`{name}`", "each method", *["Error:"] * name.startswith("__")
            has_section = "Raises:" in (function.__doc__ or "")
            assert has_section or any(n in section for n in names), case.id


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
