"""The processes of mounts of list-I/O volumes: servers and mounts that end, are killed and start again."""

from __future__ import annotations

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from harness import wait_for
from mounting import Mounts, mounts_on, outcome, volume_in
from strider.cli import main
from strider.doctor.mounts import check_mounts
from strider.engine import Engine
from strider.errors import StriderError
from strider.listio import (
    MountOptions,
    ServerOptions,
    mount,
    mounted,
    processes_of,
    serve,
    stop,
    unmount,
)
from strider.listio import mounts as mounts_module
from strider.listio.servers import dead_servers
from strider.listio.volume import read_volume
from strider.processes import command_lines, identify


def addresses_of(volume: Path) -> list[str]:
    found = read_volume(volume)
    assert found is not None
    return found.servers


# proves listio: volume-file-again
def test_a_mount_finds_its_volume_after_it_was_stopped_and_started(engine: Engine, tmp_path: Path) -> None:
    with (
        volume_in(engine, tmp_path / "volume") as volume,
        mounts_on(engine, volume, tmp_path) as mounts,
    ):
        root = mounts()
        with (root / "file").open("w+b", buffering=0) as file:
            file.write(b"before")
            addresses = addresses_of(volume)
            stop(volume)
            assert outcome(lambda: os.pread(file.fileno(), 100, 0)) in {"ECONNREFUSED", "ETIMEDOUT"}
            serve(engine, volume, ServerOptions())
            assert addresses_of(volume) != addresses
            assert os.pread(file.fileno(), 100, 0) == b"before"
            file.write(b" and after")
            assert (root / "file").read_bytes() == b"before and after"
            (root / "new").touch()
            assert sorted(entry.name for entry in root.iterdir()) == ["file", "new"]


# proves listio: mount-killed
def test_a_killed_mount_leaves_no_mount_point(mounts: Mounts) -> None:
    directory = mounts()
    (directory / "file").write_bytes(b"kept")
    os.kill(mounts.pids[directory], signal.SIGKILL)
    wait_for(lambda: str(directory) not in mounted(), "the mount point to go")
    assert list(directory.iterdir()) == []
    assert (mounts() / "file").read_bytes() == b"kept"


@pytest.mark.parametrize("helper", ["lives", "killed"])
# proves listio: mount-killed
def test_a_volume_is_mounted_again_where_its_mount_was_killed(mounts: Mounts, helper: str) -> None:
    """Also where no process is left that could unmount it."""
    directory = mounts()
    (directory / "file").write_bytes(b"kept")
    for round_ in range(3 if helper == "lives" else 1):
        victims = [mounts.pids[directory]]
        if helper == "killed":
            victims = [*helpers_of(directory), *victims]
            assert len(victims) == 2
        for pid in victims:
            os.kill(pid, signal.SIGKILL)
        mounts.pids[directory] = mount(mounts.engine, mounts.volume, directory)
        assert (directory / "file").read_bytes() == b"kept", f"round {round_}"
        assert mounted().count(str(directory)) == 1


def helpers_of(directory: Path) -> list[int]:
    """The processes of fusermount3 that would unmount a directory."""
    return [
        pid for pid, words in command_lines() if words[0].endswith("fusermount3") and str(directory) in words
    ]


# proves listio: mount-log, mount-server-dead
def test_a_dead_server_is_an_error_and_no_hang(engine: Engine, tmp_path: Path) -> None:
    volume = tmp_path / "volume"
    serve(engine, volume, ServerOptions(servers=2, strip_bytes=1000))
    directory = Mounts(engine, volume, tmp_path)()
    try:
        (directory / "file").write_bytes(b"x" * 10_000)
        stop(volume)
        with pytest.raises(OSError, match=r"refused|reset|timed out|Input/output"):
            (directory / "file").read_bytes()
        assert "server 0" in (volume / "mount.log").read_text(), "the log says which server failed"
    finally:
        unmount(directory)
        with suppress(StriderError):
            stop(volume)


# proves listio: mount-lost-changes
def test_each_open_file_and_directory_reports_lost_changes_once(engine: Engine, tmp_path: Path) -> None:
    volume, options = tmp_path / "volume", ServerOptions(servers=2, strip_bytes=1000)
    serve(engine, volume, options)
    directory = Mounts(engine, volume, tmp_path)()
    opened = [
        os.open(directory / "file", os.O_CREAT | os.O_WRONLY | flags, 0o600) for flags in (0, 0, os.O_SYNC)
    ]
    opened.append(os.open(directory, os.O_RDONLY))
    try:
        os.pwrite(opened[0], b"x" * 10_000, 0)
        (directory / "new").mkdir()
        os.kill(processes_of(volume)[0].pid, signal.SIGKILL)
        wait_for(lambda: dead_servers(volume) == [0], "the server to end")
        serve(engine, volume, options)
        wait_for(lambda: outcome(os.path.getsize, directory / "file") == 10_000, "the server to answer")
        syncs = [(os.fsync, opened[0]), (os.fdatasync, opened[1]), (os.fsync, opened[3])]
        assert [outcome(sync, each) for sync, each in syncs] == ["EIO"] * 3
        assert outcome(os.pwrite, opened[2], b"y", 0) == "EIO", "a write that syncs"
        assert [outcome(sync, each) for sync, each in syncs] == [None] * 3
        assert outcome(os.pwrite, opened[2], b"y", 0) == 1
    finally:
        for each in opened:
            os.close(each)
        unmount(directory)
        stop(volume)


