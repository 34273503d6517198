"""Load thousands of damaged and hostile model files, and see that each is refused.

    python examples/reliability/fuzz.py --files 5000 --output docs/results/fuzz.json

Random changes of real files, and files made by hand to do harm, each go through
`keraspinn.load_model` in a child process. A file must give a model that is whole, or a
`ValueError` of at most 1500 characters; it may run no code, import no module, and take
200 MB at most on top of what the process held before.
"""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import argparse
import collections
import json
import multiprocessing
import pathlib
import sys
import tempfile
import time
import warnings

from attacks import attacks
from machine import versions
from mutations import mutated, whole_files

import keraspinn as kp

MEMORY = 200 * 2**20
SECONDS = 60
MESSAGE = 1500


def resident(what):
    """Bytes of memory the process holds (`VmRSS`), or held at most (`VmHWM`)."""
    status = pathlib.Path("/proc/self/status").read_text()
    return int(status.partition(f"{what}:")[2].split()[0]) * 1024


def forget_the_peak():
    pathlib.Path("/proc/self/clear_refs").write_text("5")


def check_whole(model):
    """Raise unless the model is one that `save` could have written."""
    if not isinstance(model, kp.PINNModel):
        raise TypeError(f"a {type(model).__name__} was loaded")
    config = model.problem.get_config()
    if kp.Problem.from_config(config).get_config() != config:
        raise TypeError("the problem does not come back")
    model(model.problem.domain.mean[None, :])


def examined(path):
    """What becomes of a file: the outcome, and what it took."""
    modules = set(sys.modules)
    forget_the_peak()
    before, began = resident("VmRSS"), time.monotonic()
    worked = time.process_time()
    outcome, message = "loaded", ""
    try:
        model = kp.load_model(path)
    except Exception as error:
        model, message = None, str(error)
        outcome = "refused" if type(error) is ValueError else type(error).__name__
    found = {
        "seconds": time.monotonic() - began,
        "processor seconds": time.process_time() - worked,
        "bytes": resident("VmHWM") - before,
        "message": message,
    }
    if outcome == "refused" and not 20 <= len(message) <= MESSAGE:
        outcome = "refused at length"
    if model is not None:
        try:
            check_whole(model)
        except Exception as error:
            outcome, found["message"] = "loaded, not whole", repr(error)[:MESSAGE]
    strange = {m for m in set(sys.modules) - modules if m.split(".")[0] not in KNOWN}
    if strange:
        outcome, found["message"] = "imported", str(sorted(strange))
    return {"outcome": outcome, **found}


KNOWN = {m.split(".")[0] for m in sys.modules} | set(sys.stdlib_module_names)


def child(pipe, files, handmade, folder):
    """Examine what is asked for, one after another: a name, or a seed."""
    warnings.simplefilter("ignore")
    path = folder / "file.keras"
    for file in files * 2:  # what the first loads take is not the files'
        path.write_bytes(file)
        check_whole(kp.load_model(path))
    while True:
        wanted = pipe.recv()
        if isinstance(wanted, str):
            kind, content = wanted, handmade[wanted]
        else:
            kind, content = mutated(files, wanted)
        path.write_bytes(content)
        pipe.send({"kind": kind, **examined(path)})


class Examiner:
    """A child process that is replaced when a file kills it."""

    def __init__(self, *arguments):
        self._arguments = arguments
        self._process = None

    def examine(self, wanted):
        """What becomes of one file."""
        if self._process is None:
            context = multiprocessing.get_context("spawn")
            self._pipe, other = context.Pipe()
            self._process = context.Process(
                target=child, args=(other, *self._arguments), daemon=True
            )
            self._process.start()
            other.close()
            self._patience = 600  # to import and warm up
        self._pipe.send(wanted)
        try:
            if self._pipe.poll(self._patience):
                self._patience = SECONDS
                return self._pipe.recv()
            outcome = "took too long"
        except (EOFError, ConnectionError):
            outcome = "killed the process"
        self.close()
        return {"kind": str(wanted), "outcome": outcome, "message": ""}

    def close(self):
        """End the child."""
        if self._process is not None:
            self._process.kill()
            self._process.join()
            self._process = None


def summary(results, canaries):
    """Numbers of all results."""
    counts = collections.Counter(result["outcome"] for result in results)
    longest = max(results, key=lambda r: r.get("seconds", 0))
    busiest = max(results, key=lambda r: r.get("processor seconds", 0))
    largest = max(results, key=lambda r: r.get("bytes", 0))
    return {
        "files": len(results),
        "by hand": sum(isinstance(r["wanted"], str) for r in results),
        "outcomes": dict(counts),
        "longest": [longest["kind"], round(longest["seconds"], 2), "s"],
        "busiest": [busiest["kind"], round(busiest["processor seconds"], 2), "s"],
        "largest": [largest["kind"], round(largest["bytes"] / 2**20), "MiB"],
        "code run": canaries,
    }


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--files", type=int, default=5000, help="random changes")
    parser.add_argument("--seed", type=int, default=0, help="of the changes")
    parser.add_argument("--no-attacks", action="store_true", help="leave out those")
    parser.add_argument("--output", help="JSON file to write")
    options = parser.parse_args()

    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        files = whole_files(folder)
        canary = folder / "canary"
        module = folder / "keraspinn_canary.py"
        module.write_text(f"import pathlib; pathlib.Path({str(canary)!r}).touch()")
        os.environ["PYTHONPATH"] = (
            f"{folder}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
        )
        handmade = attacks(files[1], str(canary), module.stem)
        examiner = Examiner(files, handmade, folder)
        results, began = [], time.monotonic()
        wanted = [] if options.no_attacks else list(handmade)
        wanted += [options.seed * 10**6 + place for place in range(options.files)]
        for one in wanted:
            result = examiner.examine(one) | {"wanted": one}
            results.append(result)
            if len(results) % 500 == 0:
                print(f"{len(results)} in {time.monotonic() - began:.0f} s", flush=True)
            bad = result["outcome"] not in ("refused", "loaded")
            if bad or result["seconds"] > 10 or result["bytes"] > MEMORY:
                print(one, json.dumps(result)[:600], flush=True)
            elif isinstance(one, str):
                print(
                    f"{result['outcome']}: {one}: {result['message'][:150]!r}",
                    flush=True,
                )
        examiner.close()
        record = summary(results, int(canary.exists()))
    command = {"command": " ".join(["python", *sys.argv]), "seed": options.seed}
    record = command | record | versions()
    print(json.dumps(record, indent=1))
    if options.output:
        pathlib.Path(options.output).write_text(json.dumps(record, indent=1) + "\n")
    fine = set(record["outcomes"]) <= {"refused", "loaded"} and not record["code run"]
    raise SystemExit(not (fine and record["largest"][1] * 2**20 <= MEMORY))


if __name__ == "__main__":
    main()
