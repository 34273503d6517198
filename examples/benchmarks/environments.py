"""Virtual environments, which are built for each list of requirements on demand."""

import hashlib
import os
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
CONTESTANTS = HERE / "contestants"


class NotInstalled(Exception):
    """Failure of the installation of requirements, with its cause."""


def python_of(requirements, cache):
    """Return the interpreter to run a contestant with.

    Args:
        requirements: Name of a file of requirements in `contestants/`. An empty file
            stands for the environment of the command.
        cache: Folder to keep environments in, one for each content of the file.

    Raises:
        NotInstalled: If pip fails. It is only tried again when the file changes.
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
    """Return the line of pip's messages with the cause; those of git are `fatal`."""
    lines = text.strip().splitlines()
    for mark in ("fatal:", "ERROR:", "error:"):
        marked = [line.strip() for line in lines if mark in line]
        if marked:
            return marked[-1]
    return lines[-1] if lines else "pip said nothing"


def environment(variables):
    """Return environment variables with which a script in this folder can be run."""
    paths = [str(HERE), str(HERE.parents[1]), os.environ.get("PYTHONPATH", "")]
    return {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
        "TF_CPP_MIN_LOG_LEVEL": "3",
        # Tables name the backend of each entry, so it must not depend on the shell.
        "KERAS_BACKEND": "tensorflow",
        # Processes share an accelerator, and report the memory that each has used.
        "XLA_PYTHON_CLIENT_PREALLOCATE": "false",
        # Separate compiling processes would not be suspended with the contestant.
        "TORCHINDUCTOR_COMPILE_THREADS": "1",
        # Compilation is timed, so programs must not come from a cache.
        "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1",
        **variables,
    }
