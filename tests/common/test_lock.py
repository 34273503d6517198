"""Lock files, which exclude a second process."""

import os
import subprocess
import sys

import pytest

import keraspinn.common.lock
from keraspinn.common.lock import Lock

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
    """Start a process that holds the lock until its input ends."""
    command = [sys.executable, "-c", HOLD, keraspinn.common.lock.__file__, str(path)]
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True)
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def test_lock_file_exists_while_held(path):
    lock = Lock(path)
    lock.acquire()
    assert path.read_text().startswith(f"process {os.getpid()} on ")
    lock.release()
    assert not path.exists()
    lock.release()


def test_lock_excludes_a_second_process(path, holder):
    with pytest.raises(RuntimeError, match=f"in use by process {holder.pid} on"):
        Lock(path).acquire()
    holder.communicate()  # which ends it
    Lock(path).acquire()


def test_lock_of_a_dead_process_is_taken_over(path, holder):
    holder.kill()
    holder.wait()
    Lock(path).acquire()
    assert path.read_text().startswith(f"process {os.getpid()} on ")


def test_lock_of_a_zombie_is_taken_over(path, holder):
    holder.kill()
    os.waitid(os.P_PID, holder.pid, os.WEXITED | os.WNOWAIT)
    Lock(path).acquire()


def test_lock_is_not_inherited_by_a_child(path):
    """Fork a child, as workers that prepare batches, which inherits open files."""
    code = HOLD.replace("print(", "import os, time; os.fork() or time.sleep(9); print(")
    assert code != HOLD
    command = [sys.executable, "-c", code, keraspinn.common.lock.__file__, str(path)]
    parent = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    parent.stdout.readline()
    parent.kill()
    parent.wait()
    Lock(path).acquire()


def test_lock_is_released_after_a_failure(path, holder):
    holder.kill()
    holder.wait()
    failed, again = Lock(path), Lock(path)
    failed.acquire()
    again.acquire()
    failed.release()
    assert path.exists()
    again.release()
    assert not path.exists()
