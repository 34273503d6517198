"""Comparison of entries on the same work, which are checked, then timed in turn."""

import contextlib
import pathlib
import sys
import tempfile

import numpy as np
import protocol
import reference
import work
from driver import Contestant, Failed, interleaved, steps_that_take, summary
from environments import CONTESTANTS, NotInstalled, python_of

# Largest relative error of an initial loss.
TOLERANCE = 1e-4
# Number of points for this check.
CHECK_POINTS = 128


class Pool(contextlib.ExitStack):
    """Running contestants, one process for each script and environment.

    Args:
        cache: Folder for virtual environments and logs.
        installed: Whether all run in the environment of the command.
    """

    def __init__(self, cache, installed=False):
        super().__init__()
        self._cache, self._installed = pathlib.Path(cache), installed
        self._running = {}

    def of(self, entry):
        """Return the process that serves an entry, which starts at the first call.

        Raises:
            NotInstalled: If its requirements cannot be installed.
            Failed: If it does not start.
        """
        name = "-".join([entry.script, *entry.variables.values()])
        key = (name, entry.requirements_file)
        if key not in self._running or not self._running[key].alive:
            python = sys.executable
            if not self._installed:
                python = python_of(entry.requirements_file, self._cache)
            script = CONTESTANTS / f"{entry.script}.py"
            log = self._cache / f"{name}.log"
            log.parent.mkdir(parents=True, exist_ok=True)
            started = Contestant(script, python, log, entry.variables)
            self._running[key] = self.enter_context(started)
        return self._running[key]

    def versions(self):
        """Return a dict from contestants' scripts to the versions of their packages.

        Scripts with several sets of environment variables have an entry for each, such
        as `keraspinn_fit` and `keraspinn_fit-jax`.
        """
        running = self._running.items()
        return {name: contestant.versions for (name, _), contestant in running}


def compare(
    pool, entries, cell, repeats, seconds, steps=None, timeout=600, expected=None
):
    """Time entries on a cell.

    Args:
        pool: The `Pool`.
        entries: List of `(model, Entry)`.
        cell: Dict of `work`, `batch`, `units`, `depth`, and `chunk`, the number of
            steps that may run as one program.
        repeats: Number of turns.
        seconds: Approximate length of a turn.
        steps: Number of steps of a turn, instead of `seconds`.
        timeout: Seconds after which a build or first steps count as failed.
        expected: Initial losses to check, if finite differences are not accurate
            enough. Losses that are not named are not checked.

    Returns:
        Dict of `cell`, `results` and `failures` by label.
    """
    results, failures, ready = {}, {}, {}
    for number, (model, entry) in enumerate(entries):
        label = f"{model} {entry.label}"
        try:
            if entry.works and cell["work"] not in entry.works:
                raise Failed("refused: it does not know this problem")
            contestant = pool.of(entry)
            # With keys by number, the builds of the next cell replace these.
            key = str(number)
            imported = contestant.peak_bytes()
            built = checked(contestant, key, model, entry, cell, timeout, expected)
            _, first = contestant.go(key, cell["chunk"], timeout)
            device_bytes = (
                contestant.device_bytes
            )  # before other entries of the process add to it
            count = steps or steps_that_take(seconds, contestant, key, cell["chunk"])
        except (Failed, NotInstalled) as trouble:
            failures[label] = str(trouble)
            print(f"  {label}: {trouble}", flush=True)
            continue
        ready[label] = (contestant, key, count)
        results[label] = {
            "model": model,
            "group": entry.group,
            "setting": entry.setting,
            "steps": count,
            "import_seconds": contestant.import_seconds,
            "first_steps_seconds": built["build_seconds"] + first,
            "imported_bytes": imported,
            "losses": built["losses"],
            "disagreement": built["disagreement"],
            **built["notes"],
            **({"device_bytes": device_bytes} if device_bytes else {}),
        }
        print(f"  {label}: ready after {first:.1f} s", flush=True)
    times, troubles = interleaved(ready, repeats)
    for label, trouble in troubles.items():
        failures[label] = trouble
        del results[label]
        print(f"  {label}: {trouble}", flush=True)
    for label, milliseconds in times.items():
        results[label] |= summary(milliseconds)
        contestant, *_ = ready[label]
        if contestant.alive:
            results[label]["peak_bytes"] = contestant.peak_bytes()
    return {"cell": cell, "results": results, "failures": failures}


def checked(contestant, key, model, entry, cell, timeout, expected=None):
    """Build a model, and check its initial losses against the reference or `expected`.

    Raises:
        Failed: If the contestant fails, or the error of a loss exceeds `TOLERANCE`.
    """
    problem = work.find(cell["work"])
    parameters = work.initial_parameters(problem, model, cell["units"], cell["depth"])
    points = problem.draw(CHECK_POINTS, np.random.default_rng(1))
    with tempfile.NamedTemporaryFile(suffix=".npz") as data:
        protocol.save_data(data.name, parameters, points)
        spec = {**cell, "model": model, "data": data.name, "options": entry.options}
        built = contestant.build(key, spec, timeout)
    if not entry.trains:
        expected = {}
    elif expected is None:
        expected = reference.losses(problem, model, parameters, points)
    built["disagreement"] = reference.largest_disagreement(built["losses"], expected)
    if not built["disagreement"] <= TOLERANCE:
        raise Failed(
            f"error: losses at the start are {built['losses']} where {expected} is "
            "right"
        )
    return built
