"""Links, attributes, directories, locks, and the rights of other users: a checklist."""

# ruff: noqa: PTH101, PTH116, PTH123, PTH208

from __future__ import annotations

import errno
import fcntl
import os
import pickle
import socket
from collections.abc import Callable
from functools import partial
from pathlib import Path

from mounting import outcome
from posix_checklist import Checklist, made, opened, opening

OTHERS = Checklist()


# Links, special files, attributes


@OTHERS.case("symbolic links")
def _(root: Path) -> object:
    found: list[object] = []
    for text in ("x", "/absolute/../path", "with space\nand line", "t" * 4000, "t" * 4095, "t" * 4096):
        (root / "link").unlink(missing_ok=True)
        found.append(outcome((root / "link").symlink_to, text))
        if (root / "link").is_symlink():
            found += [
                str((root / "link").readlink()),
                (root / "link").lstat().st_size,
                outcome((root / "link").stat),
            ]
    made(root / "file")
    return [*found, outcome((root / "file").readlink), outcome((root / "file").symlink_to, "x")]


@OTHERS.case("hard links", otherwise="EPERM")
def _(root: Path) -> object:
    return outcome(os.link, made(root / "file"), root / "other")


@OTHERS.case("special files", otherwise=["EPERM", "EPERM"])
def _(root: Path) -> object:
    with socket.socket(socket.AF_UNIX) as bound:
        folder = os.open(root, os.O_RDONLY)
        try:
            return [
                outcome(os.mkfifo, root / "fifo"),
                outcome(bound.bind, f"/proc/self/fd/{folder}/socket"),
            ]
        finally:
            os.close(folder)


@OTHERS.case("extended attributes", otherwise=["ENOTSUP"] * 4)
def _(root: Path) -> object:
    file = made(root / "file")
    return [
        outcome(os.setxattr, file, "user.a", b"b"),
        outcome(os.getxattr, file, "user.a"),
        outcome(os.listxattr, file),
        outcome(os.removexattr, file, "user.a"),
    ]


# Directories and the file system


@OTHERS.case("a directory read again after a change")
def _(root: Path) -> object:
    made(root / "a")
    (root / "b").mkdir()
    folder = os.open(root, os.O_RDONLY)
    try:
        first = sorted(os.listdir(folder))
        made(root / "c")
        (root / "a").unlink()
        return first, sorted(os.listdir(folder))
    finally:
        os.close(folder)


@OTHERS.case("kinds of entries")
def _(root: Path) -> object:
    made(root / "file")
    (root / "folder").mkdir()
    (root / "link").symlink_to("folder")
    with os.scandir(root) as entries:
        found = [
            (one.name, one.is_dir(follow_symlinks=False), one.is_file(), one.is_symlink()) for one in entries
        ]
    return sorted(found)


@OTHERS.case("numbers of files")
def _(root: Path) -> object:
    made(root / "a")
    made(root / "b")
    number = (root / "a").stat().st_ino
    with opened(root / "a", os.O_RDONLY) as file:
        same = os.fstat(file).st_ino == number
    (root / "a").rename(root / "c")
    return same, (root / "c").stat().st_ino == number, (root / "b").stat().st_ino == number


@OTHERS.case("statvfs")
def _(root: Path) -> object:
    found = os.statvfs(root)
    return (
        found.f_namemax,
        found.f_bsize > 0,
        0 < found.f_bavail <= found.f_bfree <= found.f_blocks,
        found.f_files > 0,
    )


@OTHERS.case("fsync")
def _(root: Path) -> object:
    with opened(root / "file", os.O_CREAT | os.O_WRONLY) as file, opened(root, os.O_RDONLY) as folder:
        os.write(file, b"x")
        return [outcome(sync, each) for sync in (os.fsync, os.fdatasync) for each in (file, folder)]


# Locks


def in_child(action: Callable[..., object], *arguments: object) -> object:
    """The outcome in another process: a number below 256, or an error number."""
    pid = os.fork()
    if pid == 0:
        result = outcome(action, *arguments)
        os._exit(getattr(errno, result) if isinstance(result, str) else 0)
    status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    return errno.errorcode[status] if status else 0


def lock_range(path: Path, kind: int, length: int = 0, begin: int = 0) -> None:
    """Asks for a lock of fcntl."""
    with path.open("r+b") as file:
        fcntl.lockf(file, kind | fcntl.LOCK_NB, length, begin)


def lock_file(path: Path, kind: int) -> None:
    """Asks for a lock of flock."""
    with path.open("rb") as file:
        fcntl.flock(file, kind | fcntl.LOCK_NB)


