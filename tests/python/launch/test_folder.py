"""Strider's own folder: made for one run, removed, and nothing else ever touched."""

import errno
import json
import os
import shutil
import stat
from dataclasses import replace
from pathlib import Path

import pytest

from strider.errors import StriderError
from strider.launch import folder
from strider.launch.folder import MARKER


def test_it_is_for_the_user_alone_and_says_whose_it_is(tmp_path: Path) -> None:
    own = folder.create(tmp_path, "r1")
    assert own.path == tmp_path / "strider-r1"
    assert stat.S_IMODE(own.path.stat().st_mode) == 0o700
    marker = json.loads((own.path / MARKER).read_text(encoding="utf-8"))
    assert (marker["run"], marker["pid"]) == ("r1", os.getpid())


def test_it_is_removed_with_everything_in_it(tmp_path: Path) -> None:
    own = folder.create(tmp_path, "r1")
    (own.path / "deep" / "deeper").mkdir(parents=True)
    (own.path / "deep" / "file").write_bytes(b"x")
    assert folder.remove(own) is None
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_that_name_is_not_taken_over(tmp_path: Path) -> None:
    foreign = tmp_path / "strider-r1"
    foreign.mkdir()
    (foreign / "precious").touch()
    with pytest.raises(StriderError, match="File exists"):
        folder.create(tmp_path, "r1")
    assert (foreign / "precious").exists()


def test_links_are_removed_and_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").touch()
    own = folder.create(tmp_path, "r1")
    (own.path / "link").symlink_to(outside)
    assert folder.remove(own) is None
    assert (outside / "precious").exists()


def test_another_folder_in_its_place_is_left_alone(tmp_path: Path) -> None:
    own = folder.create(tmp_path, "r1")
    own.path.rename(tmp_path / "moved")
    own.path.mkdir()
    (own.path / "precious").touch()
    assert "is not the folder of this run" in str(folder.remove(own))
    assert (own.path / "precious").exists()


def test_a_link_in_its_place_is_left_alone(tmp_path: Path) -> None:
    own = folder.create(tmp_path, "r1")
    moved = own.path.rename(tmp_path / "moved")
    own.path.symlink_to(moved)
    assert "is not the folder" in str(folder.remove(own))
    assert (moved / MARKER).exists()


@pytest.mark.parametrize("text", [None, "{}", "no json", "[]", '{"run": "r2"}'])
def test_a_folder_without_our_marker_is_left_alone(tmp_path: Path, text: str | None) -> None:
    own = folder.create(tmp_path, "r1")
    (own.path / MARKER).unlink()
    if text is not None:
        (own.path / MARKER).write_text(text, encoding="utf-8")
    assert "its marker .strider is missing" in str(folder.remove(own))
    assert own.path.exists()


def test_a_folder_whose_marker_differs_in_the_run_alone_is_left_alone(tmp_path: Path) -> None:
    """The last look before files are removed: the same folder, and a good marker of another run."""
    own = folder.create(tmp_path, "r1")
    marker = json.loads((own.path / MARKER).read_text(encoding="utf-8"))
    (own.path / MARKER).write_text(json.dumps(marker | {"run": "r2"}), encoding="utf-8")
    (own.path / "precious").touch()
    assert "its marker .strider is missing" in str(folder.remove(own))
    assert (own.path / "precious").exists()
    (own.path / MARKER).write_text(json.dumps(marker), encoding="utf-8")
    assert folder.remove(own) is None, "nothing else kept it from being removed"


def test_a_folder_that_is_gone_is_no_problem(tmp_path: Path) -> None:
    own = folder.create(tmp_path, "r1")
    assert folder.remove(own) is None
    assert folder.remove(own) is None


def test_after_a_remount_the_marker_alone_decides(tmp_path: Path) -> None:
    """Numbers of devices and files may be others then; a target that is not mounted hides the remains."""
    own = replace(folder.create(tmp_path, "r1"), inode=None)
    own.path.rename(tmp_path / "mounted elsewhere")
    assert "mount it and run strider clean" in str(folder.remove(own))
    shutil.copytree(tmp_path / "mounted elsewhere", own.path)
    assert folder.remove(own) is None
    assert not own.path.exists()


def test_the_marker_stays_as_long_as_anything_else_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = folder.create(tmp_path, "r1")
    (own.path / "deep").mkdir()

    rmdir = os.rmdir

    def busy(path: str, *, dir_fd: int) -> None:
        if path == "deep":
            raise OSError(16, "Device or resource busy")
        rmdir(path, dir_fd=dir_fd)

    monkeypatch.setattr(os, "rmdir", busy)
    assert folder.remove(own) == f"cannot remove {own.path}/deep: Device or resource busy"
    assert (own.path / MARKER).exists()


def test_nothing_stays_where_the_marker_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, run: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(folder, "_mark", full)
    with pytest.raises(StriderError, match="No space left on device"):
        folder.create(tmp_path, "r1")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("number", "says"), [(errno.EIO, "Input/output error"), (errno.EACCES, "Permission denied")]
)
def test_a_marker_that_cannot_be_read_is_not_called_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, says: str
) -> None:
    own = folder.create(tmp_path, "r1")
    opened = os.open

    def broken(path: str | Path, flags: int, *, dir_fd: int | None = None) -> int:
        if path == MARKER:
            raise OSError(number, os.strerror(number))
        return opened(path, flags, dir_fd=dir_fd)

    monkeypatch.setattr(os, "open", broken)
    problem = str(folder.remove(own))
    assert problem == f"{own.path} not removed: cannot read its marker {MARKER}: {says}"
    assert own.path.exists()


def test_a_marker_whose_contents_cannot_be_read_is_not_called_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = folder.create(tmp_path, "r1")

    def broken(_: object) -> str:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    monkeypatch.setattr(folder, "json_of", broken)
    assert "cannot read its marker .strider: Input/output error" in str(folder.remove(own))
    assert own.path.exists()
