"""Meshes in files."""


def meshio():
    """The package that reads and writes them, or a sentence that says how to get it."""
    try:
        import meshio
    except ImportError as error:
        raise ImportError(
            "Meshes in files need `meshio`: pip install keraspinn[mesh]."
        ) from error
    return meshio
