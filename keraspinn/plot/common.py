"""What all figures share: where they are drawn, and how their lines differ."""

import itertools
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from matplotlib.figure import Figure, SubFigure

Canvas: TypeAlias = "Figure | SubFigure | None"
"""What to draw into; a new figure if `None`."""
Drawn: TypeAlias = "Figure | Any"
"""The same: a figure, or the subfigure that was given."""

# Colours of Okabe and Ito that colour-blind readers tell apart, from dark to light, so
# that greyscale does too; dashes and widths differ besides.
_COLOURS = ("#000000", "#0072B2", "#D55E00", "#56B4E9", "#E69F00")
_DASHES = ("-", "--", "-.", ":")
_OTHER_SIGN = 0.02  # less than this part of the largest is rounding, or an overshoot


def check_is(name, value, kind, source):
    """Raises `TypeError` unless an argument is of a kind, and a dict not empty."""
    if not isinstance(value, kind) or (kind is dict and not value):
        raise TypeError(f"`{name}` must be {source}. Received: {value!r}")


def new_figure(figure, size):
    """The figure or subfigure to draw into, a new one of `size` inches if `None`."""
    if figure is not None:
        return figure
    import matplotlib.pyplot as plt

    figure = plt.figure(figsize=size, layout="constrained")
    if "inline" in plt.get_backend():  # a notebook shows what is open, and what a cell
        plt.close(figure)  # returns: the same figure twice
    return figure


def line_styles():
    """Endless keyword arguments for `plot`, each unlike the others."""
    colours, dashes = itertools.cycle(_COLOURS), itertools.cycle(_DASHES)
    for colour, dash in zip(colours, dashes, strict=False):
        yield {"color": colour, "linestyle": dash}


def colours(*arrays):
    """Keyword arguments of a map that shows values, NaN left out, on one scale.

    Diverging with zero in the middle where the values have both signs.
    """
    least = min(np.nanmin(array) for array in arrays)
    most = max(np.nanmax(array) for array in arrays)
    largest = max(-least, most)
    if min(-least, most) > _OTHER_SIGN * largest:
        return {"vmin": -largest, "vmax": largest, "cmap": "RdBu_r"}
    return {"vmin": least, "vmax": most, "cmap": "viridis"}
