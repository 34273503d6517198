"""Tests of the language of docstrings, comments, names and documentation."""

import ast
import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MEASURE = runpy.run_path(str(ROOT / ".ci" / "measure.py"))
WHATS = 1.5  # largest number of "what" in 1,000 words of docstrings and comments
ABSTRACT_NAMES = {"asked", "every", "found", "own", "place", "said"}
WORDS_TO_AVOID = {
    r"\bthat which\b": "name the thing",
    r"\bleft open\b": "underdetermined",
    r"\bof (one's|ours|their) own\b": "name the owner, or leave it out",
    r"\b(whoever|nobody)\b": "name who it is",
    r"\bsome \d": "about",
    r"\brooms?\b": "folder",
    r"\bjoined\b": "periodic",
}
# Folders with a `sampling.Place`, which methods of samplers receive as `place`.
PLACES = ("sampling", "training", "samplers", "rules")


def cases(*folders, suffix="py"):
    paths = [p for f in folders for p in sorted((ROOT / f).rglob(f"*.{suffix}"))]
    named = {str(path.relative_to(ROOT)): path for path in paths}
    return [pytest.param(path, id=name) for name, path in named.items()]


def abstract_names(path):
    """Return the variable names to avoid in a file; a `Place` is called `place`."""
    has_places = path.parent.name in PLACES
    return ABSTRACT_NAMES - {"place"} if has_places else ABSTRACT_NAMES


def bound_names(tree):
    """Yield the variables and parameters that a module binds, with their lines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id, node.lineno
        elif isinstance(node, ast.arg) and node.arg != "every":  # a public argument
            yield node.arg, node.lineno


@pytest.mark.parametrize("path", cases("keraspinn", "tests", "examples"))
def test_summaries_begin_with_a_verb_or_a_noun(path):
    docstrings = MEASURE["docstrings"](ast.parse(path.read_text("utf-8")))
    weak = [
        f"line {node.lineno}: {text.splitlines()[0]}"
        for node, text in docstrings.items()
        if MEASURE["WEAK_OPENINGS"].match(text)
    ]
    assert not weak, (
        "begin the summary of a function with a verb (Return, Sample, Check), that of "
        "a class or module with a noun"
    )


@pytest.mark.parametrize("path", cases("keraspinn", "examples"))
def test_variables_have_telling_names(path):
    abstract = [
        f"line {line}: {name}"
        for name, line in bound_names(ast.parse(path.read_text("utf-8")))
        if name in abstract_names(path)
    ]
    assert not abstract, "name the variable after its content, such as `columns`"


@pytest.mark.parametrize("path", [ROOT / "README.md", *cases("docs", suffix="md")])
def test_documents_avoid_private_dialect(path):
    avoided = [
        f"line {number}: {match[0]!r}, write {instead}"
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        for pattern, instead in WORDS_TO_AVOID.items()
        for match in re.finditer(pattern, line)
    ]
    assert not avoided


@pytest.mark.parametrize("path", cases("keraspinn", "tests", "examples"))
def test_what_is_rare(path):
    source = path.read_text("utf-8")
    texts = [*MEASURE["docstrings"](ast.parse(source)).values()]
    texts = " ".join([*texts, *MEASURE["comments"](source)]).lower()
    words = re.findall(r"[a-z']+", texts)
    allowed = max(1, len(words) * WHATS / 1000)
    assert words.count("what") <= allowed, 'write the noun that "what" stands for'
