"""Mounts of list-I/O volumes: what programs see is what a local directory shows them, on every mount."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import mmap
import os
import random
import signal
import struct
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from harness import wait_for
from strider.cli import main
from strider.doctor.mounts import check_mounts
from strider.engine import Engine
from strider.errors import StriderError
from strider.listio import (
    MountOptions,
    ServerOptions,
    check,
    mount,
    mounted,
    processes_of,
    serve,
    status,
    stop,
    unmount,
)
from traces import calls_in, watched

BOTH = pytest.mark.parametrize("caches", [False, True], ids=["direct", "cache"])
NAMES = ("a", "b", "c", "a/x", "a/y", "b/x", "b/x/z")


@pytest.fixture(scope="module")
def volume(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A volume of three servers with small strips, so that most files lie on all of them."""
    if not Path("/dev/fuse").exists():
        pytest.skip("machine: the kernel has no FUSE (/dev/fuse)")
    directory = tmp_path_factory.mktemp("mount") / "volume"
    serve(engine, directory, ServerOptions(servers=3, strip_bytes=1000))
    yield directory
    stop(directory)


class Mounts:
    """Mounts volumes on new directories."""

    def __init__(self, engine: Engine, volume: Path, folder: Path) -> None:
        self.engine, self.volume, self.folder = engine, volume, folder
        self.pids: dict[Path, int] = {}

    def __call__(self, caches: bool = False) -> Path:
        directory = self.folder / f"mount {len(self.pids)}"
        directory.mkdir()
        try:
            pid = mount(self.engine, self.volume, directory, MountOptions(caches=caches))
        except StriderError as error:
            if "fusermount3" in error.message:
                pytest.skip(f"machine: FUSE file systems may not be mounted: {error.message}")
            raise
        self.pids[directory] = pid
        return directory


@pytest.fixture
def mounts(engine: Engine, volume: Path, tmp_path: Path) -> Iterator[Mounts]:
    """Mounts that end with the test; the volume is empty then, and whole."""
    made = Mounts(engine, volume, tmp_path)
    try:
        yield made
        for directory in made.pids:
            if str(directory) in mounted():
                subprocess.run(["rm", "-rf", *directory.iterdir()], check=True)
    finally:
        for directory in made.pids:
            if str(directory) in mounted():
                unmount(directory)
    found = check(engine, volume)
    assert (found["files"], found["problems"], found["orphans"]) == (0, [], [])


def outcome(action: Callable[[], object]) -> object:
    """What a call returned, or its error number."""
    try:
        return action()
    except OSError as error:
        return errno.errorcode[error.errno or 0]


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
def test_calls_have_the_results_that_they_have_in_a_local_directory(
    mounts: Mounts, tmp_path: Path, caches: bool
) -> None:
    reference, subject = tmp_path / "reference", mounts(caches)
    reference.mkdir()
    drawn = random.Random(7)
    failed = 0
    for step in range(1000):
        call = any_call(drawn)
        expected = outcome(lambda call=call: call(reference))  # type: ignore[misc]
        found = outcome(lambda call=call: call(subject))  # type: ignore[misc]
        assert found == expected, f"step {step}"
        failed += isinstance(expected, str) and expected.startswith("E")
        if step % 50 == 0:
            assert tree_of(subject) == tree_of(reference), f"step {step}"
    assert 200 < failed < 900, "both results and errors are compared"
    assert tree_of(subject) == tree_of(reference)


@pytest.mark.parametrize("caches", [(False, False), (True, True), (True, False)])
def test_what_one_mount_closed_the_other_opens(mounts: Mounts, caches: tuple[bool, bool]) -> None:
    drawn = random.Random(1)
    writer, reader = (mounts(one) for one in caches)
    for round_ in range(300):
        data = drawn.randbytes(drawn.randrange(1, 20_000))
        name = f"file{round_ % 5}"
        (writer / name).write_bytes(data)
        assert (reader / name).read_bytes() == data, f"round {round_}"
        assert (reader / name).stat().st_size == len(data)
        writer, reader = reader, writer


def test_without_the_cache_others_see_every_completed_write(mounts: Mounts) -> None:
    writer, reader = mounts(), mounts()
    with (writer / "f").open("wb", buffering=0) as out, (reader / "f").open("rb", buffering=0) as into:
        for number in range(200):
            out.write(bytes([number]) * 777)
            assert into.read() == bytes([number]) * 777


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


