"""Contestants as processes, which are suspended while another one is timed."""

import json
import os
import pathlib
import select
import signal
import statistics
import subprocess
import time

import environments

# Number of lines of the log in the message of a failure.
LOG_LINES = 3
# Largest resident set of a contestant, bytes.
MEMORY_LIMIT = 16e9


class Failed(Exception):
    """Failure of a contestant, or of a model that it builds."""


class Contestant:
    """Process that answers by the protocol of `protocol.py`.

    Args:
        script: Path of the contestant's program.
        python: Interpreter to run it with.
        log: Path of a file for its output.
        variables: Dict of environment variables to add.

    Attributes:
        device_bytes: Peak memory of the process on an accelerator, or `None`.
    """

    device_bytes = None

    def __init__(self, script, python, log, variables=None):
        self._log = pathlib.Path(log)
        began = time.perf_counter()
        with self._log.open("w") as output:
            self._process = subprocess.Popen(
                [python, str(script)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=output,
                text=True,
                env=environments.environment(variables or {}),
                start_new_session=True,
            )
        self.versions = self._answer(timeout=300)["versions"]
        self.import_seconds = time.perf_counter() - began
        self._signal(signal.SIGSTOP)

    def build(self, key, spec, timeout=600):
        """Build the model of `spec`; returns losses, seconds and notes."""
        return self._ask(f"build {key} {json.dumps(spec)}", timeout)

    def go(self, key, steps, timeout=600):
        """Train; returns the seconds of the steps, and those of the whole call."""
        answer = self._ask(f"go {key} {steps}", timeout)
        self.device_bytes = answer["device_bytes"]
        return answer["seconds"], answer["wall_seconds"]

    def peak_bytes(self):
        """Return the process's largest resident set so far."""
        return self._status("VmHWM")

    @property
    def alive(self):
        """Return whether the process is running."""
        return self._process.poll() is None

    def close(self):
        """End the process."""
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def _ask(self, line, timeout):
        if not self.alive:
            raise Failed("error: its process, which others share, had ended")
        self._signal(signal.SIGCONT)
        try:
            self._process.stdin.write(f"{line}\n")
            self._process.stdin.flush()
            answer = self._answer(timeout)
        finally:
            # Threads of idle contestants must not spin.
            self._signal(signal.SIGSTOP)
        for trouble in ("refused", "error"):
            if trouble in answer:
                raise Failed(f"{trouble}: {answer[trouble]}")
        return answer

    def _answer(self, timeout):
        until = time.monotonic() + timeout
        while not select.select([self._process.stdout], [], [], 0.5)[0]:
            trouble = None
            if time.monotonic() > until:
                trouble = f"no answer in {timeout} s"
            elif self._status("VmRSS") > MEMORY_LIMIT:
                trouble = f"more than {MEMORY_LIMIT / 1e9:.0f} GB of memory"
            if trouble:
                self.close()
                raise Failed(f"error: {trouble}")
        line = self._process.stdout.readline()
        if not line:
            last = self._log.read_text(errors="replace").strip().splitlines()
            self.close()
            raise Failed(f"error: ended: {' | '.join(last[-LOG_LINES:])}"[:500])
        return json.loads(line)

    def _status(self, name):
        """Return a number of bytes from the status of the process in Linux."""
        status = pathlib.Path(f"/proc/{self._process.pid}/status").read_text()
        lines = [x for x in status.splitlines() if x.startswith(name)]
        return 1024 * int(lines[0].split()[1]) if lines else 0

    def _signal(self, number):
        if self._process.poll() is None:
            os.killpg(self._process.pid, number)


def steps_that_take(seconds, contestant, key, chunk):
    """Return a number of steps, a multiple of `chunk`, that take about `seconds`."""
    steps = chunk
    while True:
        took, _ = contestant.go(key, steps)
        if took > seconds / 4 or steps >= 100_000:
            wanted = steps * seconds / max(took, 1e-9)
            return chunk * max(1, round(wanted / chunk))
        steps *= 4


def interleaved(entries, repeats):
    """Time entries in turn.

    Args:
        entries: Dict from labels to `(contestant, key, steps)`.
        repeats: Number of turns.

    Returns:
        Dict from labels to lists of milliseconds a step, and a dict from labels of
        failed entries to reasons.
    """
    times, failures = {label: [] for label in entries}, {}
    for _ in range(repeats):
        for label, (contestant, key, steps) in entries.items():
            if label in failures:
                continue
            try:
                seconds, _ = contestant.go(key, steps)
            except Failed as trouble:
                failures[label] = str(trouble)
                del times[label]
                continue
            times[label].append(1000 * seconds / steps)
    return times, failures


def summary(milliseconds):
    """Return median and spread of repeats."""
    return {
        "median_ms": statistics.median(milliseconds),
        "min_ms": min(milliseconds),
        "max_ms": max(milliseconds),
        "milliseconds": milliseconds,
    }
