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
    """Return `keraspinn` in `$XDG_CACHE_HOME`, else in `~/.cache`."""
    directory = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache")
    return directory.expanduser() / "keraspinn"


def cached(name, compute):
    """Return an array from the cache, or compute it and keep it there.

    No fault of the cache is an error: an unreadable file is computed again, and an
    array that cannot be written is computed the next time too.

    Args:
        name: Name of the file, which identifies all inputs of the array.
        compute: Function without arguments that returns the array.
    """
    path = cache_directory() / f"{name}.npz"
    with contextlib.suppress(*UNREADABLE), np.load(path, allow_pickle=False) as file:
        return file["array"]
    array = compute()
    with contextlib.suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, lambda partial: np.savez(partial, array=array))
    return array
