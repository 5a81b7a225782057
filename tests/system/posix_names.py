"""Opening, naming, renaming and removing of files: a checklist."""

# ruff: noqa: PTH123, PTH208

from __future__ import annotations

import errno
import fcntl
import os
from pathlib import Path

from mounting import outcome
from posix_checklist import Checklist, libc, made, opened, opening

NAMES = Checklist()


# Open flags


@NAMES.case("open with O_EXCL")
def _(root: Path) -> object:
    made(root / "file")
    (root / "link").symlink_to("none")
    (root / "folder").mkdir()
    flags = os.O_CREAT | os.O_EXCL | os.O_WRONLY
    return [opening(root / name, flags) for name in ("file", "link", "folder", "new")]


@NAMES.case("open of directories")
def _(root: Path) -> object:
    (root / "folder").mkdir()
    flags = (os.O_RDONLY, os.O_WRONLY, os.O_RDWR, os.O_RDONLY | os.O_CREAT, os.O_RDONLY | os.O_DIRECTORY)
    return [opening(root / "folder", each) for each in flags]


@NAMES.case("open with O_DIRECTORY and O_NOFOLLOW")
def _(root: Path) -> object:
    made(root / "file")
    (root / "link").symlink_to("file")
    return [
        opening(root / "file", os.O_DIRECTORY),
        opening(root / "link", os.O_NOFOLLOW),
        opening(root / "link", 0),
    ]


@NAMES.case("open of what is missing")
def _(root: Path) -> object:
    made(root / "file")
    paths = ("none", "none/file", "file/below", "file/", "new/", "")
    return [[opening(f"{root}/{path}" if path else "", flags) for path in paths] for flags in (0, os.O_CREAT)]


@NAMES.case("open with O_TRUNC")
def _(root: Path) -> object:
    made(root / "file", bytes(5000))
    with opened(root / "file", os.O_RDWR | os.O_TRUNC) as file:
        return os.fstat(file).st_size, os.read(file, 10)


@NAMES.case("create through a dangling link")
def _(root: Path) -> object:
    (root / "link").symlink_to("target")
    made(root / "link", b"through")
    return (root / "target").read_bytes(), (root / "link").is_symlink()


@NAMES.case("O_APPEND")
def _(root: Path) -> object:
    made(root / "file", b"0123456789")
    with opened(root / "file", os.O_RDWR | os.O_APPEND) as file, opened(root / "file", os.O_WRONLY) as other:
        os.lseek(file, 2, os.SEEK_SET)
        os.write(file, b"a")
        os.pwrite(other, b"b", 20)
        os.write(file, b"c")
        found = os.lseek(file, 0, os.SEEK_CUR)
        os.pwrite(file, b"d", 3)
        return found, os.pread(file, 100, 0), os.fstat(file).st_size


@NAMES.case("O_APPEND by fcntl")
def _(root: Path) -> object:
    made(root / "file", b"0123456789")
    with opened(root / "file", os.O_RDWR) as file:
        fcntl.fcntl(file, fcntl.F_SETFL, os.O_APPEND)
        os.write(file, b"a")
        fcntl.fcntl(file, fcntl.F_SETFL, 0)
        os.lseek(file, 0, os.SEEK_SET)
        os.write(file, b"b")
        return (root / "file").read_bytes()


@NAMES.case("access against the open mode")
def _(root: Path) -> object:
    made(root / "file")
    with opened(root / "file", os.O_RDONLY) as reading, opened(root / "file", os.O_WRONLY) as writing:
        return [
            outcome(os.write, reading, b"x"),
            outcome(os.read, writing, 1),
            outcome(os.ftruncate, reading, 0),
        ]


@NAMES.case("O_TMPFILE", otherwise="ENOTSUP")
def _(root: Path) -> object:
    return opening(root, os.O_TMPFILE | os.O_RDWR)


