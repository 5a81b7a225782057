"""Modes, times, sizes, contents and mappings of files: a checklist."""

# ruff: noqa: PTH208

from __future__ import annotations

import ctypes
import mmap
import os
import stat
import time
from collections.abc import Callable
from pathlib import Path

from mounting import outcome
from posix_checklist import SECOND_NS, Checklist, libc, made, mode_of, opened

CONTENTS = Checklist()


# Modes, owners, times


@CONTENTS.case("modes of new files and directories")
def _(root: Path) -> object:
    found = []
    for mask in (0, 0o022, 0o077):
        before = os.umask(mask)
        try:
            with opened(root / f"file {mask}", os.O_CREAT | os.O_WRONLY, 0o777):
                (root / f"folder {mask}").mkdir(0o777)
        finally:
            os.umask(before)
        found += [mode_of(root / f"file {mask}"), mode_of(root / f"folder {mask}")]
    return found


@CONTENTS.case("chmod")
def _(root: Path) -> object:
    made(root / "file")
    (root / "folder").mkdir()
    (root / "link").symlink_to("file")
    found = []
    for mode in (0o600, 0o755, 0o777, 0o640, 0o1644):
        for name in ("link", "folder"):
            (root / name).chmod(mode | 0o700 if name == "folder" else mode)
            found.append(mode_of(root / ("file" if name == "link" else name)))
    with opened(root / "file", os.O_RDONLY) as file:
        os.fchmod(file, 0o604)
        found.append(stat.S_IMODE(os.fstat(file).st_mode))
    return found, outcome((root / "none").chmod, 0o600)


@CONTENTS.case("modes without rights of the owner", otherwise=[0o600, 0o644, 0o700])
def _(root: Path) -> object:
    made(root / "file")
    (root / "folder").mkdir()
    found = []
    for mode in (0, 0o044):
        (root / "file").chmod(mode)
        found.append(mode_of(root / "file"))
    (root / "folder").chmod(0)
    return [*found, mode_of(root / "folder")]


@CONTENTS.case("set-user-ID and set-group-ID", otherwise=[0o755, 0o755])
def _(root: Path) -> object:
    made(root / "file")
    found = []
    for mode in (0o4755, 0o2755):
        (root / "file").chmod(mode)
        found.append(mode_of(root / "file"))
    return found


@CONTENTS.case("chown to the owner")
def _(root: Path) -> object:
    made(root / "file")
    (root / "link").symlink_to("file")
    own = (os.geteuid(), os.getegid())
    calls = [own, (-1, -1), (own[0], -1), (-1, own[1])]
    return [outcome(os.chown, root / "file", *call) for call in calls] + [
        outcome(os.chown, root / "link", *own, follow_symlinks=False),
        outcome(os.chown, root / "none", *own),
    ]


