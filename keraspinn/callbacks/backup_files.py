"""The files of one backed-up state: a directory that is whole, or is not there."""

import hashlib
import json
import shutil

import numpy as np

from keraspinn.common.files import sync

DIGESTS = "digests.json"


def write_json(path, data):
    """Write plain data."""
    path.write_text(json.dumps(data), encoding="utf-8")


def read_json(path):
    """Read plain data."""
    return json.loads(path.read_text("utf-8"))


def write_arrays(path, arrays):
    """Write arrays by name, equal to the bit; no file if there are none."""
    if not arrays:
        return
    # Names are data too: NumPy takes them for arguments and for names of files.
    columns = {f"array_{place}": array for place, array in enumerate(arrays.values())}
    with path.open("wb") as file:
        np.savez(file, names=np.array([*arrays]), **columns)


def read_arrays(path):
    """Read arrays by name; none if there is no file. Nothing is unpickled."""
    if not path.exists():
        return {}
    with np.load(path, allow_pickle=False) as kept:
        names = kept["names"].tolist()
        return {name: kept[f"array_{place}"] for place, name in enumerate(names)}


def seal(partial, final):
    """Give a directory of files its name when the disk has all of it."""
    write_json(partial / DIGESTS, {p.name: _digest(p) for p in partial.iterdir()})
    for path in (*partial.iterdir(), partial):
        sync(path)
    discard(final)
    partial.rename(final)
    sync(final.parent)


def is_whole(path):
    """Whether the files of a backup are those that were sealed."""
    try:
        digests = read_json(path / DIGESTS)
        return {p.name: _digest(p) for p in path.iterdir() if p.name != DIGESTS} == (
            digests
        )
    except (OSError, ValueError):
        return False


def discard(path):
    """Delete a backup so that no half of it is left under its name."""
    if path.is_dir():
        condemned = path.with_name(f"partial-{path.name}")
        shutil.rmtree(condemned, ignore_errors=True)
        shutil.rmtree(path.rename(condemned))


def _digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()
