"""Trainings killed at random times, under load, and checks that they resume exactly.

    python examples/reliability/kills.py --kills 100 --output docs/results/kills.json

A process that trains is killed with SIGKILL and started again until the training ends.
It resumes from its backup or, at random, from Keras's ModelCheckpoint. Every bit of
every variable at the end must equal that of a process that was not killed. A third of
the kills come at a random time after the start, a third during an epoch, and a third
while files are written. Another process keeps a core busy. Some processes find the disk
full (their files cannot grow beyond a page) and continue without backups until they are
killed. For some, a second process tries to train in the same directory, which must be
refused.

Most processes are forked from this one, which has imported everything and run nothing.
Every tenth process, and the one that is not killed, is a separate program.
"""

import os

os.environ.setdefault(
    "OPENBLAS_NUM_THREADS", "1"
)  # no thread may start before the fork
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import argparse
import collections
import json
import multiprocessing
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time
import warnings
import zipfile

from machine import versions
from trainings import TRAININGS, train


class Life:
    """Process of a training, with the phases that it reports."""

    def __init__(self, method, *arguments):
        context = multiprocessing.get_context(method)
        self._receiver, sender = context.Pipe(duplex=False)
        self._process = context.Process(target=lived, args=(sender, *arguments))
        self._process.start()
        sender.close()
        self.phases = ["importing"]

    def receive(self, seconds):
        """Wait at most `seconds` for a phase to begin; return whether one did."""
        try:
            if self._receiver.poll(seconds):
                self.phases.append(self._receiver.recv())
                return True
        except EOFError:
            self._process.join()
        return False

    @property
    def alive(self):
        return self._process.is_alive()

    def wait(self, phase=None, count=1):
        """Wait until a phase has begun `count` times, or the process has ended."""
        while self.alive and self.phases.count(phase) < count:
            self.receive(10)

    def signal(self, number):
        """Send a signal (SIGSTOP, SIGCONT) to the process if it has not ended."""
        if self.alive:
            os.kill(self._process.pid, number)

    def kill(self):
        """Kill the process; return whether it was still running."""
        self._process.kill()
        self._process.join()
        while self.receive(0):
            pass
        return self._process.exitcode == -9

    @property
    def failed(self):
        return self._process.exitcode not in (0, -9)


def lived(sender, *arguments):
    """Run the process of one training."""
    warnings.simplefilter("always", UserWarning)
    warnings.showwarning = lambda message, *_: (
        sender.send("without a backup") if "No backup" in str(message) else None
    )
    try:
        train(*arguments, tell=sender.send)
    except RuntimeError as error:
        if "is in use by process" not in str(error):
            raise
        sender.send("refused")


def attempt_to_kill(life, aim, generator):
    """Kill a process after a random time; return whether it was still running."""
    if aim == "full":
        life.wait("without a backup", generator.randint(1, 2))
        time.sleep(generator.uniform(0, 0.3))
    elif aim == "life":
        end = time.monotonic() + generator.uniform(0, 12)
        while life.alive and time.monotonic() < end:
            life.receive(end - time.monotonic())
    else:
        life.wait(aim, generator.randint(1, 4))
        time.sleep(generator.uniform(0, 0.1 if aim == "writing" else 0.3))
    return life.kill()


def second_is_refused(name, folder, options, life, counts):
    """Start a second process while the first is stopped; return whether it refused."""
    life.wait("training")
    life.signal(signal.SIGSTOP)
    second = Life("fork", name, str(folder), options.epochs, "backup")
    while second.alive and not {"refused", "training"} & {*second.phases}:
        second.receive(10)
    while second.receive(0):
        pass
    refused = "refused" in second.phases
    second.kill()
    life.signal(signal.SIGCONT)
    counts["second processes refused"] += refused
    # If the first process has ended before, the directory is free.
    return refused or not life.alive


def half_written(folder):
    """Return the numbers of incomplete files with and without a temporary name.

    Files with a temporary name are removed, since later processes use other names.
    """
    marked = list(folder.rglob("partial-*"))
    for path in marked:
        path.unlink()
    checkpoint = folder / "model.keras"
    unmarked = checkpoint.exists() and not zipfile.is_zipfile(checkpoint)
    return len(marked), int(unmarked)


def special_aim(counts, options):
    """Return `"full"` or `"second"` until there were enough such kills, then `None`."""
    if options.callback != "keraspinn" or counts["kills"] < 1:
        return None
    if counts["killed on a full disk"] < options.full:
        return "full"
    return "second" if counts["second processes refused"] < options.second else None


def one_training(name, expected, folder, options, generator, counts):
    """Kill a training repeatedly; return whether its end is the expected one."""
    restarts = ("backup", "checkpoint") if options.callback == "keraspinn" else None
    while True:
        restart = generator.choice(restarts) if restarts else options.callback
        fresh = options.kills and counts["lives"] % 10 == 9
        method = "spawn" if fresh else "fork"
        aim = generator.choice(("life", "training", "writing"))
        aim = special_aim(counts, options) or aim
        full_from = generator.randint(1, 4) if aim == "full" else None
        if aim in ("full", "second"):
            restart = "backup"
        life = Life(method, name, str(folder), options.epochs, restart, full_from)
        counts["lives"] += 1
        if counts["kills"] < options.kills:
            if aim == "second":
                if not second_is_refused(name, folder, options, life, counts):
                    counts["second processes that trained"] += 1
                    life.kill()
                    return False
                aim = "training"
            if attempt_to_kill(life, aim, generator):
                counts["kills"] += 1
                counts[f"killed while {life.phases[-1]}"] += 1
                counts["killed on a full disk"] += "without a backup" in life.phases
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
    """Return the end of an undisturbed training in a separate program."""
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
    parser.add_argument("--full", type=int, default=2, help="kills on a full disk")
    parser.add_argument("--second", type=int, default=2, help="lives with a second one")
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
