"""A volume with two copies of its data, as a user sees it."""

import json
import os
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from shutil import rmtree

import pytest

from harness import strider_command, wait_for
from labs import Native
from strider.engine import Engine
from strider.listio import VOLUME_FILE, stop
from strider.listio.servers import dead_servers, processes_of

DEADLINE_S = 120
BYTES = 1_000_000


def strider(*words: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        strider_command(*words), capture_output=True, text=True, timeout=DEADLINE_S, check=False
    )


class CopiedVolume:
    """A volume of three servers.

    Attributes:
        directory: Its directory.
    """

    def __init__(self, engine: Engine, directory: Path) -> None:
        self.directory = directory
        self._program = engine.path.parents[1] / "tests/listio/strider-listio-copy"
        if not self._program.is_file():
            pytest.skip("strider-listio-copy is not built")
        self.serve()

    def serve(self) -> None:
        done = strider("listio", "serve", self.directory, "--servers", 3, "--copies", 2, "--strip", "4KiB")
        assert done.returncode == 0, done.stderr
        assert "2 copies" in done.stdout

    def copy(self, verb: str, folder: Path) -> None:
        folder.mkdir(exist_ok=True)
        words: list[str | Path] = [self._program, verb, self.directory / VOLUME_FILE, folder]
        subprocess.run(words, check=True, timeout=DEADLINE_S)

    def put(self, contents: bytes, folder: Path) -> None:
        folder.mkdir()
        (folder / "file").write_bytes(contents)
        self.copy("put", folder)

    def get(self, folder: Path) -> bytes:
        self.copy("get", folder)
        return (folder / "file").read_bytes()

    def has(self, contents: bytes, folder: Path) -> bool:
        """Whether the file is this one; pytest would compare megabytes for minutes."""
        return self.get(folder) == contents

    def kill(self, server: int) -> None:
        os.kill(processes_of(self.directory)[server].pid, signal.SIGKILL)
        wait_for(lambda: dead_servers(self.directory) == [server], "the server to end")


@pytest.fixture
def volume(engine: Engine, tmp_path: Path) -> Iterator[CopiedVolume]:
    Native("listio").require(engine)
    try:
        yield CopiedVolume(engine, tmp_path / "volume")
    finally:
        stop(tmp_path / "volume")


# proves listio: returns-old, status-names-out, out-refused
def test_a_server_may_be_missing_and_gets_what_it_missed(volume: CopiedVolume, tmp_path: Path) -> None:
    old, new = os.urandom(BYTES), os.urandom(BYTES)
    volume.put(old, tmp_path / "old")
    volume.kill(1)
    assert volume.has(old, tmp_path / "while it is missing")
    volume.put(new, tmp_path / "new")
    assert volume.has(new, tmp_path / "new again")
    without = strider("listio", "check", volume.directory)
    assert (without.returncode, "not checked: server 1 is out" in without.stdout) == (1, True), without.stderr
    volume.serve()
    status = strider("listio", "status", volume.directory)
    assert status.returncode == 0, status.stderr
    assert "server 1 is out, as it may have missed changes: strider listio scrub" in status.stdout
    assert volume.has(new, tmp_path / "before it is filled")
    measured = strider("run", "noncontig-2003", "--target", volume.directory)
    assert (measured.returncode, "server 1 of" in measured.stderr) == (3, True), measured.stderr

    unchecked = strider("listio", "check", volume.directory)
    assert (unchecked.returncode, "not checked: server 1 is out" in unchecked.stdout) == (1, True), (
        unchecked.stderr
    )
    assert "damaged" not in unchecked.stdout
    assert "orphan" not in unchecked.stdout

    filled = strider("listio", "scrub", volume.directory)
    assert filled.returncode == 0, filled.stdout + filled.stderr
    assert "server 1 is in again" in filled.stdout
    servers = json.loads(strider("listio", "status", volume.directory, "--json").stdout)["servers"]
    assert [server["out"] for server in servers] == [False] * 3
    # Only server 1 has the present data of two thirds of the file.
    volume.kill(2)
    assert volume.has(new, tmp_path / "afterwards")
    volume.serve()
    assert strider("listio", "scrub", volume.directory).returncode == 0
    checked = strider("listio", "check", volume.directory)
    assert checked.returncode == 0, checked.stdout


