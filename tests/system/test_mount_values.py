"""Calls on a mount with numbers around every power of two: results as on tmpfs, and no memory follows them.

`STRIDER_VALUE_REQUESTS=N` makes N calls.
"""

from __future__ import annotations

import ctypes
import errno
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

import pytest

from mounting import Mounts, mounts_on, outcome, volume_in
from strider.engine import Engine
from strider.listio.servers import processes_of

REQUESTS = int(os.environ.get("STRIDER_VALUE_REQUESTS", "6000"))
MOST_KIB = 64 << 10
"""By which the memory of a process may grow."""
BUFFER_BYTES = 1 << 16
SOURCE = bytes(Random(3).randbytes(100_000))
"""Contents of a file that is only read."""
NAMES = frozenset(f"name {number}" for number in range(300))
LIBC = ctypes.CDLL(None, use_errno=True)
GETDENTS64 = 217
FIRST_DATA, FIRST_HOLE = 3, 4
"""Of lseek."""
FREE, SOURCE_FILE = 2, 3
"""Places in `Files.files`."""


@pytest.fixture
def memory() -> Iterator[Path]:
    """A folder of tmpfs, whose files may be as large as any."""
    with tempfile.TemporaryDirectory(dir="/dev/shm") as folder:
        yield Path(folder)


@pytest.fixture
def mount(engine: Engine, memory: Path, tmp_path: Path) -> Iterator[Mounts]:
    with volume_in(engine, memory / "volume") as volume, mounts_on(engine, volume, tmp_path) as mounts:
        yield mounts


class Files:
    """The same files on a file system, and a directory of names.

    `a` and `b` are changed by comparable calls, `free` by others, `source` and `kept` by none.
    """

    def __init__(self, folder: Path) -> None:
        (folder / "source").write_bytes(SOURCE)
        (folder / "kept").write_bytes(SOURCE)
        (folder / "names").mkdir()
        for name in NAMES:
            (folder / "names" / name).touch()
        flags = os.O_RDWR | os.O_CREAT
        self.files = [os.open(folder / name, flags) for name in ("a", "b", "free", "source")]
        self.names = os.open(folder / "names", os.O_RDONLY | os.O_DIRECTORY)
        self.folder = folder

    def close(self) -> None:
        for file in (*self.files, self.names):
            os.close(file)


def any_number(random: Random) -> int:
    """One around a power of two, of 64 bits with a sign."""
    number = (1 << random.randrange(64)) + random.randrange(-1, 2)
    return number - (1 << 64) if number >> 63 else number


def any_offset(random: Random) -> int:
    number = any_number(random)
    return ~number if random.random() < 0.02 else number


def any_length(random: Random) -> int:
    return min(abs(any_number(random)) >> random.randrange(48), BUFFER_BYTES)


def called(name: str, *arguments: object) -> int:
    """The value that a function of the C library returned, which takes any number."""
    result = int(LIBC[name](*arguments))
    if result < 0:
        found = ctypes.get_errno()
        raise OSError(found, os.strerror(found))
    return result


def long(number: int) -> ctypes.c_int64:
    return ctypes.c_int64(number)


def entries(directory: int, offset: int) -> set[str]:
    """Names that a directory has from an offset on."""
    os.lseek(directory, offset, os.SEEK_SET)
    buffer = ctypes.create_string_buffer(4096)
    length = called("syscall", long(GETDENTS64), directory, buffer, long(len(buffer)))
    names, at = set(), 0
    while at < length:
        record = int.from_bytes(buffer.raw[at + 16 : at + 18], "little")
        names.add(buffer.raw[at + 19 : at + record].partition(b"\0")[0].decode())
        at += record
    return names - {".", ".."}


def copied(files: Files, at: int, to: int, length: int) -> int:
    """How many bytes of the source were copied; below 0 if others arrived."""
    begin, end = long(at), long(to)
    ends = (files.files[SOURCE_FILE], ctypes.byref(begin), files.files[FREE], ctypes.byref(end))
    count = called("copy_file_range", *ends, ctypes.c_size_t(length & ((1 << 64) - 1)), 0)
    return count if os.pread(files.files[FREE], count, to) == SOURCE[at : at + count] else -count


