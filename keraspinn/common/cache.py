"""What is dear to compute and follows from little, kept in the user's cache."""

import contextlib
import os
import pathlib
import zipfile
import zlib

import numpy as np

from keraspinn.common.files import write_whole

UNREADABLE = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error)


def cache_directory():
    """The package's part of the user's cache, or `None` where there is no such place.

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
    """An array from the cache, or else computed and kept there.

    Nothing that is wrong with the cache is an error: what cannot be read is computed
    again, and what cannot be written is computed the next time too.

    Args:
        name: Name of the file, which tells all that the array follows from.
        compute: Function without arguments that returns the array.
        usable: Function that says whether an array read is one of those.
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
