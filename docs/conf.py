"""Sphinx configuration. Build with `sphinx-build -W docs docs/_build`."""

import inspect
import os
import re

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")

from keraspinn import __version__  # it reads the variable above

project = "keraspinn"
author = "The keraspinn developers"
copyright = f"2026, {author}"
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
]
myst_enable_extensions = ["colon_fence", "dollarmath"]
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"keraspinn {release}"

autodoc_default_options = {"members": True}
autodoc_inherit_docstrings = False  # Keras's own docstrings are Markdown
autodoc_member_order = "bysource"
add_module_names = False

default_role = "literal"  # single backticks, as in Keras's docstrings
napoleon_numpy_docstring = False
napoleon_use_ivar = True  # a property may be named among the attributes too
napoleon_custom_sections = [
    ("Call arguments", "params_style"),
    ("Reference", "notes_style"),
]

_HEADING = re.compile(r"^(Example|Examples|Reference):$")
_FENCE = re.compile(r"^( *)```(\w*)$")


def keras_style(app, what, name, obj, options, lines):
    """Turn what Keras's docstrings have of Markdown into reStructuredText.

    Headings over text that is not indented, and fenced blocks of code.
    """
    converted, fenced = [], False
    for place, line in enumerate(lines):
        heading, fence = _HEADING.match(line), _FENCE.match(line)
        following = next((text for text in lines[place + 1 :] if text), "")
        if heading and not following.startswith(" "):
            converted += [f".. rubric:: {heading[1]}", ""]
        elif fence:
            fenced = not fenced
            opening = [f"{fence[1]}.. code-block:: {fence[2] or 'text'}", ""]
            converted += opening if fenced else [""]
        else:
            converted.append(f"    {line}" if fenced and line else line)
    lines[:] = converted


def own_signature(app, what, name, obj, options, signature, returned):
    """Show a class's `__init__`, where Keras's `__new__` says `*args, **kwargs`."""
    if what != "class" or "__init__" not in vars(obj):
        return None
    parameters = inspect.signature(obj.__init__).parameters
    arguments = [p for name, p in parameters.items() if name != "self"]
    return str(inspect.Signature(arguments)), None


def setup(app):
    app.connect("autodoc-process-signature", own_signature)
    app.connect("autodoc-process-docstring", keras_style, priority=100)
