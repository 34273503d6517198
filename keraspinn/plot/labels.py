"""Names of the problem in a legend, where any text may be a name."""


def plain(name):
    """A name that Matplotlib draws letter for letter.

    It takes what stands between two $ as TeX, and hides what begins with _.
    """
    shown = name.replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown
