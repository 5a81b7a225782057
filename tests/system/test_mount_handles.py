"""Calls on an open file or directory of a mount are for that one, wherever another mount has moved it."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from mounting import Mounts, outcome

BOTH = pytest.mark.parametrize("caches", [False, True], ids=["direct", "cache"])


def change(file: int) -> None:
    """All that changes a file by its descriptor."""
    os.ftruncate(file, 2)
    os.fchmod(file, 0o600)
    os.utime(file, ns=(3_000_000_000, 7_000_000_000))


def looks(found: os.stat_result) -> tuple[int, int, int]:
    return found.st_size, found.st_mode & 0o777, found.st_mtime_ns


CHANGED = (2, 0o600, 7_000_000_000)


@BOTH
@pytest.mark.parametrize("moved", ["file", "directory"])
# proves listio: mount-moved-elsewhere, mount-inode
def test_an_open_file_stays_the_same_when_another_one_gets_its_path(
    mounts: Mounts, caches: bool, moved: str
) -> None:
    here, there = mounts(caches), mounts(caches)
    (here / "d").mkdir()
    (here / "d/f").write_bytes(b"old content")
    file = os.open(here / "d/f", os.O_RDWR)
    try:
        if moved == "file":
            (there / "d/f").rename(there / "g")
            now = there / "g"
        else:
            (there / "d").rename(there / "e")
            (there / "d").mkdir()
            now = there / "e/f"
        (there / "d/f").write_bytes(b"new content")
        (there / "d/f").chmod(0o640)
        before = looks((there / "d/f").stat())
        change(file)
        assert looks(os.fstat(file)) == looks(now.stat()) == CHANGED
        assert os.fstat(file).st_ino == now.stat().st_ino != (there / "d/f").stat().st_ino
        assert os.pread(file, 100, 0) == now.read_bytes() == b"ol"
        assert looks((there / "d/f").stat()) == looks((here / "d/f").stat()) == before
        assert (here / "d/f").read_bytes() == b"new content"
    finally:
        os.close(file)


@BOTH
# proves listio: mount-removed-elsewhere
def test_a_removed_file_does_not_become_the_one_that_gets_its_path(mounts: Mounts, caches: bool) -> None:
    here, there = mounts(caches), mounts(caches)
    (here / "f").write_bytes(b"old content")
    file = os.open(here / "f", os.O_RDWR)
    try:
        (there / "f").unlink()
        (there / "f").write_bytes(b"new content")
        before = looks((there / "f").stat())
        assert os.fstat(file).st_nlink == 0
        assert outcome(os.fchmod, file, 0o600) == outcome(os.utime, file, ns=(1, 2)) == "ESTALE"
        assert looks((there / "f").stat()) == looks((here / "f").stat()) == before
    finally:
        os.close(file)


def in_directory(folder: int) -> dict[str, Callable[[], object]]:
    """Calls on names in an open directory."""

    def read() -> bytes:
        file = os.open("x", os.O_RDONLY, dir_fd=folder)
        try:
            return os.read(file, 100)
        finally:
            os.close(file)

    return {
        "read": read,
        "list": lambda: sorted(os.listdir(folder)),
        "stat": lambda: os.stat("x", dir_fd=folder).st_size,
        "create": lambda: os.close(os.open("made", os.O_CREAT | os.O_EXCL | os.O_WRONLY, dir_fd=folder)),
        "mkdir": lambda: os.mkdir("below", dir_fd=folder),
        "rename": lambda: os.rename("x", "y", src_dir_fd=folder, dst_dir_fd=folder),
        "symlink": lambda: os.symlink("y", "link", dir_fd=folder),
        "unlink": lambda: os.unlink("y", dir_fd=folder),
        "chmod": lambda: os.fchmod(folder, 0o700),
    }


# proves listio: mount-moved-elsewhere
def test_an_open_directory_stays_the_same_when_another_one_gets_its_path(
    mounts: Mounts, tmp_path: Path
) -> None:
    here, there = mounts(), mounts()
    (tmp_path / "local").mkdir()
    found = []
    for root, other in ((here, there), (tmp_path / "local", tmp_path / "local")):
        (root / "d").mkdir(0o755)
        (root / "d/x").write_bytes(b"old")
        folder = os.open(root / "d", os.O_RDONLY | os.O_DIRECTORY)
        try:
            assert os.fstat(folder).st_ino == (other / "d").stat().st_ino
            (other / "d").rename(other / "e")
            (other / "d").mkdir(0o755)
            (other / "d/x").write_bytes(b"new file")
            results = [(name, outcome(call)) for name, call in in_directory(folder).items()]
            assert os.fstat(folder).st_ino == (other / "e").stat().st_ino != (other / "d").stat().st_ino
        finally:
            os.close(folder)
        modes = [(other / name).stat().st_mode & 0o777 for name in "de"]
        names = sorted(str(path.relative_to(other)) for path in other.rglob("*"))
        found.append((results, modes, names, (other / "d/x").read_bytes()))
    assert found[0] == found[1]


class Entry(ctypes.Structure):
    """`struct dirent` of 64-bit Linux."""

    _fields_ = [
        ("number", ctypes.c_uint64),
        ("offset", ctypes.c_int64),
        ("length", ctypes.c_uint16),
        ("type", ctypes.c_uint8),
        ("name", ctypes.c_char * 256),
    ]


LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.opendir.restype = ctypes.c_void_p
LIBC.readdir.restype = ctypes.POINTER(Entry)
for call in (LIBC.readdir, LIBC.rewinddir, LIBC.closedir):
    call.argtypes = [ctypes.c_void_p]


def entries(stream: int) -> dict[str, int]:
    """The rest of an open directory, with the number of each name."""
    found = {}
    while entry := LIBC.readdir(stream):
        found[entry.contents.name.decode()] = entry.contents.number
    return found


# proves listio: mount-inode
def test_a_listing_has_the_numbers_that_stat_has(mounts: Mounts) -> None:
    here, there = mounts(), mounts()
    (here / "d/e").mkdir(parents=True)
    (here / "d/f").write_bytes(b"")
    (here / "d/link").symlink_to("f")
    for root in (here, there):
        stream = LIBC.opendir(os.fsencode(root / "d"))
        found = entries(stream)
        LIBC.closedir(stream)
        assert found == {name: (root / "d" / name).lstat().st_ino for name in (".", "..", "e", "f", "link")}
    assert (here / "d/f").stat().st_ino == (there / "d/f").stat().st_ino


@pytest.mark.parametrize("reads", [False, True], ids=["unread", "read"])
def test_rewinddir_shows_the_names_of_now(mounts: Mounts, reads: bool) -> None:
    root = mounts()
    (root / "before").touch()
    stream = LIBC.opendir(os.fsencode(root))
    if reads:
        entries(stream)
    (root / "after").touch()
    LIBC.rewinddir(stream)
    assert {"before", "after"} <= entries(stream).keys()
    LIBC.closedir(stream)


class FileHandle(ctypes.Structure):
    """A `struct file_handle` of the kernel."""

    _fields_ = (
        ("bytes", ctypes.c_uint),
        ("type", ctypes.c_int),
        ("content", ctypes.c_ubyte * 128),
    )


def handle_of(path: Path) -> FileHandle:
    """What name_to_handle_at returns."""
    handle = FileHandle(bytes=128)
    if (
        LIBC.name_to_handle_at(-100, os.fsencode(path), ctypes.byref(handle), ctypes.byref(ctypes.c_int()), 0)
        != 0
    ):
        raise OSError(ctypes.get_errno(), "name_to_handle_at")
    return handle


def content_of(handle: FileHandle, mount: Path) -> bytes:
    """The content of a file that is opened by its handle."""
    folder = os.open(mount, os.O_RDONLY)
    try:
        file = LIBC.open_by_handle_at(folder, ctypes.byref(handle), os.O_RDONLY)
        if file < 0:
            raise OSError(ctypes.get_errno(), "open_by_handle_at")
        with os.fdopen(file, "rb") as opened:
            return opened.read()
    finally:
        os.close(folder)


@pytest.mark.skipif(os.geteuid() != 0, reason="machine: only root can open files by handle")
# proves listio: file-handles
def test_a_handle_of_an_earlier_mount_is_stale(mounts: Mounts) -> None:
    earlier = mounts()
    for name in ("a", "b"):
        (earlier / name).write_text(name)
    handle = handle_of(earlier / "a")
    with (earlier / "a").open():  # the kernel keeps it
        assert content_of(handle, earlier) == b"a"
    later = mounts()
    assert (later / "b").read_text() == "b", "this mount's first file, as a was that of the earlier one"
    assert outcome(content_of, handle, later) == "ESTALE"
