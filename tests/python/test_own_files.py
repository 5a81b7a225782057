"""Strider obeys a file only if no other user can have written it or put it in its place."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import pytest

from strider.errors import StriderError
from strider.lab import Record
from strider.lab import read as read_lab
from strider.listio import hosts, servers
from strider.own_files import MOST_BYTES, new_file, own_folder, read_own, require_own_folder
from strider.text_file import open_unfollowed

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="machine: only root gives files to others")
OTHER = 12345


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "own"
    made.mkdir(0o700)
    (made / "state.json").write_text("{}")
    return made


def test_an_own_file_is_read_and_a_missing_one_is_none(folder: Path) -> None:
    assert read_own(folder / "state.json") == b"{}"
    assert read_own(folder / "other.json") is None
    assert read_own(folder / "missing" / "state.json") is None


def test_a_link_to_an_own_folder_is_followed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "short").symlink_to(folder)
    assert read_own(tmp_path / "short" / "state.json") == b"{}"


def _link(file: Path) -> None:
    (file.parent / "elsewhere").write_text("{}")
    file.symlink_to("elsewhere")


def _endless(file: Path) -> None:
    with file.open("wb") as opened:
        opened.truncate(MOST_BYTES + 1)


def _writable(file: Path) -> None:
    file.touch()
    file.chmod(0o666)


HOSTILE: dict[str, tuple[Callable[[Path], object], str]] = {
    "link": (_link, "a symbolic link is not followed"),
    "FIFO": (os.mkfifo, "not a regular file"),
    "folder": (Path.mkdir, "Is a directory"),
    "large": (_endless, "larger than 1048576 bytes"),
    "writable": (_writable, r"can be written by other users \(mode 0666\)"),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_what_is_no_own_file_is_named_with_the_reason(folder: Path, kind: str) -> None:
    make, reason = HOSTILE[kind]
    file = folder / "state.json"
    file.unlink()
    make(file)
    with pytest.raises(StriderError, match=f"{file}.*{reason}"):
        read_own(file)


@AS_ROOT
@pytest.mark.parametrize("owned", ["state.json", "."])
def test_files_and_folders_of_other_users_are_refused(folder: Path, owned: str) -> None:
    os.chown(folder / owned, OTHER, OTHER)
    with pytest.raises(StriderError, match=f"{folder}.* belongs to another user, user id {OTHER}"):
        read_own(folder / "state.json")


def test_a_folder_that_all_can_write_is_refused_even_with_the_sticky_bit(folder: Path) -> None:
    folder.chmod(0o1777)
    with pytest.raises(StriderError, match=f"{folder} can be written by other users"):
        read_own(folder / "state.json")


def test_a_folder_that_others_can_exchange_is_refused(folder: Path, tmp_path: Path) -> None:
    require_own_folder(folder)
    require_own_folder(folder / "new")
    tmp_path.chmod(0o777)
    for place in (folder, folder / "new", tmp_path / "missing" / "new"):
        with pytest.raises(StriderError, match=f"replace {place}, because they can write to {tmp_path}"):
            require_own_folder(place)
    tmp_path.chmod(0o1777)
    require_own_folder(folder)


@AS_ROOT
def test_a_folder_in_a_folder_of_another_user_is_refused(folder: Path, tmp_path: Path) -> None:
    os.chown(tmp_path, OTHER, OTHER)
    with pytest.raises(StriderError, match=f"can replace {folder}"):
        require_own_folder(folder)


def test_a_new_file_is_never_written_through_a_link(folder: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim"
    victim.write_text("precious")
    (folder / "server.log").symlink_to(victim)
    with own_folder(folder) as opened:
        with new_file(opened, "server.log") as log:
            log.write(b"new")
        (folder / "mount.log").symlink_to(victim)
        with pytest.raises(OSError, match="symbolic links"):
            open_unfollowed(Path("mount.log"), "ab", opened)
    assert victim.read_text() == "precious"
    assert (folder / "server.log").read_text() == "new"


@pytest.mark.parametrize("mode", ["wb", "ab", "ab+"])
def test_nothing_but_a_regular_file_is_opened_for_writing(
    tmp_path: Path, mode: Literal["wb", "ab", "ab+"]
) -> None:
    """A FIFO would hand written data to the process at its other end."""
    os.mkfifo(tmp_path / "fifo")
    other_end = os.open(tmp_path / "fifo", os.O_RDONLY | os.O_NONBLOCK)
    try:
        with pytest.raises(OSError, match="not a regular file"):
            open_unfollowed(tmp_path / "fifo", mode)
    finally:
        os.close(other_end)


def test_a_log_is_continued_at_its_end(folder: Path) -> None:
    with own_folder(folder) as opened:
        for text in (b"one", b"two"):
            with open_unfollowed(Path("log"), "ab", opened) as log:
                assert log.tell() in (0, 3)
                log.write(text)
    assert (folder / "log").read_text() == "onetwo"


def test_records_of_strider_are_its_own_whatever_umask_and_group(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of a user of a project whose files belong to its group."""
    monkeypatch.setattr("strider.own_files.is_private_group", lambda _: False)
    tmp_path.chmod(0o700)
    before = os.umask(0o002)
    try:
        servers._record(tmp_path, {}, 1, "files")
        hosts._write(hosts.HostRecord(program="/p", hosts=["n1"]), tmp_path)
        record = Record(system="fake", mark="m", boot="b")
        record.create(tmp_path)
        record.write(tmp_path)
    finally:
        os.umask(before)
    assert len(servers._process_record(tmp_path).processes) == 1
    assert hosts.read_hosts(tmp_path)
    assert read_lab(tmp_path) == record