# proves listio: who-repeats
def test_a_restart_of_a_server_is_waited_for(engine: Engine, tmp_path: Path) -> None:
    volume = tmp_path / "volume"
    options = ServerOptions(servers=2, strip_bytes=1000)
    serve(engine, volume, options)
    directory = Mounts(engine, volume, tmp_path)()
    try:
        (directory / "file").write_bytes(b"x" * 10_000)
        os.kill(processes_of(volume)[1].pid, signal.SIGKILL)
        wait_for(lambda: dead_servers(volume) == [1], "the server to end")
        with ThreadPoolExecutor() as threads:
            reading = threads.submit((directory / "file").read_bytes)
            time.sleep(0.5)
            assert not reading.done(), "the read cannot have finished"
            serve(engine, volume, options)
            assert reading.result() == b"x" * 10_000
    finally:
        unmount(directory)
        stop(volume)


# proves listio: unmount-removes
def test_the_process_of_a_mount_has_ended_when_it_is_unmounted(
    engine: Engine, volume: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mounts = Mounts(engine, volume, tmp_path)
    directory = mounts()
    pid = mounts.pids[directory]
    with ThreadPoolExecutor() as threads:
        os.kill(pid, signal.SIGSTOP)
        try:
            ended = threads.submit(unmount, directory)
            wait_for(lambda: str(directory) not in mounted(), "the directory to be unmounted")
            with pytest.raises(TimeoutError):
                ended.result(0.5)
        finally:
            os.kill(pid, signal.SIGCONT)
        ended.result()
        assert not identify(pid, "")

    monkeypatch.setattr(mounts_module, "ENDED_S", 0.1)
    stuck = mounts()
    pid = mounts.pids[stuck]
    os.kill(pid, signal.SIGSTOP)
    try:
        with pytest.raises(StriderError, match=f"is unmounted, but its process {pid} has not ended in"):
            unmount(stuck)
    finally:
        os.kill(pid, signal.SIGCONT)
        wait_for(lambda: not identify(pid, ""), "the mount to end")


def test_unmounting_waits_for_no_earlier_mount_of_the_directory(
    engine: Engine, volume: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mount that was taken out of sight lives until its last file is closed."""
    mounts = Mounts(engine, volume, tmp_path)
    directory = mounts()
    earlier = mounts.pids[directory]
    with (directory / "open").open("w"):
        unmount(directory, lazily=True)
        mount(engine, volume, directory, MountOptions())
        monkeypatch.setattr(mounts_module, "ENDED_S", 20.0)
        unmount(directory)
        assert identify(earlier, ""), "the earlier one is still there"
    wait_for(lambda: not identify(earlier, ""), "the earlier mount to end")


def test_doctor_names_mounts_and_those_that_do_not_answer(
    engine: Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    volume = tmp_path / "volume"
    serve(engine, volume, ServerOptions(servers=1))
    directory = Mounts(engine, volume, tmp_path)()
    try:
        (one,) = [one for one in check_mounts() if one.finding == str(directory)]
        assert one.state == "works"
        stop(volume)
        (one,) = [one for one in check_mounts() if one.finding.startswith(f"{directory}:")]
        assert one.state == "note"
        assert one.remedy.endswith(f"strider listio unmount {directory}")
    finally:
        unmount(directory)
    monkeypatch.setenv("PATH", str(tmp_path))
    (one,) = [one for one in check_mounts() if one.subject == "list-I/O mounts"]
    assert (one.state, one.finding) == ("missing", "fusermount3 is not installed")


def test_a_mount_goes_on_an_empty_directory_outside_the_volume(
    engine: Engine, volume: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "precious").touch()
    (volume / "inside").mkdir()
    used = Mounts(engine, volume, tmp_path)()
    for name, said in (
        (used, "a list-I/O volume is mounted on"),
        (tmp_path / "full", "is not empty"),
        (tmp_path / "none", "is not a directory"),
        (volume / "inside", "lies within the volume"),
    ):
        assert main(["listio", "mount", str(volume), str(name)]) == 2
        assert said in capsys.readouterr().err
    (volume / "inside").rmdir()
    assert main(["listio", "unmount", str(used)]) == 0
    assert main(["listio", "unmount", str(tmp_path / "full")]) == 2
    assert "no list-I/O volume is mounted on" in capsys.readouterr().err
    assert (tmp_path / "full" / "precious").is_file()
