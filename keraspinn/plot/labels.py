"""Labels from names that may be any text."""


def plain(name):
    """Return a name that Matplotlib draws literally.

    It reads text between two $ as TeX, and omits labels that begin with _ from legends.
    """
    shown = name.replace("$", r"\$")
    return f" {shown}" if shown.startswith("_") else shown
