"""File of training records, with one JSON object a line."""

import dataclasses
import json
import os
import pathlib

from examples.reproduction.training import Training

try:
    import fcntl
except ImportError:  # not on Windows
    fcntl = None

_FIELDS = {field.name: field for field in dataclasses.fields(Training)}


class Results:
    """Records of trainings in a file to which records are only appended.

    A record is written at once when its training ends, so an interruption loses only
    the unfinished trainings.

    Args:
        path: Path of the file, which need not exist.

    Example:

    >>> from examples.reproduction import Training
    >>> results = Results("results.jsonl")
    >>> results.missing([Training("helmholtz", "M1")])[0].model
    'M1'
    """

    def __init__(self, path):
        self.path = pathlib.Path(path)

    def records(self):
        """Return a dict from trainings to their records; the last of several counts."""
        if not self.path.exists():
            return {}
        records = {}
        # Text after the last line break is a record whose writing was interrupted.
        lines = self.path.read_text(encoding="utf-8").split("\n")[:-1]
        for number, line in enumerate(lines, start=1):
            if not line.strip():
                continue
            try:
                record = json.loads(line)
                records[_identity(record)] = record
            except (AttributeError, TypeError, ValueError) as error:
                raise ValueError(
                    f"Line {number} of {self.path} is no record of a training: {error}"
                ) from None
        return records

    def missing(self, trainings):
        """Return the `trainings` that have no record yet, in order."""
        records = self.records()
        return [training for training in trainings if training not in records]

    def append(self, record):
        """Add a record; it is on disk when this returns."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.touch()
        with self.path.open("rb+") as file:
            if fcntl is not None:  # another process may append
                fcntl.flock(file, fcntl.LOCK_EX)
            whole = file.read().rfind(b"\n") + 1
            file.seek(whole)
            file.truncate()  # a record whose writing was interrupted
            file.write(json.dumps(record, sort_keys=True).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())


def _identity(record):
    values = {name: value for name, value in record.items() if name in _FIELDS}
    values["exclude"] = tuple(values.get("exclude", ()))
    return Training(**values)
