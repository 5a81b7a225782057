"""Trees are removed as a whole, whatever their shape, and nothing outside of them."""

import os
import resource
import stat
import threading
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from strider.launch import removal
from strider.launch.removal import MOST_DEEP, Removal, remove_contents


@contextmanager
def opened(path: Path) -> Iterator[int]:
    descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def remove(path: Path, threads: int = 4) -> Removal:
    with opened(path) as descriptor:
        return remove_contents(descriptor, str(path), "keep", threads=threads)


def make_balanced(top: Path, depth: int, fanout: int, files: int) -> int:
    """Makes a tree below a directory; the number of entries."""
    for number in range(files):
        (top / f"f{number}").touch()
    if depth == 0:
        return files
    children = [top / f"d{number}" for number in range(fanout)]
    for child in children:
        child.mkdir()
    return files + fanout + sum(make_balanced(child, depth - 1, fanout, files) for child in children)


@pytest.fixture
def top(tmp_path: Path) -> Path:
    path = tmp_path / "top"
    path.mkdir()
    (path / "keep").touch()
    return path


@pytest.mark.parametrize("threads", [1, 8])
@pytest.mark.parametrize(
    ("depth", "fanout", "files"), [(0, 1, 0), (0, 1, 100), (3, 4, 2), (5, 2, 1), (1, 50, 0)]
)
def test_everything_goes_but_what_is_to_stay(
    top: Path, depth: int, fanout: int, files: int, threads: int
) -> None:
    entries = make_balanced(top, depth, fanout, files)
    done = remove(top, threads)
    assert (done.removed, done.problems) == (entries, [])
    assert [path.name for path in top.iterdir()] == ["keep"]


def test_a_directory_may_hold_more_directories_than_may_wait(
    top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(removal, "MOST_WAITING", 4)
    wide = top / "wide"
    wide.mkdir()
    entries = 1 + make_balanced(wide, 1, 11, 1)
    assert remove(top).removed == entries


def test_a_chain_of_directories_may_be_deeper_than_files_may_be_open(top: Path) -> None:
    levels = 12 * MOST_DEEP
    descriptor = os.open(top, os.O_RDONLY)
    for _ in range(levels):
        os.mkdir("d", dir_fd=descriptor)
        os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=descriptor))
        below = os.open("d", os.O_RDONLY, dir_fd=descriptor)
        os.close(descriptor)
        descriptor = below
    os.close(descriptor)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, 10 * MOST_DEEP), hard))
    try:
        done = remove(top)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert (done.removed, done.problems) == (2 * levels, [])


def test_links_are_removed_and_not_followed(top: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").touch()
    (top / "deep").mkdir()
    (top / "deep" / "directory").symlink_to(outside)
    (top / "file").symlink_to(outside / "precious")
    (top / "nowhere").symlink_to("nothing")
    os.mkfifo(top / "pipe")
    assert remove(top).removed == 5
    assert [path.name for path in outside.iterdir()] == ["precious"]


@pytest.mark.parametrize("name", ["keep", "f"])
def test_only_the_top_keeps_what_is_to_stay(top: Path, name: str) -> None:
    (top / "below").mkdir()
    (top / "below" / name).touch()
    assert remove(top).removed == 2


def refuse(monkeypatch: pytest.MonkeyPatch, call: str, name: str, number: int) -> None:
    """Lets a system call fail for a name."""
    original: Callable[..., None] = getattr(os, call)

    def refusing(path: str, *, dir_fd: int) -> None:
        if path == name:
            raise OSError(number, os.strerror(number))
        original(path, dir_fd=dir_fd)

    monkeypatch.setattr(os, call, refusing)


def test_what_is_mounted_is_left_and_named(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (top / "a" / "mounted").mkdir(parents=True)
    (top / "a" / "mounted" / "precious").touch()
    (top / "a" / "file").touch()
    (top / "b").mkdir()
    # The system answers so for every mount point, before it looks whether it is empty.
    refuse(monkeypatch, "rmdir", "mounted", 16)
    done = remove(top)
    assert done.problems == [f"cannot remove {top}/a/mounted: Device or resource busy"]
    assert sorted(str(path.relative_to(top)) for path in top.rglob("*")) == [
        "a", "a/mounted", "a/mounted/precious", "keep"
    ]  # fmt: skip


def test_the_first_problems_are_reported_and_all_others_go(
    top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(20):
        (top / f"d{number}").mkdir()
        (top / f"d{number}" / "stuck").touch()
        (top / f"d{number}" / "free").touch()
    refuse(monkeypatch, "unlink", "stuck", 1)
    done = remove(top)
    assert len(done.problems) == removal.MOST_PROBLEMS
    assert all("stuck: Operation not permitted" in problem for problem in done.problems)
    assert done.removed == 20


def test_an_entry_that_somebody_else_removes_is_no_problem(
    top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (top / "gone").touch()
    refuse(monkeypatch, "unlink", "gone", 2)
    assert remove(top).problems == []


def test_a_mistake_of_ours_ends_it_and_hangs_nothing(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (top / "file").touch()
    monkeypatch.setattr(threading, "excepthook", lambda _: None)

    def broken(path: str, *, dir_fd: int) -> None:
        raise RuntimeError("a mistake")

    monkeypatch.setattr(os, "unlink", broken)
    assert remove(top).removed == 0


def test_progress_is_reported_and_interruption_ends_all_threads(
    top: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_balanced(top, 2, 6, 5)
    monkeypatch.setattr(removal, "POLL_S", 0.001)
    before = set(threading.enumerate())
    interrupted = threading.Event()
    unlink = os.unlink

    def unlink_later(name: str, dir_fd: int) -> None:
        """Otherwise all files may be gone before the test looks."""
        interrupted.wait(60)
        unlink(name, dir_fd=dir_fd)

    monkeypatch.setattr(os, "unlink", unlink_later)

    def interrupt(removed: int) -> None:
        interrupted.set()
        raise KeyboardInterrupt

    with opened(top) as descriptor, pytest.raises(KeyboardInterrupt):
        remove_contents(descriptor, str(top), "keep", interrupt)
    assert set(threading.enumerate()) <= before  # some of other tests may end meanwhile
    assert stat.S_ISREG((top / "keep").stat().st_mode)
    assert remove(top).problems == []


def test_memory_does_not_grow_with_the_number_of_files(tmp_path: Path) -> None:
    def peak_bytes(files: int) -> int:
        top = tmp_path / f"{files}"
        top.mkdir()
        for number in range(files):
            (top / f"{number:0200}").touch()
        tracemalloc.start()
        remove(top)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return peak

    small = peak_bytes(100)
    assert peak_bytes(2000) < 2 * small + 50_000
