"""Backup files with plain data and arrays, complete or absent."""

import json
import zlib
from zipfile import BadZipFile

import numpy as np

from keraspinn.common.files import write_whole


def write_state(path, data, arrays):
    """Write data for JSON, in which numbers may be NumPy's, and arrays by name."""
    # Names are stored as data: NumPy uses them as arguments and file names.
    columns = {f"array_{index}": array for index, array in enumerate(arrays.values())}
    text = json.dumps([data, [*arrays]], default=float)
    write_whole(path, lambda partial: np.savez(partial, text=text, **columns))


def read_state(path):
    """Read data and arrays by name, or return `None` for a damaged file.

    NumPy's files have a checksum for each array. Nothing is unpickled.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            data, names = json.loads(file["text"].item())
            return data, {n: file[f"array_{index}"] for index, n in enumerate(names)}
    except (OSError, ValueError, KeyError, EOFError, BadZipFile, zlib.error):
        return None
