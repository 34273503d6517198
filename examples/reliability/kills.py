"""Kill trainings at random moments, under load, and see what becomes of them.

    python examples/reliability/kills.py --kills 100 --output docs/results/kills.json

A process trains; it is killed with SIGKILL and started again until the training ends,
going on from its backup or, at random, from Keras's ModelCheckpoint. The end must equal
that of a process nobody killed, in every bit of every variable. A third of the kills
strike at a random moment of a life, a third in an epoch, a third while files are
written; a process beside keeps a core busy.

Most lives are forked from this process, which has imported everything and run nothing;
every tenth, and the one nobody kills, is a program of its own.
"""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # nothing may run before we fork
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import argparse
import collections
import json
import multiprocessing
import pathlib
import random
import subprocess
import sys
import tempfile
import time
import zipfile

from machine import versions
from trainings import TRAININGS, train

PHASES = ("importing", "starting", "training", "writing", "ending", "ended")


class Life:
    """A process that trains, from its birth to its death."""

    def __init__(self, method, *arguments):
        context = multiprocessing.get_context(method)
        self._ears, mouth = context.Pipe(duplex=False)
        self._process = context.Process(target=lived, args=(mouth, *arguments))
        self._process.start()
        mouth.close()
        self.phases = ["importing"]

    def hears(self, seconds):
        """Wait for a phase to begin, at most so long; whether one did."""
        try:
            if self._ears.poll(seconds):
                self.phases.append(self._ears.recv())
                return True
        except EOFError:
            self._process.join()
        return False

    @property
    def alive(self):
        return self._process.is_alive()

    def wait(self, phase=None, count=1):
        """Until a phase has begun so many times, or the process has ended."""
        while self.alive and self.phases.count(phase) < count:
            self.hears(10)

    def kill(self):
        """SIGKILL; returns whether it came before the end."""
        self._process.kill()
        self._process.join()
        while self.hears(0):
            pass
        return self._process.exitcode == -9

    @property
    def failed(self):
        return self._process.exitcode not in (0, -9)


def lived(mouth, *arguments):
    """What a process does."""
    train(*arguments, tell=mouth.send)


def attempt_to_kill(life, aim, generator):
    """Let it live a while; returns whether it was killed."""
    if aim == "life":
        end = time.monotonic() + generator.uniform(0, 12)
        while life.alive and time.monotonic() < end:
            life.hears(end - time.monotonic())
    else:
        life.wait(aim, generator.randint(1, 4))
        time.sleep(generator.uniform(0, 0.1 if aim == "writing" else 0.3))
    return life.kill()


def half_written(folder):
    """Files that a death left half-written, under names that say so or do not."""
    marked = [path for path in folder.rglob("partial-*") if path.parent.is_dir()]
    checkpoint = folder / "model.keras"
    unmarked = checkpoint.exists() and not zipfile.is_zipfile(checkpoint)
    return len(marked), int(unmarked)


def one_training(name, expected, folder, options, generator, counts):
    """Kill a training over and over; returns whether its end is the expected one."""
    restarts = ("backup", "checkpoint") if options.callback == "keraspinn" else None
    while True:
        restart = generator.choice(restarts) if restarts else options.callback
        fresh = options.kills and counts["lives"] % 10 == 9
        method = "spawn" if fresh else "fork"
        life = Life(method, name, str(folder), options.epochs, restart)
        counts["lives"] += 1
        if counts["kills"] < options.kills:
            aim = generator.choice(("life", "training", "writing"))
            if attempt_to_kill(life, aim, generator):
                counts["kills"] += 1
                counts[f"killed while {life.phases[-1]}"] += 1
                marked, unmarked = half_written(folder)
                counts["deaths after which half a file lay beside"] += marked > 0
                counts["deaths after which half a file had a whole one's name"] += (
                    unmarked
                )
                continue
        else:
            life.wait()
        if life.failed:
            counts["restarts that failed"] += 1
            return False
        end = json.loads((folder / "end.json").read_text())
        if restart != "checkpoint":
            counts["histories that differ"] += end["history"] != expected["history"]
        return end["state"] == expected["state"]


def undisturbed(name, folder, options):
    """The end of a training that nobody kills, in a program of its own."""
    life = Life("spawn", name, str(folder), options.epochs)
    life.wait()
    return json.loads((folder / "end.json").read_text())


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--kills", type=int, default=100)
    parser.add_argument("--epochs", type=int, default=12, help="of each training")
    parser.add_argument(
        "--trainings", nargs="+", choices=TRAININGS, default=[*TRAININGS]
    )
    parser.add_argument(
        "--callback", choices=("keraspinn", "keras"), default="keraspinn"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the moments")
    parser.add_argument("--busy", type=int, default=1, help="processes beside")
    parser.add_argument("--output", help="JSON file to write")
    options = parser.parse_args()
    threads = len(list(pathlib.Path("/proc/self/task").iterdir()))
    if threads > 1:
        raise SystemExit(f"{threads} threads run; what is forked now could hang.")

    generator = random.Random(options.seed)
    counts = collections.Counter()
    spin = [sys.executable, "-c", "while True: pass"]
    busy = [subprocess.Popen(spin) for _ in range(options.busy)]
    began = time.monotonic()
    try:
        with tempfile.TemporaryDirectory() as scratch:
            scratch = pathlib.Path(scratch)
            expected = {
                name: undisturbed(name, scratch / name, options)
                for name in options.trainings
            }
            while counts["kills"] < options.kills:
                name = options.trainings[counts["trainings"] % len(options.trainings)]
                folder = scratch / f"{counts['trainings']}"
                equal = one_training(
                    name, expected[name], folder, options, generator, counts
                )
                counts["trainings"] += 1
                counts["trainings whose end is equal to the bit"] += equal
                print(
                    f"{time.monotonic() - began:.0f} s {name}: equal {equal}",
                    dict(counts),
                )
    finally:
        for process in busy:
            process.kill()
    record = {
        "command": " ".join(["python", *sys.argv]),
        **{key: counts[key] for key in sorted(counts)},
        "variables compared in a training": {
            n: len(e["state"]) for n, e in expected.items()
        },
        "seconds": round(time.monotonic() - began),
        "seed": options.seed,
        **versions(),
    }
    print(json.dumps(record, indent=1))
    if options.output:
        pathlib.Path(options.output).write_text(json.dumps(record, indent=1) + "\n")
    raise SystemExit(
        counts["trainings"] != counts["trainings whose end is equal to the bit"]
    )


if __name__ == "__main__":
    main()
