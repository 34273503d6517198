"""Arrays that are expensive to compute, kept in the user's cache."""

import contextlib
import os
import pathlib
import zipfile
import zlib

import numpy as np

from keraspinn.common.files import write_whole

UNREADABLE = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error)


def cache_directory():
    """Return the package's directory in the user's cache, or `None`.

    `keraspinn` in `$XDG_CACHE_HOME`, else in `~/.cache`; on Windows in
    `%LOCALAPPDATA%`.
    """
    given = os.environ.get("LOCALAPPDATA" if os.name == "nt" else "XDG_CACHE_HOME")
    if given and pathlib.Path(given).is_absolute():
        return pathlib.Path(given) / "keraspinn"
    try:
        return pathlib.Path.home() / ".cache" / "keraspinn"
    except RuntimeError:  # a user without a home
        return None


def cached(name, compute, usable):
    """Return an array from the cache, or compute it and keep it there.

    No fault of the cache is an error: an unreadable file is computed again, and an
    array that cannot be written is computed the next time too.

    Args:
        name: Name of the file, which identifies all inputs of the array.
        compute: Function without arguments that returns the array.
        usable: Function that tells whether an array from a file is valid.
    """
    directory = cache_directory()
    if directory is None:
        return compute()
    path = directory / f"{name}.npz"
    with contextlib.suppress(*UNREADABLE), np.load(path, allow_pickle=False) as file:
        array = file["array"]
        if usable(array):
            return array
    array = compute()
    with contextlib.suppress(OSError):
        directory.mkdir(parents=True, exist_ok=True)
        write_whole(path, lambda partial: np.savez(partial, array=array))
    return array
