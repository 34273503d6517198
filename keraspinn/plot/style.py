"""Canvas, line styles, colours and labels of all figures."""

import itertools
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

# Figure to draw into; a new one if `None`.
Canvas: TypeAlias = "Figure | SubFigure | None"
# Figure drawn, or the subfigure passed as `figure`.
Drawn: TypeAlias = "Figure | Any"

# Colours of Okabe and Ito, distinct for colour-blind readers, from dark to light for
# greyscale; dashes differ too.
_COLOURS = ("#000000", "#0072B2", "#D55E00", "#56B4E9", "#E69F00")
_DASHES = ("-", "--", "-.", ":")
_OTHER_SIGN = 0.02  # share of the largest value below which a sign is round-off


def new_figure(figure, size):
    """Return the figure to draw into, a new one of `size` inches if `None`."""
    if figure is not None:
        return figure
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=size, layout="constrained")
    if "inline" in plt.get_backend():  # notebooks show open figures and results: twice
        plt.close(figure)
    return figure


def line_styles():
    """Yield keyword arguments for `plot`, each unlike the others, without end."""
    colours, dashes = itertools.cycle(_COLOURS), itertools.cycle(_DASHES)
    for colour, dash in zip(colours, dashes, strict=False):
        yield {"color": colour, "linestyle": dash}


def colours(*arrays):
    """Return keyword arguments of a map with one scale for all arrays.

    NaN is ignored. The scale is diverging, with zero in the middle, for both signs.
    """
    least = min(np.nanmin(array) for array in arrays)
    most = max(np.nanmax(array) for array in arrays)
    largest = max(-least, most)
    if min(-least, most) > _OTHER_SIGN * largest:
        return {"vmin": -largest, "vmax": largest, "cmap": "RdBu_r"}
    return {"vmin": least, "vmax": most, "cmap": "viridis"}


def plain(name):
    """Return a name that Matplotlib draws literally.

    It reads text between two $ as TeX, and omits labels that begin with _ from legends.
    """
    shown = name.replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown
