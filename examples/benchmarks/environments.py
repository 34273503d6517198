"""Virtual environments, one for each list of requirements, built on demand."""

import hashlib
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
CONTESTANTS = HERE / "contestants"


class NotInstalled(Exception):
    """The requirements could not be installed; the text says why."""


def python_of(requirements, cache):
    """The interpreter to run a contestant with.

    Args:
        requirements: Name of a file of requirements in `contestants/`. One that lists
            nothing means the environment of the command itself.
        cache: Folder to keep environments in, one for each content of the file.

    Raises:
        NotInstalled: If pip fails; it is not tried again until the file changes.
    """
    text = (CONTESTANTS / requirements).read_text(encoding="utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    if not lines:
        return sys.executable
    digest = hashlib.sha256("\n".join([sys.version, *lines]).encode()).hexdigest()[:8]
    folder = pathlib.Path(cache) / f"{pathlib.Path(requirements).stem}-{digest}"
    failed, done = folder / "failed.txt", folder / "installed.txt"
    if failed.exists():
        raise NotInstalled(failed.read_text(encoding="utf-8"))
    python = folder / "bin" / "python"
    if done.exists():
        return str(python)
    print(f"Building {folder} with {', '.join(lines)}", flush=True)
    create = [sys.executable, "-m", "venv", "--clear", "--without-pip", str(folder)]
    if subprocess.run(create).returncode:
        raise NotInstalled(f"no virtual environment could be made in {folder}")
    install = subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(python), "install", "-q", *lines],
        capture_output=True,
        text=True,
    )
    if install.returncode:
        reason = cause(install.stderr)
        reason = f"{reason} (delete {folder.name} from the cache to try again)"
        failed.write_text(reason, encoding="utf-8")
        raise NotInstalled(reason)
    done.write_text("\n".join(lines), encoding="utf-8")
    return str(python)


def cause(text):
    """The line of pip's complaints that says most; git's own is a `fatal` one."""
    lines = text.strip().splitlines()
    for mark in ("fatal:", "ERROR:", "error:"):
        found = [line.strip() for line in lines if mark in line]
        if found:
            return found[-1]
    return lines[-1] if lines else "pip said nothing"


def environment(variables):
    """Environment variables that let a script here find its modules."""
    paths = [str(HERE), str(HERE.parents[1]), os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "TF_CPP_MIN_LOG_LEVEL": "3",
        # Not the shell's backend: the tables name the backend of each entry.
        "KERAS_BACKEND": "tensorflow",
        # An accelerator is shared, and asked how much of it each has used.
        "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
        # Compiling processes of its own would not stand still with a contestant's.
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
        # Compilation is timed, so that programs are compiled in each run.
        "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1",
        **variables,
    }
