"""Tests of the language of docstrings, comments, names and documentation."""

import ast
import functools
import re
import runpy
from pathlib import Path

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


@functools.cache
def parse(path):
    """Return the source of a module, its syntax tree and its docstrings."""
    source = path.read_text("utf-8")
    tree = ast.parse(source)
    return source, tree, MEASURE["docstrings"](tree)


def files(*folders, suffix="py"):
    """Return the files of folders by their relative paths."""
    paths = [p for f in folders for p in sorted((ROOT / f).rglob(f"*.{suffix}"))]
    return {path.relative_to(ROOT).as_posix(): path for path in paths}


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


def test_summaries_begin_with_a_verb_or_a_noun():
    weak = [
        f"{name}:{node.lineno}: {text.splitlines()[0]}"
        for name, path in files("keraspinn", "tests", "examples").items()
        for node, text in parse(path)[2].items()
        if MEASURE["WEAK_OPENINGS"].match(text)
    ]
    assert not weak, (
        "begin the summary of a function with a verb (Return, Sample, Check), that of "
        "a class or module with a noun"
    )


def test_variables_have_telling_names():
    abstract = [
        f"{name}:{line}: {variable}"
        for name, path in files("keraspinn", "tests", "examples").items()
        for variable, line in bound_names(parse(path)[1])
        if variable in abstract_names(path)
    ]
    assert not abstract, "name the variable after its content, such as `columns`"


def test_documents_avoid_private_dialect():
    documents = {"README.md": ROOT / "README.md", **files("docs", suffix="md")}
    avoided = [
        f"{name}:{number}: {match[0]!r}, write {instead}"
        for name, path in documents.items()
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1)
        for pattern, instead in WORDS_TO_AVOID.items()
        for match in re.finditer(pattern, line)
    ]
    assert not avoided


def test_the_word_what_is_rare():
    frequent = []
    for name, path in files("keraspinn", "tests", "examples").items():
        source, _, docstrings = parse(path)
        texts = " ".join([*docstrings.values(), *MEASURE["comments"](source)]).lower()
        words = re.findall(r"[a-z']+", texts)
        if words.count("what") > max(1, len(words) * WHATS / 1000):
            frequent.append(name)
    assert not frequent, 'write the noun that "what" stands for'
