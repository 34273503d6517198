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
    if not path.parent.is_dir():
        raise FileNotFoundError(
            f"There is no directory '{path.parent}' to write '{path.name}' into. Make "
            "it first."
        )
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


def save_model(save, filepath, overwrite, zipped, **kwargs):
    """Save a model to one `.keras` file, which appears at once.

    Args:
        save: The `save` of `keras.Model`.
        filepath, overwrite, zipped, **kwargs: Its arguments.
    """
    name = str(filepath)
    whole = name.endswith(".keras") or "://" in name
    if name.endswith((".h5", ".hdf5")) or (zipped is not False and not whole):
        raise ValueError(
            "A PINNModel is saved to a `.keras` file, or its weights alone to "
            "`.weights.h5` with `save_weights`: Keras cannot load it from another. "
            f"Received: {name!r}"
        )
    if zipped is False or not _replaceable(filepath, ".keras", overwrite):
        return save(filepath, overwrite, zipped, **kwargs)
    return write_whole(filepath, lambda path: save(path, **kwargs))


def save_weights(save, filepath, overwrite, max_shard_size):
    """Save weights to a `.weights.h5` file, which appears at once.

    Args:
        save: The `save_weights` of `keras.Model`.
        filepath, overwrite, max_shard_size: Its arguments.
    """
    if max_shard_size or not _replaceable(filepath, ".weights.h5", overwrite):
        return save(filepath, overwrite, max_shard_size)
    return write_whole(filepath, save)


def _replaceable(filepath, suffix, overwrite):
    """Return whether a local file of this kind may be replaced without a question."""
    name = str(filepath)
    is_local = name.endswith(suffix) and "://" not in name
    return is_local and (overwrite or not pathlib.Path(name).exists())
