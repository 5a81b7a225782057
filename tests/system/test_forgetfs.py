"""The file system of the tests: kept data, discarded data, damage."""

import errno
import mmap
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import forgetfs
from forgetfs import ForgetFs
from harness import wait_for
from strider.engine import Engine

LENGTH = 65536
NEW, OLD = b"new " * (LENGTH // 4), b"old " * (LENGTH // 4)


@pytest.fixture
def place(forgetful: ForgetFs) -> Iterator[Path]:
    """A folder that is stable, on a file system without faults and with an empty log."""
    folder = forgetful.mount / "folder"
    folder.mkdir()
    forgetful.persist()
    forgetful.erase()
    yield folder
    forgetful.clear()
    subprocess.run(["rm", "-rf", folder], check=True)
    forgetful.persist()


def write(path: Path, data: bytes, flags: int = 0, then: Callable[[int], object] = lambda _: None) -> None:
    """Writes at the beginning of a file, and does something before it is closed."""
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR | flags, 0o644)
    memory = mmap.mmap(-1, len(data))  # aligned, for O_DIRECT
    memory.write(data)
    try:
        assert os.pwritev(descriptor, [memory], 0) == len(data)
        then(descriptor)
    finally:
        os.close(descriptor)


def make(forgetful: ForgetFs, path: Path) -> None:
    """A file whose first generation is stable."""
    write(path, OLD)
    write(path, NEW, os.O_DIRECT)
    forgetful.persist()


@pytest.mark.parametrize(
    ("flags", "then", "kept"),
    [
        (0, lambda _: None, False),
        (0, os.fsync, True),
        (0, os.fdatasync, True),
        (os.O_DSYNC, lambda _: None, True),
        (os.O_SYNC | os.O_DIRECT, lambda _: None, True),
        (os.O_DIRECT, lambda _: None, False),
    ],
    ids=["nothing", "fsync", "fdatasync", "O_DSYNC", "O_SYNC and O_DIRECT", "O_DIRECT"],
)
def test_a_power_cut_leaves_what_was_synced(
    forgetful: ForgetFs, place: Path, flags: int, then: Callable[[int], object], kept: bool
) -> None:
    write(place / "file", NEW, flags, then)

    forgetful.cut()

    assert (place / "file").exists() == kept
    assert not kept or (place / "file").read_bytes() == NEW


def test_the_log_reports_syncs_of_data_from_others_and_has_marks(forgetful: ForgetFs, place: Path) -> None:
    write(place / "file", NEW, then=os.fsync)
    forgetful.mark("between")
    write(place / "file", NEW, then=os.fdatasync)

    syncs = [event.op for event in forgetful.events("fsync", "fdatasync", "mark")]
    assert syncs == ["fsync", "mark", "fdatasync"]
    (opened,) = forgetful.events("open", name="/folder/file")
    assert opened.flags & os.O_RDWR


def test_a_new_name_is_stable_after_a_sync_of_its_folder(forgetful: ForgetFs, place: Path) -> None:
    write(place / "new", NEW, then=os.fsync)
    (place / "new").rename(place / "name")
    forgetful.cut()
    assert [path.name for path in place.iterdir()] == ["new"]

    (place / "new").rename(place / "name")
    folder = os.open(place, os.O_RDONLY)
    os.fsync(folder)
    os.close(folder)
    forgetful.cut()
    assert [path.name for path in place.iterdir()] == ["name"]


def test_names_are_stable_by_their_folder_alone_where_it_is_strict(engine: Engine) -> None:
    with forgetfs.mounted(engine, "default", "--strict") as strict:
        write(strict.mount / "file", NEW, then=os.fsync)
        strict.cut()
        assert not list(strict.mount.iterdir())


def contents_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize("cut", [False, True])
def test_what_is_done_to_a_frozen_folder_is_undone(forgetful: ForgetFs, place: Path, cut: bool) -> None:
    """With a power cut, data that was not synced before is lost too; other folders keep everything."""
    for name in ("one", "other"):
        (place / name).mkdir()
        make(forgetful, place / name / "stable")
    for name in ("one", "other"):
        write(place / name / "stable", OLD)
        write(place / name / "new", NEW)
    forgetful.freeze("/folder/one")
    write(place / "one/stable", b"later" * 9)
    write(place / "one/last", NEW, 0, os.fsync)
    (place / "one/new").rename(place / "one/renamed")
    write(place / "other/stable", OLD, 0, os.fsync)
    forgetful.thaw(cut=cut)
    assert contents_of(place / "one") == ({"stable": NEW} if cut else {"stable": OLD, "new": NEW})
    assert contents_of(place / "other") == {"stable": OLD, "new": NEW}
    with pytest.raises(AssertionError, match="no folder /none"):
        forgetful.freeze("/none")


def test_images_of_a_power_cut_of_one_folder(forgetful: ForgetFs, place: Path, tmp_path: Path) -> None:
    for name in ("one", "other"):
        (place / name).mkdir()
        make(forgetful, place / name / "file")
    lost = set()
    with forgetful.keeping_images(tmp_path, 2):
        for turn in range(40):
            write(place / "one/file", OLD if turn % 2 else NEW)
            write(place / "other/file", OLD if turn % 2 else NEW)
            write(place / f"synced-{turn}", NEW, 0, os.fsync)
    assert len(list(tmp_path.iterdir())) == 3 * 20, "of each second sync"
    for image in tmp_path.glob("*-part"):
        files = contents_of(image / "folder")
        lost.add((files["one/file"] == NEW, files["other/file"] == NEW))
    assert lost >= {(True, False), (False, True)}, lost


