"""A lab whose start was killed half way is recognised, and removed without a trace."""

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import DEADLINE_S, strider_command, wait_for
from labs import system_or_skip
from strider.lab import Record, mounts, read
from strider.lab.processes import marked
from strider.processes import is_alive

TRIES = 5
"""A lab that is up before its start could be killed is removed and started once more."""


@pytest.fixture
def parent() -> Iterator[Path]:
    """A folder that the users of servers may pass."""
    folder = Path(tempfile.mkdtemp(prefix="strider-"))
    folder.chmod(0o755)
    yield folder
    folder.rmdir()


def strider_lab(verb: str, parent: Path) -> subprocess.CompletedProcess[str]:
    words = strider_command("lab", verb, "xrootd", "--at", parent)
    return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)


def start_of(parent: Path) -> subprocess.Popen[bytes]:
    words = strider_command("lab", "up", "xrootd", "--at", parent)
    return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)


def kill_a_start(parent: Path, daemons: int) -> Record:
    """The remains of a start that is killed after so many daemons."""
    folder = parent / "xrootd"

    def started() -> Record | None:
        record = read(folder)
        return record if record and len(record.processes) >= daemons else None

    starting = start_of(parent)
    try:
        wait_for(started, f"{daemons} daemons")
    finally:
        starting.kill()
        starting.communicate()
    record = read(folder)
    assert record is not None
    return record


@pytest.mark.parametrize("daemons", [1, 2])
def test_a_start_that_was_killed(parent: Path, daemons: int) -> None:
    system_or_skip("xrootd")
    folder = parent / "xrootd"
    for _ in range(TRIES):
        record = kill_a_start(parent, daemons)
        if record.state != "up":
            break
        assert strider_lab("down", parent).returncode == 0
    try:
        assert record.state == "starting"
        assert all(map(is_alive, record.processes))
        assert "xrootd is incomplete" in strider_lab("status", parent).stdout
        again = strider_lab("up", parent)
        assert again.returncode == 3
        assert "holds a lab that is incomplete" in again.stderr
    finally:
        assert strider_lab("down", parent).returncode == 0
    assert not any(map(is_alive, record.processes))
    assert list(marked(record.mark)) == []
    assert mounts.below(parent) == []
    assert not folder.exists()


def interrupt_a_start(parent: Path) -> int:
    """The exit code of a start that is interrupted."""
    starting = start_of(parent)
    try:
        wait_for(lambda: read(parent / "xrootd"), "the lab's record")
        starting.terminate()
        starting.communicate(timeout=DEADLINE_S)
    finally:
        starting.kill()
        starting.communicate()
    return starting.returncode


def test_a_start_that_is_interrupted_cleans_up_after_itself(parent: Path) -> None:
    system_or_skip("xrootd")
    try:
        for _ in range(TRIES):
            code = interrupt_a_start(parent)
            if code != 0:
                break
            assert strider_lab("down", parent).returncode == 0
        assert code != 0
        assert not list(parent.iterdir())
    finally:
        strider_lab("down", parent)
