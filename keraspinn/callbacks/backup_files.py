"""One backed-up state: plain data and arrays in a file that is whole, or not there."""

import json

import numpy as np

from keraspinn.common.cache import UNREADABLE
from keraspinn.common.files import write_whole


def write_state(path, data, arrays):
    """Write data that JSON can hold, and arrays by name, equal to the bit."""
    # Names are data too: NumPy takes them for arguments and for names of files.
    columns = {f"array_{place}": array for place, array in enumerate(arrays.values())}
    text = json.dumps([data, [*arrays]])
    write_whole(path, lambda partial: np.savez(partial, text=text, **columns))


def read_state(path):
    """Data and arrays by name; `None` of a file that is damaged.

    NumPy's files have a checksum for each array. Nothing is unpickled.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            data, names = json.loads(file["text"].item())
            return data, {n: file[f"array_{place}"] for place, n in enumerate(names)}
    except UNREADABLE:
        return None