def test_a_torn_write_has_old_and_new_units(forgetful: ForgetFs, place: Path) -> None:
    def tear(seed: int) -> bytes:
        write(place / "file", OLD, then=os.fsync)
        write(place / "file", NEW, os.O_DIRECT)
        forgetful.tear(4096, seed)
        return (place / "file").read_bytes()

    torn = tear(7)
    units = {torn[at : at + 4096] for at in range(0, LENGTH, 4096)}
    assert units == {OLD[:4096], NEW[:4096]}
    assert tear(7) == torn
    assert tear(8) != torn


def expected(kind: str) -> bytes:
    """The file after a kind of fault has hit its bytes 8192 to 16384."""
    halves = NEW[8192:12288], NEW[12288:16384]
    middle = {
        "zero": bytes(8192),
        "flip": bytes([NEW[8192] ^ 1]) + NEW[8193:16384],
        "swap": halves[1] + halves[0],
        "stale": OLD[8192:16384],
        "swab": NEW[8192:16384][::-1],  # its words are alike
        "unfilled": bytes(8192),
    }[kind]
    return NEW[:8192] + middle + NEW[16384:]


@pytest.mark.parametrize("kind", ["zero", "flip", "stale", "swab", "unfilled"])
def test_reads_are_damaged_where_it_was_asked(
    forgetful: ForgetFs, place: Path, tmp_path: Path, kind: str
) -> None:
    make(forgetful, place / "file")
    forgetful.cut()  # the kernel has nothing in memory
    write(place / "file", OLD, os.O_DIRECT)
    write(place / "file", NEW, os.O_DIRECT)

    forgetful.fault("read", kind, span=(8192, 16384), name="file")

    assert (place / "file").read_bytes() == expected(kind)
    assert sum(forgetful.hits()) > 0
    assert (forgetful.dump(tmp_path / "image", "now") / "folder/file").read_bytes() == NEW


@pytest.mark.parametrize("kind", ["zero", "flip", "stale", "dropped", "swap"])
def test_writes_are_damaged_where_it_was_asked(forgetful: ForgetFs, place: Path, kind: str) -> None:
    write(place / "file", bytes(LENGTH) if kind == "zero" else OLD, os.O_DIRECT)
    if kind == "swap":  # halves that differ
        data = NEW[:8192] + b"1" * 4096 + b"2" * 4096 + NEW[16384:]
        right = NEW[:8192] + b"2" * 4096 + b"1" * 4096 + NEW[16384:]
    else:
        data, right = NEW, expected("stale" if kind == "dropped" else kind)
    forgetful.fault("write", kind, span=(8192, 16384))

    write(place / "file", data, then=os.fsync)

    forgetful.cut()
    assert (place / "file").read_bytes() == right


@pytest.mark.parametrize(("kind", "size"), [("lost-tail", LENGTH - 300), ("append", LENGTH + 300)])
def test_the_end_of_a_file_is_damaged_beside_a_call(
    forgetful: ForgetFs, place: Path, tmp_path: Path, kind: str, size: int
) -> None:
    write(place / "file", NEW, then=os.fsync)
    forgetful.fault("open", kind, call=1, amount=300)

    os.close(os.open(place / "file", os.O_RDONLY))

    assert (forgetful.dump(tmp_path / "image", "now") / "folder/file").stat().st_size == size


def test_a_gap_between_writes_is_damaged(forgetful: ForgetFs, place: Path) -> None:
    write(place / "file", NEW, then=os.fsync)
    forgetful.fault("open", "gap", call=1, span=(100, 110))

    found = (place / "file").read_bytes()

    assert found[:100] + NEW[100:110] + found[110:] == NEW
    assert found[100:110] != NEW[100:110]


@pytest.mark.parametrize("name", ["EIO", "ENOSPC", "EDQUOT", "ESTALE"])
def test_errors_reach_the_program_at_the_call_or_at_its_sync(
    forgetful: ForgetFs, place: Path, name: str
) -> None:
    forgetful.fault("write", name, call=1)

    with pytest.raises(OSError, match=os.strerror(getattr(errno, name))):
        write(place / "file", NEW, then=os.fsync)


def test_what_hangs_is_ended_by_a_signal_and_the_socket_answers_meanwhile(
    forgetful: ForgetFs, place: Path
) -> None:
    write(place / "file", NEW)
    forgetful.fault("open", "hang", name="file")
    with subprocess.Popen(["cat", place / "file"], stdout=subprocess.DEVNULL) as reader:
        wait_for(lambda: any(event.fault for event in forgetful.events("open")), "the call that hangs")
        reader.send_signal(signal.SIGTERM)
        assert reader.wait(timeout=30) == -signal.SIGTERM


def test_a_hanging_mount_is_gone_at_the_end(engine: Engine) -> None:
    with forgetfs.mounted(engine) as hanging:
        write(hanging.mount / "file", NEW)
        hanging.cut()
        write(hanging.mount / "file", NEW)
        hanging.fault("read", "hang")
        reader = subprocess.Popen(["cat", hanging.mount / "file"], stderr=subprocess.DEVNULL)
        wait_for(lambda: any(event.fault for event in hanging.events("read")), "the call that hangs")
    assert reader.wait(timeout=30) != 0
    assert hanging.process.poll() is not None
    assert not hanging.mount.exists()