@NAMES.case("O_DIRECT without alignment", otherwise=3)
def _(root: Path) -> object:
    with opened(root / "file", os.O_CREAT | os.O_RDWR | os.O_DIRECT) as file:
        return outcome(os.pwrite, file, b"abc", 1)


# Names


@NAMES.case("names of 255 and 256 bytes")
def _(root: Path) -> object:
    made(root / "file")
    found: list[object] = []
    for length in (255, 256):
        long = root / ("n" * length)
        found += [
            opening(long, os.O_CREAT | os.O_RDWR),
            outcome(long.unlink),
            outcome(long.mkdir),
            outcome(long.rmdir),
        ]
        found += [
            outcome(long.symlink_to, "x"),
            outcome(long.readlink),
            outcome((root / "file").rename, long),
        ]
    return found


@NAMES.case("names of any bytes")
def _(root: Path) -> object:
    names = [
        b"\xff\xfe",
        b"new\nline",
        b"-rf",
        b"back\\slash",
        b"a b",
        b"*",
        b"...",
        "ä".encode(),
        b"\x01",
        b"%s",
    ]
    for name in names:
        with open(os.fsencode(root) + b"/" + name, "wb") as file:
            file.write(name)
    found = sorted(os.listdir(os.fsencode(root)))
    return found, [open(os.fsencode(root) + b"/" + name, "rb").read() for name in found]


@NAMES.case("paths of more than 4095 bytes", otherwise=16)
def _(root: Path) -> object:
    folder = os.open(root, os.O_RDONLY)
    for depth in range(20):
        try:
            os.mkdir("d" * 250, dir_fd=folder)
        except OSError as error:
            os.close(folder)
            return depth if error.errno == errno.ENAMETOOLONG else error
        below = os.open("d" * 250, os.O_RDONLY, dir_fd=folder)
        os.close(folder)
        folder = below
    os.close(folder)
    return 20


@NAMES.case("symbolic links in a circle")
def _(root: Path) -> object:
    (root / "a").symlink_to("b")
    (root / "b").symlink_to("a")
    return [
        opening(root / "a", os.O_RDONLY),
        opening(root / "a", os.O_CREAT | os.O_WRONLY),
        outcome((root / "a").stat),
        outcome((root / "a" / "x").mkdir),
        outcome((root / "a").rename, root / "c"),
    ]


@NAMES.case("a chain of 41 symbolic links")
def _(root: Path) -> object:
    made(root / "0")
    for number in range(41):
        (root / f"{number + 1}").symlink_to(f"{number}")
    return opening(root / "40", 0), opening(root / "41", 0)


# Rename


def renaming(source: Path, target: Path) -> object:
    """The outcome of a rename."""
    return outcome(source.rename, target)


@NAMES.case("rename over files")
def _(root: Path) -> object:
    made(root / "a", b"a")
    made(root / "b", b"bb")
    with opened(root / "b", os.O_RDONLY) as replaced:
        number = (root / "a").stat().st_ino
        done = renaming(root / "a", root / "b")
        same = (root / "b").stat().st_ino == number
        return done, (root / "b").read_bytes(), os.read(replaced, 10), same, sorted(os.listdir(root))


@NAMES.case("rename between files and directories")
def _(root: Path) -> object:
    made(root / "file")
    for name in ("empty", "full", "full/below", "other"):
        (root / name).mkdir()
    pairs = (
        "file:empty",
        "empty:file",
        "other:full",
        "empty:other",
        "none:x",
        "file:none/x",
        "file:file/x",
        "other:other",
    )
    return [renaming(*(root / name for name in pair.split(":"))) for pair in pairs], sorted(os.listdir(root))


@NAMES.case("rename into its own child")
def _(root: Path) -> object:
    (root / "a" / "b").mkdir(parents=True)
    return [
        renaming(root / "a", root / "a" / "x"),
        renaming(root / "a", root / "a" / "b" / "x"),
        renaming(root / "a" / "b", root / "a"),
    ]