Call = Callable[[Files], object]


def any_call(random: Random) -> tuple[str, Call, bool]:
    """A call, its name, and whether tmpfs returns the expected value."""
    file, offset, number = random.randrange(2), any_offset(random), any_number(random)
    length, byte = any_length(random), random.randrange(256)
    match random.randrange(10):
        case 0 | 1 | 2:
            data = bytes([byte]) * length
            return "pwrite", lambda on: os.pwrite(on.files[file], data, offset), True
        case 3 | 4:
            return "pread", lambda on: os.pread(on.files[file], length, offset), True
        case 5:
            size = offset if random.random() < 0.5 else length
            return "ftruncate", lambda on: os.ftruncate(on.files[file], size), True
        case 6:
            return "lseek", lambda on: os.lseek(on.files[file], offset, byte % 3), True
        case 7:
            mode = random.choice([0, 1, 3, 8, 16, 32])  # all of them but the kinds of later kernels
            arguments = (mode, long(offset), long(number))
            # tmpfs would reserve memory.
            return "fallocate", lambda on: called("fallocate", on.files[FREE], *arguments), False
        case 8:
            # How much is copied at a time is left to the file system.
            at, whole = min(abs(number), len(SOURCE) - 1), random.random() < 0.2
            most = number if whole else length
            return "copy_file_range", lambda on: copied(on, at, offset, most), False
        case _:
            kind = random.choice([FIRST_DATA, FIRST_HOLE, None])
            if kind is None:
                return "readdir", lambda on: entries(on.names, offset), False
            return "lseek", lambda on: os.lseek(on.files[FREE], offset, kind), False


POSSIBLE = {
    errno.errorcode[number]
    for number in (
        errno.EINVAL,
        errno.EFBIG,
        errno.ENXIO,
        errno.EOPNOTSUPP,
        errno.EOVERFLOW,
        errno.ENOENT,
        errno.ENODEV,
        errno.EFAULT,
    )
}


def is_possible(name: str, found: object) -> bool:
    """Whether a file system may return that from a call that each answers in its own way."""
    if isinstance(found, str):
        return found in POSSIBLE
    if name == "readdir":
        return isinstance(found, set) and found <= NAMES
    return isinstance(found, int) and found >= 0


def memory_kib(process: int) -> int:
    for line in Path(f"/proc/{process}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise AssertionError(f"process {process} has ended")


@pytest.mark.parametrize("caches", [False, True])
def test_no_number_in_a_call_ends_a_mount_or_takes_its_memory(
    mount: Mounts, memory: Path, caches: bool
) -> None:
    folder, scratch = mount(caches), memory / "reference"
    scratch.mkdir()
    random = Random(38)
    volume, reference = Files(folder), Files(scratch)
    watched = [mount.pids[folder], *(one.pid for one in processes_of(mount.volume))]
    before = {process: memory_kib(process) for process in watched}
    most = Counter(before)
    differences: list[str] = []
    try:
        for number in range(REQUESTS):
            name, call, is_comparable = any_call(random)
            found = outcome(call, volume)
            if is_comparable:
                expected = outcome(call, reference)
                if found != expected:
                    differences.append(f"{number} {name}: {found!r:.80}, on tmpfs {expected!r:.80}")
            elif not is_possible(name, found):
                differences.append(f"{number} {name}: {found!r:.80}")
            if number % 1000 == 0:
                most |= Counter({process: memory_kib(process) for process in watched})
        assert (folder / "kept").read_bytes() == SOURCE
        assert (folder / "source").read_bytes() == SOURCE
    finally:
        volume.close()
        reference.close()
    grown = [most[process] - before[process] for process in watched]
    print(f"{REQUESTS} calls; KiB more of the mount and of each server: {grown}")
    assert not differences, "\n".join(differences[:20]) + f"\n{len(differences)} of {REQUESTS}"
    assert max(grown) <= MOST_KIB, grown
