"""Locks of programs on mounts of a list-I/O volume hold on all mounts."""

from __future__ import annotations

import fcntl
import os
import signal
import struct
import subprocess
import sys
from contextlib import suppress

from harness import DEADLINE_S, wait_for
from mounting import Mounts, outcome
from strider.listio import status

LOCK = """
import fcntl, sys
file = open(sys.argv[1], "r+b")
fcntl.lockf(file, fcntl.LOCK_EX | (0 if sys.argv[2] == "wait" else fcntl.LOCK_NB))
"""
ADD = """
import fcntl, sys
for _ in range(30):
    with open(sys.argv[1], "r+b") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        count = int.from_bytes(file.read(8), "little")
        file.seek(0)
        file.write((count + 1).to_bytes(8, "little"))
"""
CHANGE = """
import fcntl, sys
file = open(sys.argv[1], "rb")
fcntl.flock(file, fcntl.LOCK_SH)
print("shared", flush=True)
sys.stdin.read()
fcntl.flock(file, fcntl.LOCK_EX)
"""


def run_python(program: str, *words: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", program, *map(str, words)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def locks(mounts: Mounts, kind: str) -> int:
    """`locked_ranges` or `waiting_locks` of all servers."""
    return sum(server[kind] for server in status(mounts.engine, mounts.volume))


# proves listio: mount-fcntl
def test_fcntl_locks_hold_on_all_mounts(mounts: Mounts) -> None:
    first, second = mounts(), mounts()
    (first / "file").write_bytes(b"x")
    with (first / "file").open("r+b") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        for directory in (first, second):
            _, said = run_python(LOCK, directory / "file", "try").communicate()
            assert b"BlockingIOError" in said
        held = struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 0, 0, 0)
        with (second / "file").open("r+b") as same:
            kind, _, begin, length, pid = struct.unpack("hhqqi4x", fcntl.fcntl(same, fcntl.F_GETLK, held))
            assert (kind, begin, length, pid) == (fcntl.F_WRLCK, 0, 0, 0)
        fcntl.lockf(file, fcntl.LOCK_UN)
        assert run_python(LOCK, second / "file", "try").wait() == 0
    assert locks(mounts, "locked_ranges") == 0


# proves listio: mount-fcntl
def test_programs_on_two_mounts_wait_for_each_other(mounts: Mounts) -> None:
    first, second = mounts(), mounts()
    (first / "file").write_bytes(bytes(8))
    programs = [run_python(ADD, directory / "file") for directory in (first, second, first, second)]
    assert [program.wait() for program in programs] == [0, 0, 0, 0]
    assert int.from_bytes((second / "file").read_bytes(), "little") == 4 * 30


# proves listio: mount-fcntl
def test_a_wait_for_a_lock_can_be_interrupted(mounts: Mounts) -> None:
    first, second = mounts(), mounts()
    (first / "file").write_bytes(b"x")
    with (first / "file").open("r+b") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        waiting = run_python(LOCK, second / "file", "wait")
        wait_for(lambda: locks(mounts, "waiting_locks") == 1, "the other to wait")
        assert (second / "file").read_bytes() == b"x"
        waiting.terminate()
        assert waiting.wait() == -signal.SIGTERM
        wait_for(lambda: locks(mounts, "waiting_locks") == 0, "the server to know")
        assert (second / "file").read_bytes() == b"x"


def test_a_mount_that_is_killed_frees_its_locks(mounts: Mounts) -> None:
    first, second = mounts(), mounts()
    (second / "file").write_bytes(b"x")
    with suppress(OSError), (first / "file").open("r+b") as file:  # closing it fails
        fcntl.lockf(file, fcntl.LOCK_EX)
        waiting = run_python(LOCK, second / "file", "wait")
        wait_for(lambda: locks(mounts, "waiting_locks") == 1, "the other to wait")
        os.kill(mounts.pids[first], signal.SIGKILL)
        assert waiting.wait() == 0


# proves listio: mount-flock
def test_flock_locks_hold_on_all_mounts(mounts: Mounts) -> None:
    first, second = mounts(), mounts()
    (first / "file").write_bytes(b"x")
    exclusive, shared = fcntl.LOCK_EX | fcntl.LOCK_NB, fcntl.LOCK_SH | fcntl.LOCK_NB
    with (first / "file").open("r+b") as file, (second / "file").open("rb") as other:
        fcntl.flock(file, exclusive)
        for same in (other, (first / "file").open("rb")):
            assert outcome(lambda same=same: fcntl.flock(same, shared)) == "EAGAIN"
        fcntl.lockf(file, exclusive)
        fcntl.flock(file, shared)
        fcntl.flock(other, shared)
        assert outcome(lambda: fcntl.flock(other, exclusive)) == "EAGAIN"
        assert outcome(lambda: fcntl.flock(file, exclusive)) is None, "a change that fails gives up the lock"
        copy = os.dup(file.fileno())
    assert outcome(lambda: fcntl.flock((second / "file").open("rb"), shared)) == "EAGAIN", "a copy is open"
    os.close(copy)
    with (second / "file").open("rb") as other:
        wait_for(
            lambda: outcome(lambda: fcntl.flock(other, exclusive)) is None, "the last close to give it up"
        )
    wait_for(lambda: locks(mounts, "locked_ranges") == 0, "the servers to know")


# proves listio: mount-flock
def test_two_that_share_a_flock_lock_do_not_wait_for_each_other(mounts: Mounts) -> None:
    (mounts() / "file").write_bytes(b"x")
    programs = [run_python(CHANGE, directory / "file") for directory in (*mounts.pids, mounts())]
    try:
        for each in programs:
            assert each.stdout is not None
            assert each.stdout.readline() == b"shared\n"
        for each in programs:
            assert each.stdin is not None
            each.stdin.close()
        assert [each.wait(DEADLINE_S) for each in programs] == [0, 0]
    finally:
        for each in programs:
            each.kill()
            each.wait()