@OTHERS.case("fcntl locks between processes")
def _(root: Path) -> object:
    path = made(root / "file")
    found = []
    with path.open("r+b") as file:
        for kind, begin, length in ((fcntl.LOCK_EX, 0, 10), (fcntl.LOCK_SH, 0, 0), (fcntl.LOCK_UN, 3, 2)):
            fcntl.lockf(file, kind, length, begin)
            for asked, place in (
                (fcntl.LOCK_SH, 2),
                (fcntl.LOCK_EX, 2),
                (fcntl.LOCK_EX, 4),
                (fcntl.LOCK_EX, 100),
            ):
                found.append(in_child(lock_range, path, asked, 1, place))
    return [*found, in_child(lock_range, path, fcntl.LOCK_EX)]


@OTHERS.case("flock locks between processes")
def _(root: Path) -> object:
    path = made(root / "file")
    found = []
    with path.open("r+b") as file:
        for kind in (fcntl.LOCK_EX, fcntl.LOCK_SH, fcntl.LOCK_UN, fcntl.LOCK_EX):
            fcntl.flock(file, kind | fcntl.LOCK_NB)
            for asked in (fcntl.LOCK_SH, fcntl.LOCK_EX):
                found.append(in_child(lock_file, path, asked))
        found.append(in_child(lock_range, path, fcntl.LOCK_EX))
    return [*found, in_child(lock_file, path, fcntl.LOCK_EX)]


@OTHERS.case("locks in /proc/locks", otherwise=[False, False])
def _(root: Path) -> object:
    found = []
    for lock in (fcntl.flock, fcntl.lockf):
        with made(root / "file").open("r+b") as file:
            lock(file, fcntl.LOCK_EX)
            number = os.fstat(file.fileno()).st_ino
            locks = Path("/proc/locks").read_text(encoding="ascii")
            found.append(
                any(f" {os.getpid()} " in line and f":{number} " in line for line in locks.splitlines())
            )
    return found


# Another user works in a directory of the user of the mount.

OTHER_UID = 65534
"""User and group without rights of their own."""
USERS = Checklist()


def as_other_user(root: Path, calls: list[Callable[[], object]]) -> list[object]:
    """The outcomes of calls with relative paths, as a user without rights. Only root can do this."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.chdir(root)
        os.setgroups([])
        os.setgid(OTHER_UID)
        os.setuid(OTHER_UID)
        os.write(writing, pickle.dumps([outcome(call) for call in calls]))
        os._exit(0)
    os.close(writing)
    with open(reading, "rb") as answers:
        found: list[object] = pickle.loads(answers.read())
    os.waitpid(pid, 0)
    return found


def listing(name: str) -> list[str]:
    """Sorted names in a directory."""
    return sorted(os.listdir(name))


def make_own() -> None:
    """Makes a file and changes its mode."""
    os.close(os.open("own", os.O_CREAT | os.O_WRONLY, 0o600))
    os.chmod("own", 0o640)


@USERS.case("files of another user")
def _(root: Path) -> object:
    for mode in (0o600, 0o644, 0o666):
        made(root / f"{mode:o}").chmod(mode)
    calls: list[Callable[[], object]] = []
    for name in ("600", "644", "666"):
        calls += [
            partial(opening, name, os.O_RDONLY),
            partial(opening, name, os.O_WRONLY),
            partial(opening, name, os.O_RDONLY | os.O_TRUNC),
            partial(os.truncate, name, 3),
            partial(os.chmod, name, 0o777),
            partial(os.chown, name, OTHER_UID, OTHER_UID),
            partial(os.utime, name, ns=(0, 0)),
            partial(os.utime, name),
            partial(os.access, name, os.R_OK | os.W_OK),
        ]
    return as_other_user(root, calls)


@USERS.case("directories of another user")
def _(root: Path) -> object:
    calls: list[Callable[[], object]] = []
    for mode in (0o700, 0o711, 0o744, 0o755, 0o777, 0o1777):
        name = f"{mode:o}"
        (root / name).mkdir()
        for file in ("a", "b", "c"):
            made(root / name / file)
        (root / name).chmod(mode)
        calls += [
            partial(listing, name),
            partial(opening, f"{name}/a", os.O_RDONLY),
            partial(os.rename, f"{name}/a", f"{name}/d"),
            partial(os.unlink, f"{name}/b"),
            partial(os.mkdir, f"{name}/e"),
            partial(os.symlink, "x", f"{name}/f"),
            partial(opening, f"{name}/new", os.O_CREAT | os.O_WRONLY),
            partial(os.rename, f"{name}/new", f"{name}/c"),
        ]
    return as_other_user(root, calls)


@USERS.case("files that another user makes", otherwise=["EPERM", 0])
def _(root: Path) -> object:
    root.chmod(0o777)
    return as_other_user(root, [make_own, lambda: os.stat("own").st_uid])
