"""Line protocol, the side of the contestant.

The driver writes lines to standard input. The contestant answers each with one line of
JSON on standard output:

    build KEY SPEC  →  {"losses": …, "build_seconds": …, "notes": …}
    go KEY STEPS    →  {"seconds": …, "wall_seconds": …, "device_bytes": …}

SPEC is JSON with `work`, `model`, `units`, `depth`, `batch`, `chunk` (the number of
steps that may run as one program), `data` (an .npz file with initial weights and points
at which losses are checked) and `options` of the contestant. An answer `{"error": …}`
has the error, and `{"refused": …}` the feature that the contestant lacks.
"""

import importlib.metadata
import json
import os
import platform
import sys
import time
import traceback
import types

import numpy as np
from work import find, is_gated


class NotOffered(Exception):
    """Refusal of work for which the contestant lacks a feature."""


class Task(types.SimpleNamespace):
    """Task of a contestant: the SPEC with objects in place of names.

    Attributes:
        problem: Name of the work.
        gated: Whether the network has gates.
        parameters: List of initial kernels and biases, float32.
        points: Dict from term names to points at which losses are checked.
    """

    @classmethod
    def from_spec(cls, spec):
        task = cls(**json.loads(spec))
        task.problem, task.work = task.work, find(task.work)
        task.gated = is_gated(task.model)
        with np.load(task.data) as data:
            count = sum(name.startswith("kernel_") for name in data)
            task.parameters = [
                (data[f"kernel_{k}"], data[f"bias_{k}"]) for k in range(count)
            ]
            task.points = {name: data[f"points_{name}"] for name in task.work.terms}
        return task


def save_data(path, parameters, points):
    """Write the file that `Task` reads."""
    arrays = {f"points_{name}": values for name, values in points.items()}
    for k, (kernel, bias) in enumerate(parameters):
        arrays |= {f"kernel_{k}": kernel, f"bias_{k}": bias}
    np.savez(path, **arrays)


def serve(build, packages):
    """Answer the driver until it closes standard input.

    Args:
        build: Function of a `Task` that returns an object. Its method `losses()`
            returns the initial losses by term name. Its method `run(steps)` trains,
            and may return the seconds that count. Optionally it has the dict `notes`
            and the method `device_bytes()`, which returns the peak memory on an
            accelerator or `None`.
        packages: Names of packages whose versions are reported.
    """
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # keep the output of libraries out of the answers
    versions = {name: importlib.metadata.version(name) for name in packages}
    versions["python"] = platform.python_version()
    print(json.dumps({"versions": versions}), file=answers)
    built = {}
    for line in sys.stdin:
        command, key, argument = line.split(maxsplit=2)
        try:
            answer = {"build": _build, "go": _go}[command](built, key, argument, build)
        except NotOffered as refusal:
            answer = {"refused": str(refusal)}
        except Exception as error:
            traceback.print_exc()
            answer = {"error": f"{type(error).__name__}: {error}"[:500]}
        print(json.dumps(answer), file=answers)


def _build(built, key, spec, build):
    began = time.perf_counter()
    contestant = build(Task.from_spec(spec))
    seconds = time.perf_counter() - began
    losses = {name: float(value) for name, value in contestant.losses().items()}
    built[key] = contestant
    notes = getattr(contestant, "notes", {})
    return {"losses": losses, "build_seconds": seconds, "notes": notes}


def _go(built, key, steps, build):
    began = time.perf_counter()
    measured = built[key].run(int(steps))
    seconds = time.perf_counter() - began
    counted = seconds if measured is None else measured
    peak = getattr(built[key], "device_bytes", lambda: None)()
    return {"seconds": counted, "wall_seconds": seconds, "device_bytes": peak}
