"""Optional dependency for mesh files."""


def meshio():
    """Import `meshio`, or raise an `ImportError` that says how to install it."""
    try:
        import meshio
    except ImportError as error:
        raise ImportError(
            "Meshes in files need `meshio`: pip install keraspinn[mesh]."
        ) from error
    return meshio