def test_times_modes_and_thousands_of_entries(mounts: Mounts) -> None:
    directory = mounts()
    file = directory / "file"
    file.write_bytes(b"x" * 5000)
    os.utime(file, ns=(0, 1_500_000_000_123_456_789))
    assert file.stat().st_mtime_ns == 1_500_000_000_123_456_789
    with pytest.raises(PermissionError):
        os.chown(file, 12345, 12345)
    for number in range(1200):
        (directory / f"entry {number}").touch()
    assert len(list(directory.iterdir())) == 1201
    space = os.statvfs(directory)
    assert 0 < space.f_bavail <= space.f_blocks


def test_a_killed_mount_leaves_no_mount_point(mounts: Mounts) -> None:
    directory = mounts()
    (directory / "file").write_bytes(b"kept")
    os.kill(mounts.pids[directory], signal.SIGKILL)
    wait_for(lambda: str(directory) not in mounted(), "the mount point to go")
    assert list(directory.iterdir()) == []
    assert (mounts() / "file").read_bytes() == b"kept"


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
    for name, said in (
        (tmp_path / "full", "is not empty"),
        (tmp_path / "none", "is not a directory"),
        (volume / "inside", "lies within the volume"),
    ):
        assert main(["listio", "mount", str(volume), str(name)]) == 2
        assert said in capsys.readouterr().err
    (volume / "inside").rmdir()
    assert main(["listio", "unmount", str(tmp_path / "full")]) == 2
    assert "no list-I/O volume is mounted on" in capsys.readouterr().err
    assert (tmp_path / "full" / "precious").is_file()


@pytest.mark.parametrize("flags", [0, os.O_SYNC, os.O_DSYNC], ids=["none", "O_SYNC", "O_DSYNC"])
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
    calls = [call.name for call in calls_in(tmp_path / "servers") if f"{volume}/server-" in call.path]
    assert calls.count("fdatasync") == (9 if flags else 3), "each of three servers, for each write or once"
    assert calls.count("syncfs") >= 1, "the names"


def test_what_is_not_supported_is_refused(mounts: Mounts) -> None:
    directory = mounts()
    (directory / "file").write_bytes(b"x" * 5000)
    assert outcome(lambda: os.link(directory / "file", directory / "hard")) in ("ENOSYS", "EPERM")
    assert outcome(lambda: os.mkfifo(directory / "fifo")) == "ENOTSUP"
    assert outcome(lambda: os.setxattr(directory / "file", "user.a", b"b")) == "ENOTSUP"
    libc = ctypes.CDLL(None, use_errno=True)
    for exchange in (1, 2):
        paths = [str(directory / name).encode() for name in ("file", "other")]
        assert libc.renameat2(-100, paths[0], -100, paths[1], exchange) == -1
        assert ctypes.get_errno() in (errno.EINVAL, errno.ENOENT)  # there is nothing to exchange with
    assert sorted(entry.name for entry in directory.iterdir()) == ["file"]


@BOTH
def test_files_can_be_mapped(mounts: Mounts, caches: bool) -> None:
    directory = mounts(caches)
    (directory / "file").write_bytes(b"x" * 5000)
    with (directory / "file").open("r+b") as file:
        private = mmap.mmap(file.fileno(), 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ)
        assert private[:] == b"x" * 5000
        private.close()
        if caches:
            with mmap.mmap(file.fileno(), 0) as shared:
                shared[1000:1003] = b"abc"
        else:
            assert outcome(lambda: mmap.mmap(file.fileno(), 0)) == "ENODEV"
    assert (directory / "file").read_bytes()[1000:1003] == (b"abc" if caches else b"xxx")


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


def run_python(program: str, *words: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen([sys.executable, "-c", program, *map(str, words)], stderr=subprocess.PIPE)


def locks(mounts: Mounts, kind: str) -> int:
    """`locked_ranges` or `waiting_locks` of all servers."""
    return sum(server[kind] for server in status(mounts.engine, mounts.volume))


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


def test_programs_on_two_mounts_wait_for_each_other(mounts: Mounts) -> None:
    first, second = mounts(), mounts()
    (first / "file").write_bytes(bytes(8))
    programs = [run_python(ADD, directory / "file") for directory in (first, second, first, second)]
    assert [program.wait() for program in programs] == [0, 0, 0, 0]
    assert int.from_bytes((second / "file").read_bytes(), "little") == 4 * 30


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


def test_flock_locks_hold_within_a_mount_only(mounts: Mounts) -> None:
    """Locks of other mounts are not seen: the manual says so."""
    first, second = mounts(), mounts()
    (first / "file").write_bytes(b"x")
    with (first / "file").open("r+b") as file, (second / "file").open("r+b") as other:
        fcntl.flock(file, fcntl.LOCK_EX)
        fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
        with (first / "file").open("r+b") as same:
            assert outcome(lambda: fcntl.flock(same, fcntl.LOCK_EX | fcntl.LOCK_NB)) == "EAGAIN"
