"""HTML that notebooks show in place of a text."""

from html import escape

import numpy as np


def paragraphs(text):
    """Return the lines of a text as paragraphs, the first one bold."""
    first, *others = escape(text).splitlines()
    return f"<p><b>{first}</b></p>" + "".join(f"<p>{line}</p>" for line in others)


def of_model(model):
    """Return the number of parameters, the headline and the problem of a model."""
    title = f"{type(model).__name__}, {model.count_params():,} parameters"
    formulas = escape(model.problem._repr_latex_())
    return paragraphs(f"{title}\n{model.headline}") + formulas


def table(head, rows):
    """Return a table.

    Args:
        head: Titles of the columns.
        rows: Rows of values, shown by `str`.
    """
    lines = [("th", head), *(("td", row) for row in rows)]
    cells = ["".join(f"<{k}>{escape(str(c))}</{k}>" for c in row) for k, row in lines]
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"


def dots(points, to_scale, width=240.0):
    """Return a drawing (SVG) of points in the plane, in the colour of text.

    Args:
        points: Array `(N, 2)`.
        to_scale: Whether both axes have one scale.
        width: Larger side in pixels.
    """
    sides = np.ptp(points, axis=0)
    size = width * (sides / sides.max() if to_scale else np.array([1.0, 0.6])) + 8
    x, y = (4 + (points - points.min(axis=0)) / sides * (size - 8)).T
    path = "".join(f"M{a:.0f} {b:.0f}h0" for a, b in zip(x, size[1] - y, strict=True))
    style = 'stroke="currentColor" stroke-width="3" stroke-linecap="round"'
    extent = f'width="{size[0]:.0f}" height="{size[1]:.0f}"'
    return f'<svg {extent}><path {style} d="{path}"/></svg>'
