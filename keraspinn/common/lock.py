"""One process at a time in a directory, on every system that Python runs on."""

import contextlib
import os
import pathlib
import socket
import sys
from typing import IO

_HELD: dict[pathlib.Path, IO[str]] = {}  # the open files of this process's locks
_BYTE = 2**20  # the byte that is locked: on Windows others cannot read it


class Lock:
    """A file that one process holds. The system releases it when the process dies.

    Args:
        path: The path of the file; its directory must exist.

    Example:

    >>> import pathlib, tempfile
    >>> from keraspinn.common.lock import Lock
    >>> lock = Lock(pathlib.Path(tempfile.mkdtemp()) / "training.lock")
    >>> lock.acquire()
    >>> lock.path.exists()
    True
    >>> lock.release()
    """

    def __init__(self, path):
        self.path = pathlib.Path(path).absolute()
        self._file = None

    def acquire(self):
        """Take the lock, also from a training in this process that failed.

        Raises:
            RuntimeError: If another process has it.
            OSError: If no file can be written there.
        """
        if self.path in _HELD:
            _HELD.pop(self.path).close()
        file = self.path.open("a+", encoding="utf-8")
        try:
            _lock(file)
        except (BlockingIOError, PermissionError) as error:
            with file:
                file.seek(0)
                holder = file.read(300) or "another process"
            raise RuntimeError(
                f"{self.path.parent} is in use by {holder}. Name another directory, "
                "or wait until that has ended."
            ) from error
        except OSError:
            pass  # not every file system of a cluster knows locks
        file.truncate(0)
        file.write(f"process {os.getpid()} on {socket.gethostname()}")
        file.flush()
        _HELD[self.path] = self._file = file

    def release(self):
        """Release the lock, if it is held."""
        if self._file is None or self._file.closed:
            return
        if sys.platform == "win32":
            self._file.close()  # Windows deletes no file that is open
        with contextlib.suppress(OSError):
            self.path.unlink()
        self._file.close()
        del _HELD[self.path]


if sys.platform == "win32":
    import msvcrt

    def _lock(file):
        file.seek(_BYTE)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)

else:
    import fcntl

    def _lock(file):
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, 1, _BYTE)
