"""Meshes from files."""


def read_mesh(path):
    """A file, as `meshio` reads it."""
    try:
        import meshio
    except ImportError as error:
        raise ImportError(
            "Reading meshes needs `meshio`: pip install keraspinn[mesh]."
        ) from error
    return meshio.read(path)