@NAMES.case("rename of a directory with an open file")
def _(root: Path) -> object:
    (root / "a" / "b").mkdir(parents=True)
    made(root / "a" / "b" / "file", b"old")
    with opened(root / "a" / "b" / "file", os.O_RDWR) as file:
        (root / "a").rename(root / "c")
        os.pwrite(file, b"new", 0)
        return os.fstat(file).st_size, (root / "c" / "b" / "file").read_bytes(), (root / "a").exists()


@NAMES.case("rename of symbolic links")
def _(root: Path) -> object:
    made(root / "file")
    (root / "link").symlink_to("file")
    return (
        renaming(root / "link", root / "file"),
        (root / "file").is_symlink(),
        outcome((root / "file").read_bytes),
    )


@NAMES.case("renameat2", otherwise=["EEXIST", "EINVAL", "EINVAL", ["a", "b"]])
def _(root: Path) -> object:
    made(root / "a")
    made(root / "b")
    noreplace, exchange = 1, 2
    calls = [
        libc("renameat2", -100, str(root / "a"), -100, str(root / to), flag)
        for to, flag in (("b", noreplace), ("c", noreplace), ("b", exchange))
    ]
    return [*calls, sorted(os.listdir(root))]


# Removal


@NAMES.case("unlink")
def _(root: Path) -> object:
    (root / "folder").mkdir()
    made(root / "file")
    (root / "link").symlink_to("folder")
    return [
        outcome((root / name).unlink) for name in ("folder", "none", "file/below", "file", "link", "file")
    ]


@NAMES.case("unlink of an open file")
def _(root: Path) -> object:
    with opened(root / "file", os.O_CREAT | os.O_RDWR) as file:
        os.write(file, b"before")
        (root / "file").unlink()
        os.write(file, b" after")
        os.ftruncate(file, 8)
        found = os.fstat(file)
        made(root / "file", b"another")
        return (
            found.st_nlink,
            found.st_size,
            os.pread(file, 20, 0),
            os.listdir(root),
            (root / "file").read_bytes(),
        )


@NAMES.case("rmdir")
def _(root: Path) -> object:
    (root / "full" / "below").mkdir(parents=True)
    made(root / "file")
    with opened(root / "full" / "below" / "gone", os.O_CREAT | os.O_RDWR):
        (root / "full" / "below" / "gone").unlink()
        names = ("full", "file", "none", "full/below/.", "full/below", "full")
        return [outcome(os.rmdir, f"{root}/{name}") for name in names]


@NAMES.case("mkdir")
def _(root: Path) -> object:
    made(root / "file")
    (root / "link").symlink_to("none")
    names = ("file", "link", "none/x", "file/x", "new", "new", "new/../other", "slash/")
    return [outcome(os.mkdir, f"{root}/{name}") for name in names], sorted(os.listdir(root))


@NAMES.case("a removed directory that is open", otherwise=["ENOENT"] * 4)
def _(root: Path) -> object:
    (root / "folder").mkdir()
    folder = os.open(root / "folder", os.O_RDONLY)
    (root / "folder").rmdir()
    try:
        return [
            outcome(os.listdir, folder),
            outcome(lambda: os.fstat(folder).st_mode),
            outcome(os.open, "x", os.O_CREAT | os.O_WRONLY, dir_fd=folder),
            outcome(os.mkdir, "x", dir_fd=folder),
        ]
    finally:
        os.close(folder)


@NAMES.case("a replaced directory that is open", otherwise=["ENOENT"] * 2)
def _(root: Path) -> object:
    for name in ("folder", "other"):
        (root / name).mkdir()
    folder = os.open(root / "folder", os.O_RDONLY)
    (root / "other").rename(root / "folder")
    try:
        return [outcome(os.listdir, folder), outcome(lambda: os.fstat(folder).st_mode)]
    finally:
        os.close(folder)
