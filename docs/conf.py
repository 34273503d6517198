"""Sphinx configuration. Build with `sphinx-build -W docs docs/_build`."""

import inspect
import os
import pathlib
import re

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml

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
myst_heading_anchors = 3
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = f"keraspinn {release}"
html_extra_path = ["llms.txt"]
html_static_path = ["_static"]
html_css_files = ["style.css"]
html_math_renderer = "mathml"

autodoc_inherit_docstrings = False  # Keras's own docstrings are Markdown
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the text below says it shorter
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
_DOTTED = re.compile(r"\b(?:[A-Za-z_]\w*\.)+[A-Za-z_]\w*")  # name of a type
_EXPONENT = re.compile(r"(?<=\de)-(?=\d)")


def visit_math(translator, node):
    """Mathematics as MathML, which browsers draw without a script from elsewhere."""
    block = node.tagname == "math_block"
    inside = tex2mathml(node.astext(), as_block=block)
    tag = "div" if block else "span"
    translator.body.append(f'<{tag} class="mathematics">{inside}</{tag}>')
    raise nodes.SkipNode


def keras_style(app, what, name, obj, options, lines):
    """Turn what Keras's docstrings have of Markdown into reStructuredText.

    Headings over text that is not indented, and fenced blocks of code.
    """
    converted, fenced, before = [], False, ""
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
            # A program or a formula below a paragraph stands in deeper lines.
            deeper = line.startswith("    ") and not before.startswith((" ", ".."))
            if deeper and not fenced and place and not lines[place - 1]:
                converted += ["::", ""]
            converted.append(f"    {line}" if fenced and line else line)
        before = line or before
    lines[:] = converted


PROGRAMS = {
    path.stem: path.read_text("utf-8")
    for path in sorted(
        (pathlib.Path(__file__).parents[1] / "examples/gallery").glob("*")
    )
    if path.suffix == ".py" and not path.name.startswith("_")
}
SHOWN = 4  # pages of the gallery named below an object


def in_the_gallery(app, what, name, obj, options, lines):
    """Name below an object the pages of the gallery that use it."""
    short = name.replace("keraspinn.", "kp.", 1).replace(".derivatives.", ".")
    method = what == "method" and name.startswith("keraspinn.PINNModel.")
    pattern = rf"\bmodel\.{obj.__name__}\(" if method else rf"\b{re.escape(short)}\b"
    pages = [page for page, text in PROGRAMS.items() if re.search(pattern, text)]
    links = [f":doc:`/gallery/{page}`" for page in pages[:SHOWN]]
    if len(pages) > SHOWN:
        links.append(f":doc:`{len(pages) - SHOWN} more </gallery/index>`")
    if links:
        lines += ["", f"*In the gallery:* {', '.join(links)}", ""]


def own_signature(app, what, name, obj, options, signature, returned):
    """Show a class's `__init__`, where Keras's `__new__` says `*args, **kwargs`."""
    if what != "class" or "__init__" not in vars(obj):
        return None
    parameters = dict(inspect.signature(obj.__init__).parameters)
    del parameters["self"]
    arguments = [p.replace(annotation=p.empty) for p in parameters.values()]
    return str(inspect.Signature(arguments)).replace("<factory>", "..."), None


def join_split_texts(app, what, name, obj, options, lines):
    """Join texts that Napoleon splits at a colon, and shorten the names of types.

    It takes the words before the colon of a property, or below `Returns:`, for a type.
    """
    splits = [(":rtype: ", ":returns: ")]
    if what == "property":
        splits += [(":type: ", "")]
    for kind, text in splits:
        for row in [n for n, line in enumerate(lines) if line.startswith(kind)]:
            before = lines.pop(row).removeprefix(kind)
            first = next(n for n, line in enumerate(lines) if line.startswith(text))
            lines[first] = f"{text}{before}: {lines[first].removeprefix(text)}"
    for row, line in enumerate(lines):
        if line.startswith(":vartype"):
            lines[row] = _DOTTED.sub(r"~\g<0>", line)  # the last part is shown


def minus_signs(app, doctree, docname):
    """Write 1.2e-03 in tables with a minus sign: lines may end at a hyphen."""
    for cell in doctree.findall(nodes.entry):
        for text in list(cell.findall(nodes.Text)):
            if not isinstance(text.parent, nodes.literal):
                minus = nodes.Text(_EXPONENT.sub("−", text))
                text.parent.replace(text, minus)


def setup(app):
    draw = visit_math, None
    app.add_html_math_renderer("mathml", inline_renderers=draw, block_renderers=draw)
    app.connect("autodoc-process-signature", own_signature)
    app.connect("autodoc-process-docstring", keras_style, priority=100)
    app.connect("autodoc-process-docstring", join_split_texts, priority=800)
    app.connect("autodoc-process-docstring", in_the_gallery, priority=900)
    app.connect("doctree-resolved", minus_signs)