# proves listio: replace
def test_a_lost_folder_is_made_anew_from_the_other_copies(volume: CopiedVolume, tmp_path: Path) -> None:
    old, new = os.urandom(BYTES), os.urandom(BYTES)
    volume.put(old, tmp_path / "old")
    volume.kill(1)
    rmtree(volume.directory / "server-1")
    without = strider("listio", "serve", volume.directory)
    assert "start the volume with --replace 1" in without.stderr
    assert not (volume.directory / "server-1").exists()
    assert volume.has(old, tmp_path / "while it is lost")
    replaced = strider("listio", "serve", volume.directory, "--replace", 1)
    assert (replaced.returncode, "server 1 begins empty" in replaced.stdout) == (0, True), replaced.stderr
    assert volume.has(old, tmp_path / "while it is empty")
    volume.put(new, tmp_path / "new")
    filled = strider("listio", "scrub", volume.directory)
    assert (filled.returncode, "server 1 is in again" in filled.stdout) == (0, True), (
        filled.stdout + filled.stderr
    )
    assert strider("listio", "check", volume.directory).returncode == 0
    # The folders of its neighbours are lost now, one after the other, while no server runs.
    for number in (2, 1):
        stop(volume.directory)
        rmtree(volume.directory / f"server-{number}")
        (volume.directory / f"server-{number}").mkdir()
        again = strider("listio", "serve", volume.directory, "--replace", number)
        assert again.returncode == 0, again.stderr
        assert volume.has(new, tmp_path / f"without {number}")
        assert strider("listio", "scrub", volume.directory).returncode == 0
    assert strider("listio", "check", volume.directory).returncode == 0
    assert volume.has(new, tmp_path / "at the end")


# proves listio: old-folder-refused
def test_an_old_folder_is_refused_after_another_took_its_place(volume: CopiedVolume, tmp_path: Path) -> None:
    old, new = os.urandom(BYTES), os.urandom(BYTES)
    volume.put(old, tmp_path / "old")
    volume.kill(1)
    folder, lost, last = volume.directory / "server-1", tmp_path / "lost", tmp_path / "last"
    folder.rename(lost)
    replaced = strider("listio", "serve", volume.directory, "--replace", 1)
    assert replaced.returncode == 0, replaced.stderr
    volume.put(new, tmp_path / "new")
    assert strider("listio", "scrub", volume.directory).returncode == 0
    # While the other servers run, and after all have stopped.
    for way in ("one ends", "all end"):
        if way == "one ends":
            volume.kill(1)
        else:
            stop(volume.directory)
        folder.rename(last)
        lost.rename(folder)
        refused = strider("listio", "serve", volume.directory)
        assert refused.returncode != 0
        assert "is not the folder that the server had last" in refused.stderr
        folder.rename(lost)
        last.rename(folder)
        again = strider("listio", "serve", volume.directory)
        assert again.returncode == 0, again.stderr
        strider("listio", "scrub", volume.directory)
        assert volume.has(new, tmp_path / way)


# proves listio: replace-refuses
def test_only_a_lost_folder_is_replaced(volume: CopiedVolume, tmp_path: Path) -> None:
    volume.put(os.urandom(BYTES), tmp_path / "in")

    def refusal(number: int) -> str:
        done = strider("listio", "serve", volume.directory, "--replace", number)
        assert done.returncode != 0
        return done.stderr

    assert "server-1 is not lost: move it away first" in refusal(1)
    assert "other than server 0" in refusal(0)
    assert "other than server 0" in refusal(3)
    folder, away = volume.directory / "server-1", tmp_path / "away"
    folder.rename(away)
    assert "server 1 still runs" in refusal(1)
    away.rename(folder)
    # Server 2 has missed what server 1 had alone.
    volume.kill(2)
    volume.put(os.urandom(BYTES), tmp_path / "other")
    volume.serve()
    os.kill(processes_of(volume.directory)[1].pid, signal.SIGKILL)
    wait_for(lambda: dead_servers(volume.directory) == [1], "the server to end")
    rmtree(folder)
    assert "a server beside it is out" in refusal(1)
    assert not folder.exists()


def test_a_scrub_repairs_damage_from_the_other_copy(volume: CopiedVolume, tmp_path: Path) -> None:
    contents = os.urandom(BYTES)
    volume.put(contents, tmp_path / "in")
    [data] = (volume.directory / "server-2/data").glob("*/*")
    with data.open("r+b") as file:
        file.seek(5000)
        file.write(bytes(byte ^ 255 for byte in data.read_bytes()[5000:5010]))
    assert volume.has(contents, tmp_path / "out")
    repaired = strider("listio", "scrub", volume.directory)
    assert repaired.returncode == 0, repaired.stdout + repaired.stderr
    assert "repaired from the other copy: file on server 2: bytes " in repaired.stdout
    assert "no damage found" in strider("listio", "scrub", volume.directory).stdout


# proves listio: copies-for-good
def test_copies_need_servers_and_stay_as_they_are(volume: CopiedVolume, tmp_path: Path) -> None:
    few = strider("listio", "serve", tmp_path / "few", "--servers", 1, "--copies", 2)
    assert (few.returncode, "2 copies need 2 servers or more" in few.stderr) == (2, True), few.stderr
    many = strider("listio", "serve", tmp_path / "many", "--copies", 3)
    assert (many.returncode, "use 1 or 2" in many.stderr) == (2, True), many.stderr
    stop(volume.directory)
    other = strider("listio", "serve", volume.directory, "--copies", 1)
    assert (other.returncode, "is a volume with --copies 2, not 1" in other.stderr) == (2, True), other.stderr
    volume.serve()
