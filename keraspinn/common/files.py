"""Files that are complete or absent, even if the process that writes them dies."""

import os
import pathlib


def write_whole(path, write):
    """Write a file so that `path` never holds half of it.

    The content goes to a file beside it first, named `partial-…` with the number of
    this process. When the disk has it, that file replaces the one at `path`.

    Args:
        path: The path of the file.
        write: Function that writes a file to the path it is given.
    """
    path = pathlib.Path(path)
    # In front: Keras tells formats apart by the end of a name.
    partial = path.with_name(f"partial-{os.getpid()}-{path.name}")
    try:
        write(partial)
        sync(partial)
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    sync(path.parent)


def sync(path):
    """Wait until the disk has a file, or the names in a directory."""
    if os.name == "nt" and pathlib.Path(path).is_dir():
        return  # Windows opens no directories
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def replaceable(filepath, suffix, overwrite):
    """Return whether a local file of this kind may be replaced without a question."""
    name = str(filepath)
    is_local = name.endswith(suffix) and "://" not in name
    return is_local and (overwrite or not pathlib.Path(name).exists())
