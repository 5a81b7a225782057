"""Mounts of list-I/O volumes: programs see the same as in a local directory, on every mount."""

from __future__ import annotations

import itertools
import os
import random
import sqlite3
import subprocess
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from harness import wait_for
from mounting import Mounts, mounts_on, outcome, volume_in
from strider.engine import Engine
from strider.listio import check, processes_of
from traces import calls_in, watched

BOTH = pytest.mark.parametrize("caches", [False, True], ids=["direct", "cache"])
ROUNDS = int(os.environ.get("STRIDER_TEST_ROUNDS", "150"))
NAMES = ("a", "b", "c", "a/x", "a/y", "b/x", "b/x/z")


def tree_of(root: Path) -> dict[str, object]:
    """Everything that a program can find out about a directory."""
    found: dict[str, object] = {}
    for path in sorted(root.rglob("*")):
        name = str(path.relative_to(root))
        if path.is_symlink():
            found[name] = ("link", path.readlink())
        elif path.is_dir():
            found[name] = "directory"
        else:
            found[name] = (path.stat().st_mode & 0o777, path.stat().st_size, path.read_bytes())
    return found


def any_call(drawn: random.Random) -> Callable[[Path], object]:
    """A call with drawn arguments, to be made on the mount and on a local directory."""
    name, other = drawn.choice(NAMES), drawn.choice(NAMES)
    offset, data = drawn.randrange(5000), drawn.randbytes(drawn.randrange(1, 4000))

    def write(root: Path) -> object:
        file = os.open(root / name, os.O_RDWR | os.O_CREAT, 0o640)
        try:
            return os.pwrite(file, data, offset), os.pread(file, 9000, offset // 2)
        finally:
            os.close(file)

    def append(root: Path) -> object:
        with (root / name).open("ab") as file:
            return file.write(data)

    calls: list[Callable[[Path], object]] = [
        write,
        write,
        append,
        lambda root: (root / name).read_bytes(),
        lambda root: os.truncate(root / name, offset),
        lambda root: (root / name).open("wb").close(),
        lambda root: os.close(os.open(root / name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600)),
        lambda root: (root / name).unlink(),
        lambda root: (root / name).mkdir(0o750),
        lambda root: (root / name).rmdir(),
        lambda root: bool((root / name).rename(root / other)),
        lambda root: (root / name).symlink_to(other),
        lambda root: (root / name).readlink(),
        lambda root: (root / name).chmod(0o600 | offset % 0o200) if not (root / name).is_dir() else None,
        lambda root: sorted(entry.name for entry in (root / name).iterdir()),
    ]
    return drawn.choice(calls)


@BOTH
# proves listio: mount
def test_calls_have_the_results_that_they_have_in_a_local_directory(
    mounts: Mounts, tmp_path: Path, caches: bool
) -> None:
    reference, subject = tmp_path / "reference", mounts(caches)
    reference.mkdir()
    drawn = random.Random(7)
    failed = 0
    for step in range(1000):
        call = any_call(drawn)
        expected = outcome(lambda call=call: call(reference))
        found = outcome(lambda call=call: call(subject))
        assert found == expected, f"step {step}"
        failed += isinstance(expected, str) and expected.startswith("E")
        if step % 50 == 0:
            assert tree_of(subject) == tree_of(reference), f"step {step}"
    assert 200 < failed < 900, "both results and errors are compared"
    assert tree_of(subject) == tree_of(reference)


def change(drawn: random.Random, root: Path, expected: dict[str, bytes]) -> list[str]:
    """Changes a file, closes it, and notes its expected state; returns the names."""
    name, other = drawn.sample([f"file {number}" for number in range(6)], 2)
    data, place = drawn.randbytes(drawn.randrange(1, 9000)), drawn.randrange(6000)
    path, old = root / name, expected.get(name)
    kind = drawn.choice(["write", "append", "in place", "truncate", "rename", "remove"])
    if old is None or kind == "write":
        path.write_bytes(data)
        expected[name] = data
    elif kind == "append":
        with path.open("ab") as file:
            file.write(data)
        expected[name] = old + data
    elif kind == "in place":
        with path.open("r+b") as file:
            file.seek(place)
            file.write(data)
        expected[name] = old[:place].ljust(place, b"\0") + data + old[place + len(data) :]
    elif kind == "truncate":
        os.truncate(path, place)
        expected[name] = old[:place].ljust(place, b"\0")
    elif kind == "rename":
        path.rename(root / other)
        expected[other] = expected.pop(name)
        return [name, other]
    else:
        path.unlink()
        del expected[name]
    return [name]


@pytest.mark.parametrize("caches", [(False, False), (True, True), (True, False)])
# proves listio: mount-visible
def test_what_one_mount_closed_the_other_opens(mounts: Mounts, caches: tuple[bool, bool]) -> None:
    drawn = random.Random(1)
    writer, reader = (mounts(one) for one in caches)
    expected: dict[str, bytes] = {}
    for round_ in range(ROUNDS):
        for name in change(drawn, writer, expected):
            if name not in expected:
                assert not (reader / name).exists(), f"round {round_}"
                continue
            assert (reader / name).read_bytes() == expected[name], f"round {round_}"
            assert (reader / name).stat().st_size == len(expected[name]), f"round {round_}"
        if round_ % 10 == 0:
            assert sorted(entry.name for entry in reader.iterdir()) == sorted(expected), f"round {round_}"
        writer, reader = reader, writer


@BOTH
# proves listio: mount-append
def test_mounts_append_to_a_file_in_turn(mounts: Mounts, caches: bool) -> None:
    """Each at the end that the file has by then, although it has it open all the time."""
    paths = [mounts(caches) / "log" for _ in range(2)]
    with paths[0].open("ab", buffering=0) as first, paths[1].open("ab", buffering=0) as second:
        for number in range(100):
            (first, second)[number % 2].write(b"%d\n" % number)
        first.write(bytes(3 << 20))
    lines = (mounts(caches) / "log").read_bytes()
    assert lines == b"".join(b"%d\n" % number for number in range(100)) + bytes(3 << 20)


# proves listio: mount-listing
def test_a_listing_is_complete_while_names_come_and_go(mounts: Mounts) -> None:
    directory, other = mounts(), mounts()
    stays = [f"stays {number}" for number in range(1500)]
    for name in stays:
        (directory / name).touch()
    ends = threading.Event()

    def come_and_go() -> None:
        for number in itertools.count():
            (other / f"comes {number}").touch()
            if number >= 100:
                (other / f"comes {number - 100}").unlink()
            if ends.is_set():
                return

    changing = threading.Thread(target=come_and_go)
    changing.start()
    try:
        for _ in range(10):
            found = [entry.name for entry in directory.iterdir()]
            assert len(set(found)) == len(found)
            assert set(stays) <= set(found)
    finally:
        ends.set()
        changing.join()


# proves listio: mount-visible
def test_without_the_cache_others_see_every_completed_write(mounts: Mounts) -> None:
    writer, reader = mounts(), mounts()
    with (writer / "f").open("wb", buffering=0) as out, (reader / "f").open("rb", buffering=0) as into:
        for number in range(200):
            out.write(bytes([number]) * 777)
            assert into.read() == bytes([number]) * 777


# proves listio: mount-removed-elsewhere
def test_what_another_mount_renames_or_removes_while_it_is_open(
    mounts: Mounts, engine: Engine, volume: Path
) -> None:
    first, second = mounts(), mounts()
    with (first / "a").open("w+b", buffering=0) as moved, (first / "b").open("w+b", buffering=0) as removed:
        moved.write(b"old")
        removed.write(b"old")
        (second / "a").rename(second / "c")
        (second / "b").unlink()
        moved.write(b" new")
        assert (second / "c").read_bytes() == os.pread(moved.fileno(), 100, 0) == b"old new"
        assert os.fstat(moved.fileno()).st_size == 7
        assert os.pread(removed.fileno(), 100, 0) == b""
        removed.write(b"lost")
    (second / "c").unlink()
    assert len(check(engine, volume, remove_orphans=True)["orphans"]) == 1


# proves listio: mount-hidden
def test_an_open_file_goes_on_when_it_is_removed_or_replaced(mounts: Mounts, volume: Path) -> None:
    directory = mounts()
    for name in ("gone", "replaced"):
        (directory / name).write_bytes(b"old" * 1000)
    (directory / "new").write_bytes(b"new")
    with (directory / "gone").open("r+b") as gone, (directory / "replaced").open("rb") as replaced:
        (directory / "gone").unlink()
        (directory / "new").rename(directory / "replaced")
        assert [entry.name for entry in directory.iterdir()] == ["replaced"]
        assert (directory / "replaced").read_bytes() == b"new"
        assert replaced.read() == b"old" * 1000
        gone.write(b"more")
        gone.seek(0)
        assert gone.read() == b"more" + (b"old" * 1000)[4:]
    hidden = volume / "server-0" / "names"
    wait_for(lambda: [entry.name for entry in hidden.iterdir()] == ["replaced"], "the hidden names to go")


# proves listio: mount
def test_fio_verifies_what_four_jobs_wrote(mounts: Mounts) -> None:
    words = ["--name=v", "--size=4M", "--rw=randrw", "--bs=512-16k", "--verify=crc32c", "--numjobs=4"]
    done = subprocess.run(
        [
            "fio",
            f"--directory={mounts()}",
            *words,
            "--verify_fatal=1",
            "--verify_state_save=0",
            "--direct=1",
            "--group_reporting",
        ],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@BOTH
# proves listio: shared-mapping
def test_a_write_ahead_log_of_sqlite_needs_the_cache(mounts: Mounts, caches: bool) -> None:
    with closing(sqlite3.connect(mounts(caches) / "base")) as base:
        base.execute("create table numbers (number)")
        if caches:
            assert base.execute("pragma journal_mode = wal").fetchone() == ("wal",)
            base.execute("insert into numbers values (7)")
            assert base.execute("select number from numbers").fetchall() == [(7,)]
        else:
            with pytest.raises(sqlite3.OperationalError, match="disk I/O error"):
                base.executescript("pragma journal_mode = wal; insert into numbers values (7);")


def calls_at(number: int) -> list[Callable[[int], object]]:
    """Calls on an open file with this offset and size."""
    return [
        lambda file: os.pwrite(file, b"ab", number),
        lambda file: os.pread(file, 5, number),
        lambda file: os.fstat(file).st_size,
        lambda file: os.ftruncate(file, number),
        lambda file: os.fstat(file).st_size,
        lambda file: os.ftruncate(file, 10),
    ]


def test_offsets_and_sizes_around_powers_of_two_are_those_of_a_local_file(engine: Engine) -> None:
    if not Path("/dev/shm").is_dir():
        pytest.skip("machine: there is no /dev/shm, where files may have any size")
    with (
        TemporaryDirectory(dir="/dev/shm") as name,
        volume_in(engine, Path(name) / "volume") as volume,
        mounts_on(engine, volume, Path(name)) as mounts,
    ):
        files = [os.open(root / "file", os.O_RDWR | os.O_CREAT) for root in (mounts(), Path(name))]
        for number in (2**power + more for power in range(64) for more in (-1, 0, 1)):
            for call in calls_at(number) if number < 2**63 else []:
                found, expected = (outcome(call, file) for file in files)
                assert found == expected, number
        for file in files:
            os.close(file)


# proves listio: mount-free-space, chown
def test_times_numbers_and_thousands_of_entries(mounts: Mounts) -> None:
    directory = mounts()
    (directory / "first").touch()  # so that the file is not the first one for both mounts
    file = directory / "file"
    file.write_bytes(b"x" * 5000)
    os.utime(file, ns=(0, 1_500_000_000_123_456_789))
    assert file.stat().st_mtime_ns == 1_500_000_000_123_456_789
    assert file.stat().st_ino == (mounts() / "file").stat().st_ino
    with pytest.raises(PermissionError):
        os.chown(file, 12345, 12345)
    for number in range(1200):
        (directory / f"entry {number}").touch()
    assert len(list(directory.iterdir())) == 1202
    space = os.statvfs(directory)
    assert 0 < space.f_bavail <= space.f_blocks


@pytest.mark.parametrize("flags", [0, os.O_SYNC, os.O_DSYNC], ids=["none", "O_SYNC", "O_DSYNC"])
# proves listio: names-durable, mount-durable
def test_synced_writes_and_fsync_reach_the_servers(
    mounts: Mounts, volume: Path, strace: str, tmp_path: Path, flags: int
) -> None:
    directory = mounts()
    (directory / "directory").mkdir()
    with watched(strace, [one.pid for one in processes_of(volume)], tmp_path / "servers"):
        file = os.open(directory / "file", os.O_CREAT | os.O_WRONLY | flags, 0o600)
        for number in range(3):
            os.pwrite(file, b"x" * 3000, 3000 * number)
        if flags == 0:
            os.fsync(file)
        os.close(file)
        folder = os.open(directory / "directory", os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)
    found = [call for call in calls_in(tmp_path / "servers") if f"{volume}/server-" in call.path]
    data = [call for call in found if call.name == "fdatasync" and "/data/" in call.path]
    assert len(data) == (9 if flags else 3), "each of three servers, for each write or once"
    names = [call for call in found if call.name == "fsync" and "/names" in call.path]
    assert names, "the names"


# proves listio: unlink-durable
def test_data_of_removed_files_go_while_the_mount_stays(mounts: Mounts, volume: Path) -> None:
    """Also of the last ones, which wait for the removal of their names to be stable."""
    directory = mounts()
    files = [directory / str(number) for number in range(50)]
    before = data_files(volume)
    for file in files:
        file.write_bytes(b"x" * 100_000)
    assert len(data_files(volume)) > len(before)
    for file in files:
        file.unlink()
    wait_for(lambda: data_files(volume) == before, "data files to be removed")


def data_files(volume: Path) -> set[Path]:
    """Of all servers."""
    return set(volume.glob("server-*/data/*/*"))