@CONTENTS.case("times of the last change")
def _(root: Path) -> object:
    made(root / "file")
    (root / "folder").mkdir()
    (root / "link").symlink_to("file")
    found: list[object] = []
    for name in ("file", "folder", "link"):
        for time_ns in (0, 1, 1_500_000_000_123_456_789, -SECOND_NS // 2, 4_102_444_800 * SECOND_NS):
            os.utime(root / name, ns=(0, time_ns), follow_symlinks=False)
            found.append((root / name).lstat().st_mtime_ns)
    return found


class Timespec(ctypes.Structure):
    """A time in seconds and nanoseconds."""

    _fields_ = (("seconds", ctypes.c_long), ("nanoseconds", ctypes.c_long))


def utimens(path: Path, accessed: tuple[int, int], modified: tuple[int, int]) -> object:
    """The outcome of utimensat."""
    return libc("utimensat", -100, str(path), (Timespec * 2)(Timespec(*accessed), Timespec(*modified)), 0)


@CONTENTS.case("UTIME_OMIT and UTIME_NOW")
def _(root: Path) -> object:
    now, omit = (0, (1 << 30) - 1), (0, (1 << 30) - 2)
    file = made(root / "file")
    found: list[object] = []
    for accessed, modified in (
        ((7, 5), (9, 11)),
        ((1, 2), omit),
        (omit, omit),
        (omit, (3, 4)),
        ((1, SECOND_NS), (1, 1)),
    ):
        found += [utimens(file, accessed, modified), file.stat().st_mtime_ns]
    before = time.time_ns() - SECOND_NS
    found += [utimens(file, omit, now), before < file.stat().st_mtime_ns < time.time_ns() + SECOND_NS]
    return found


@CONTENTS.case("times of the last access", otherwise=5 * SECOND_NS)
def _(root: Path) -> object:
    os.utime(made(root / "file"), ns=(3 * SECOND_NS, 5 * SECOND_NS))
    return (root / "file").stat().st_atime_ns


@CONTENTS.case("times of the last change of status", otherwise=5 * SECOND_NS)
def _(root: Path) -> object:
    os.utime(made(root / "file"), ns=(3 * SECOND_NS, 5 * SECOND_NS))
    (root / "file").chmod(0o600)
    return (root / "file").stat().st_ctime_ns // SECOND_NS * SECOND_NS


@CONTENTS.case("links of directories", otherwise=1)
def _(root: Path) -> object:
    (root / "below").mkdir()
    return root.stat().st_nlink


@CONTENTS.case("what changes the time of a file or directory")
def _(root: Path) -> object:
    file = made(root / "file", bytes(3000))
    (root / "folder").mkdir()
    actions: list[Callable[[], object]] = [
        lambda: file.read_bytes(),
        lambda: file.chmod(0o640),
        lambda: os.truncate(file, 100),
        lambda: file.write_bytes(b"x" * 5000),
        lambda: file.rename(root / "folder" / "file"),
        lambda: (root / "folder" / "file").rename(file),
        lambda: (root / "folder" / "link").symlink_to("x"),
        lambda: (root / "folder" / "link").unlink(),
        lambda: (root / "folder" / "below").mkdir(),
        lambda: (root / "folder" / "below").rmdir(),
        lambda: (root / "folder").chmod(0o700),
    ]
    found = []
    for action in actions:
        for path in (file, root / "folder"):
            os.utime(path, ns=(0, 0)) if path.exists() else None
        action()
        found.append([path.exists() and path.stat().st_mtime_ns != 0 for path in (file, root / "folder")])
    return found


# Sizes and holes


@CONTENTS.case("truncate")
def _(root: Path) -> object:
    file = made(root / "file", b"x" * 10_000)
    (root / "folder").mkdir()
    (root / "link").symlink_to("file")
    found: list[object] = []
    for size in (2500, 12_000, 0, 1, 100_000):
        os.truncate(root / "link", size)
        found += [file.stat().st_size, file.read_bytes()]
    found += [outcome(os.truncate, file, size) for size in (-1, 1 << 62)]
    found += [outcome(os.truncate, root / name, 0) for name in ("folder", "none", "file/x")]
    return found, file.stat().st_size


@CONTENTS.case("holes")
def _(root: Path) -> object:
    with opened(root / "file", os.O_CREAT | os.O_RDWR) as file:
        os.pwrite(file, b"end", 1_000_000)
        os.pwrite(file, b"middle", 5500)
        found = [os.pread(file, 20, offset) for offset in (0, 5490, 999_990, 1_000_001, 1_000_003, 2_000_000)]
        os.ftruncate(file, 5503)
        os.ftruncate(file, 5510)
        return found, os.pread(file, 100, 5495), os.fstat(file).st_size


@CONTENTS.case("SEEK_DATA and SEEK_HOLE of a file without holes")
def _(root: Path) -> object:
    made(root / "file", bytes(5000))
    with opened(root / "file", os.O_RDONLY) as file:
        places = (
            (0, os.SEEK_DATA),
            (0, os.SEEK_HOLE),
            (4999, os.SEEK_DATA),
            (5000, os.SEEK_DATA),
            (5001, os.SEEK_HOLE),
        )
        return [outcome(os.lseek, file, *place) for place in places]


@CONTENTS.case("SEEK_DATA in a hole", otherwise=0)
def _(root: Path) -> object:
    with opened(root / "file", os.O_CREAT | os.O_RDWR) as file:
        os.pwrite(file, b"end", 1_048_576)
        return os.lseek(file, 0, os.SEEK_DATA)


@CONTENTS.case("blocks of a hole", otherwise=2048)
def _(root: Path) -> object:
    os.truncate(made(root / "file", b""), 1_048_576)
    return (root / "file").stat().st_blocks


@CONTENTS.case("lseek")
def _(root: Path) -> object:
    made(root / "file", bytes(5000))
    with opened(root / "file", os.O_RDWR) as file:
        places = ((-1, os.SEEK_SET), (10, os.SEEK_END), (-5, os.SEEK_CUR), (-6000, os.SEEK_END), (1, 99))
        found = [outcome(os.lseek, file, *place) for place in places]
        os.pwrite(file, b"x", 9999)
        return [*found, os.lseek(file, 0, os.SEEK_END)]


@CONTENTS.case("vectors")
def _(root: Path) -> object:
    with opened(root / "file", os.O_CREAT | os.O_RDWR) as file:
        written = os.pwritev(file, [b"a" * 999, b"", b"b" * 1002], 500)
        pieces = [bytearray(700), bytearray(1), bytearray(5000)]
        read = os.preadv(file, pieces, 400)
        return written, read, pieces, os.pwrite(file, b"", 9000), os.fstat(file).st_size


@CONTENTS.case("posix_fallocate")
def _(root: Path) -> object:
    file = made(root / "file", b"abc")
    with opened(file, os.O_RDWR) as descriptor:
        os.posix_fallocate(descriptor, 0, 3001)
        return os.fstat(descriptor).st_size, file.read_bytes()


@CONTENTS.case("fallocate", otherwise=["ENOTSUP"] * 3)
def _(root: Path) -> object:
    with opened(made(root / "file", bytes(10_000)), os.O_RDWR) as file:
        keep_size, punch_hole = 1, 2
        calls = ((0, 0, 20_000), (keep_size, 0, 30_000), (keep_size | punch_hole, 4096, 4096))
        words = [
            (ctypes.c_int(mode), ctypes.c_long(offset), ctypes.c_long(length))
            for mode, offset, length in calls
        ]
        return [libc("fallocate", file, *each) for each in words]


@CONTENTS.case("copies by the kernel")
def _(root: Path) -> object:
    content = bytes(range(256)) * 40
    with (
        opened(made(root / "a", content), os.O_RDONLY) as source,
        opened(root / "b", os.O_CREAT | os.O_RDWR) as target,
    ):
        copied = os.copy_file_range(source, target, 5000, 10, 20)
        sent = os.sendfile(target, source, 5000, 3000)
        return copied, sent, (root / "b").read_bytes()


# Memory mapping


@CONTENTS.case("private mappings")
def _(root: Path) -> object:
    with (
        opened(made(root / "file", b"x" * 5000), os.O_RDWR) as file,
        mmap.mmap(file, 0, mmap.MAP_PRIVATE) as memory,
    ):
        memory[0:3] = b"abc"
        return memory[:5], memory[4999:], (root / "file").read_bytes()


@CONTENTS.case("shared mappings", otherwise="ENODEV", cached=None)
def _(root: Path) -> object:
    with opened(made(root / "file", b"x" * 9000), os.O_RDWR) as file:
        memory = mmap.mmap(file, 0)
        memory[0:3] = b"abc"
        memory[8998:] = b"yz"
        memory.flush()
        found = (root / "file").read_bytes()
        os.pwrite(file, b"pwrite", 4000)
        seen = memory[4000:4006]
        memory.close()
        return found, seen


@CONTENTS.case("shared mappings of a file to append to", otherwise="ENODEV")
def _(root: Path) -> object:
    made(root / "file")
    with opened(root / "file", os.O_RDWR | os.O_APPEND) as file:
        return outcome(mmap.mmap, file, 0)


@CONTENTS.case("a mapped file that is removed")
def _(root: Path) -> object:
    with opened(made(root / "file", b"x" * 5000), os.O_RDONLY) as file:
        memory = mmap.mmap(file, 0, mmap.MAP_PRIVATE)
    (root / "file").unlink()
    found = memory[:]
    memory.close()
    return found, os.listdir(root)
