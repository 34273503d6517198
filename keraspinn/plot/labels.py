"""Names of the problem in a figure, where any text may be a name."""


def plain(name):
    """A name that Matplotlib draws letter for letter.

    It takes what stands between two $ as TeX, and leaves what begins with _ out of a
    legend.
    """
    shown = name.replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown
