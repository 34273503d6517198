"""Measure code size and wording of the package and its tests.

python .ci/measure.py
"""

import ast
import io
import re
import sys
import tokenize
from pathlib import Path

ROOT = Path(__file__).parents[1]
WEAK_OPENINGS = re.compile(r"(What|How|Of|Where|Those|Whether)\b")
DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def docstrings(tree):
    """Return all docstring nodes of a module, with their text."""
    found = {}
    for node in ast.walk(tree):
        if isinstance(node, DOCUMENTED) and ast.get_docstring(node) is not None:
            found[node.body[0].value] = ast.get_docstring(node)
    return found


def comments(source):
    """Return the comments of a module."""
    tokens = tokenize.generate_tokens(io.StringIO(source).readline)
    return [t.string for t in tokens if t.type == tokenize.COMMENT]


def code_lines(source, tree):
    """Return the number of lines with code: no docstrings, comments or blanks."""
    lines = set()
    skipped = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT}
    skipped |= {tokenize.DEDENT, tokenize.ENDMARKER, tokenize.ENCODING}
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type not in skipped:
            lines.update(range(token.start[0], token.end[0] + 1))
    for node in docstrings(tree):
        lines.difference_update(range(node.lineno, node.end_lineno + 1))
    return len(lines)


def measure(folder):
    """Return code lines, "what" per 1,000 words, and the share of weak openings."""
    lines, words, whats, summaries, weak = 0, 0, 0, 0, 0
    for path in sorted(folder.rglob("*.py")):
        source = path.read_text("utf-8")
        tree = ast.parse(source)
        lines += code_lines(source, tree)
        texts = list(docstrings(tree).values())
        summaries += len(texts)
        weak += sum(bool(WEAK_OPENINGS.match(text)) for text in texts)
        for text in [*texts, *comments(source)]:
            own = re.findall(r"[A-Za-z']+", text.lower())
            words += len(own)
            whats += own.count("what")
    return lines, 1000 * whats / max(words, 1), 100 * weak / max(summaries, 1)


if __name__ == "__main__":
    for name in sys.argv[1:] or ["keraspinn", "tests", "examples"]:
        lines, whats, weak = measure(ROOT / name)
        print(
            f"{name}: {lines:,} code lines, 'what' {whats:.2f} in 1,000 words, "
            f"{weak:.1f} % of the summaries begin with What, How, Of, Where, Those "
            "or Whether"
        )
