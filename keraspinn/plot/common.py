"""What all figures share: where they are drawn, and how their lines differ."""

import itertools

# Colours of Okabe and Ito that colour-blind readers tell apart, from dark to light, so
# that greyscale does too; dashes and widths differ besides.
_COLOURS = ("#000000", "#0072B2", "#D55E00", "#56B4E9", "#E69F00")
_DASHES = ("-", "--", "-.", ":")


def check_is(name, value, kind, source):
    """Raises `TypeError` unless an argument is of a kind, and a dict not empty."""
    if not isinstance(value, kind) or (kind is dict and not value):
        raise TypeError(f"`{name}` must be {source}. Received: {value!r}")


def new_figure(figure, size):
    """The figure or subfigure to draw into, a new one of `size` inches if `None`."""
    if figure is not None:
        return figure
    import matplotlib.pyplot as plt

    return plt.figure(figsize=size, layout="constrained")


def line_styles():
    """Endless keyword arguments for `plot`, each unlike the others."""
    colours, dashes = itertools.cycle(_COLOURS), itertools.cycle(_DASHES)
    for colour, dash in zip(colours, dashes, strict=False):
        yield {"color": colour, "linestyle": dash}
