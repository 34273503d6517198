"""One process at a time in a directory, on every system that Python runs on."""

import contextlib
import json
import os
import pathlib
import socket
import warnings


class Lock:
    """A file that says which process works in a directory, as long as that lives.

    The lock of a process that died is taken over; so is, with a warning, that of a
    process on another machine, of which nothing can be known.

    Args:
        path: Where the file shall be; its directory must exist.

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
        self.path = pathlib.Path(path)
        self._file = None

    def acquire(self):
        """Take the lock.

        Raises:
            RuntimeError: If a living process has it.
            OSError: If no file can be written there.
        """
        self.release()
        with contextlib.suppress(FileExistsError):
            return self._create()
        holder = _read(self.path)
        if _is_me(holder):  # of a training in this process that failed
            self._file = self.path.open(encoding="utf-8")
            return None
        if holder and holder.get("host") != socket.gethostname():
            warnings.warn(
                f"{self.path} is of {_name(holder)}, and is taken over. If that "
                "process still runs, stop one of the two.",
                stacklevel=2,
            )
        elif holder and _lives(holder):
            raise RuntimeError(self._in_use(holder))
        try:
            self.path.unlink(missing_ok=True)
            return self._create()
        except (PermissionError, FileExistsError) as error:
            # Windows deletes no file that a living process keeps open.
            if isinstance(error, PermissionError) and os.name != "nt":
                raise
            raise RuntimeError(self._in_use(_read(self.path))) from error

    def check(self):
        """Take the lock again if its file is gone.

        Raises:
            RuntimeError: If another process has taken it over.
            OSError: If no file can be written there.
        """
        holder = _read(self.path)
        if holder and not _is_me(holder):
            raise RuntimeError(self._in_use(holder))
        if not holder:
            self.acquire()

    def release(self):
        """Give the lock back, if it is held."""
        if self._file is None:
            return
        self._file.close()
        self._file = None
        if _is_me(_read(self.path)):
            self.path.unlink(missing_ok=True)

    def _create(self):
        self._file = self.path.open("x", encoding="utf-8")
        self._file.write(json.dumps(_me()))
        self._file.flush()

    def _in_use(self, holder):
        return (
            f"{self.path.parent} is in use by {_name(holder)}. Name another directory, "
            f"or wait. If no such process runs, delete {self.path}."
        )


def _me():
    return {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "started": _started(os.getpid()),
    }


def _is_me(holder):
    return holder == _me()


def _read(path):
    """What the file says, or an empty dict where it says nothing, as of the dying."""
    try:
        holder = json.loads(path.read_text("utf-8"))
        return holder if isinstance(holder.get("pid"), int) else {}
    except (OSError, ValueError, AttributeError):
        return {}


def _lives(holder):
    pid = holder["pid"]
    if pathlib.Path("/proc/self/stat").exists():
        # Numbers of processes are used again, but not with the same time of birth.
        started = _started(pid)
        return started is not None and started == holder.get("started")
    return not is_dead(pid)


def _started(pid):
    """When a process began, in Linux's ticks; `None` if it is dead, or unknown."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text("utf-8", "replace")
    except OSError:
        return None
    state, *fields = stat.rpartition(")")[2].split()
    return None if state in "ZX" else int(fields[18])


def is_dead(pid):
    """Whether there is no process of this number, where that can be seen."""
    if os.name == "nt" or pid <= 0:
        return False  # there, a signal of no effect would end the process
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def _name(holder):
    if not holder:
        return "another process"
    return f"process {holder['pid']} on {holder.get('host')}"
