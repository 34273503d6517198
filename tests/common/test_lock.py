"""One process at a time."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

import keraspinn.common.lock
from keraspinn.common.lock import Lock

PROC = pathlib.Path("/proc/self/stat")
HOLD = """
import runpy, sys
lock = runpy.run_path(sys.argv[1])["Lock"](sys.argv[2])
lock.acquire()
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "training.lock"


@pytest.fixture
def holder(path):
    """A process that has the lock until its input ends."""
    command = [sys.executable, "-c", HOLD, keraspinn.common.lock.__file__, str(path)]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def test_it_is_there_while_it_is_held(path):
    lock = Lock(path)
    lock.acquire()
    assert json.loads(path.read_text())["pid"] == os.getpid()
    lock.check()
    lock.release()
    assert not path.exists()
    lock.release()


def test_of_two_living_processes_one_has_it(path, holder):
    with pytest.raises(RuntimeError, match=f"in use by process {holder.pid} .*delete"):
        Lock(path).acquire()
    assert json.loads(path.read_text())["pid"] == holder.pid


def test_that_of_the_dead_is_taken_over(path, holder):
    holder.kill()
    holder.wait()
    Lock(path).acquire()
    assert json.loads(path.read_text())["pid"] == os.getpid()


def test_that_of_a_dead_process_whose_parent_has_not_noticed(path, holder):
    holder.kill()
    os.waitid(os.P_PID, holder.pid, os.WEXITED | os.WNOWAIT)
    Lock(path).acquire()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"pid": "x"}'])
def test_one_half_written_is_taken_over(path, text):
    path.write_text(text)
    Lock(path).acquire()
    assert json.loads(path.read_text())["pid"] == os.getpid()


@pytest.mark.skipif(not PROC.exists(), reason="no times of birth")
def test_a_number_that_was_given_again_is_another_process(path, holder):
    saved = json.loads(path.read_text())
    path.write_text(json.dumps(saved | {"started": saved["started"] - 1}))
    Lock(path).acquire()


def test_after_a_failure_in_the_same_process(path):
    Lock(path).acquire()
    again = Lock(path)
    again.acquire()
    again.release()
    assert not path.exists()


def test_that_of_another_machine_is_taken_over_with_a_warning(path):
    path.write_text(json.dumps({"pid": 7, "host": "elsewhere", "started": 1}))
    lock = Lock(path)
    with pytest.warns(UserWarning, match="process 7 on elsewhere, and is taken over"):
        lock.acquire()
    path.write_text(json.dumps({"pid": 7, "host": "elsewhere", "started": 1}))
    with pytest.raises(RuntimeError, match="in use by process 7 on elsewhere"):
        lock.check()
    lock.release()
    assert path.exists()


def test_a_file_that_was_deleted_is_made_again(path):
    lock = Lock(path)
    lock.acquire()
    path.unlink()
    lock.check()
    assert path.exists()
