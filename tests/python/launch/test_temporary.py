"""Temporary folders: removed at the end, or by the next run if their process was killed."""

import json
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from strider.errors import StriderError
from strider.launch import folder
from strider.launch.folder import MARKER
from strider.launch.temporary import remove_abandoned, temporary_folder


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The directory for temporary files."""
    path = tmp_path / "tmp"
    path.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(path))
    return path


KILLED = """\
import os, signal, sys, tempfile
from strider.launch.temporary import temporary_folder
tempfile.tempdir = sys.argv[1]
with temporary_folder() as made:
    (made / "tmp").mkdir()
    (made / "tmp" / "link").symlink_to(sys.argv[2])
    os.kill(os.getpid(), signal.SIGKILL)
"""


def killed(here: Path, linked: Path) -> Path:
    """Returns the folder of a process that was killed, with a link in it."""
    subprocess.run([sys.executable, "-c", KILLED, str(here), str(linked)], check=False)
    (left,) = here.iterdir()
    return left


def test_a_folder_is_private_and_removed_with_its_contents(here: Path) -> None:
    with temporary_folder() as made:
        assert made.parent == here
        assert made.stat().st_mode & 0o777 == 0o700
        (made / "a" / "b").mkdir(parents=True)
    assert list(here.iterdir()) == []


def test_the_folder_of_a_killed_process_is_removed_and_no_link_followed(here: Path, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").touch()
    assert (killed(here, precious) / "tmp" / "link").is_symlink()
    remove_abandoned()
    assert list(here.iterdir()) == []
    assert (precious / "file").exists()


def test_folders_of_running_processes_and_of_other_hosts_stay(here: Path, tmp_path: Path) -> None:
    left = killed(here, tmp_path)
    marker = json.loads((left / MARKER).read_text())
    with temporary_folder() as mine:
        for change in ({"host": f"not-{socket.gethostname()}"}, {"pid": os.getpid(), "start": 0}):
            (left / MARKER).write_text(json.dumps(marker | change), encoding="utf-8")
            remove_abandoned()
            assert left.is_dir()
            assert mine.is_dir()


def test_folders_of_other_users_stay(here: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    left = killed(here, tmp_path)
    monkeypatch.setattr(os, "geteuid", lambda: left.stat().st_uid + 1)
    remove_abandoned()
    assert left.is_dir()


def test_other_names_and_links_stay(here: Path, tmp_path: Path) -> None:
    """Among them the folder of a killed run in this directory: strider clean removes that."""
    left = killed(here, tmp_path)
    elsewhere = tmp_path / left.name
    left.rename(elsewhere)
    left.symlink_to(elsewhere)
    own = folder.create(here, "2026-11-01-101112-run-abcd")
    marker = json.loads((own.path / MARKER).read_text())
    dead = json.loads((elsewhere / MARKER).read_text()) | {"run": marker["run"]}
    (own.path / MARKER).write_text(json.dumps(dead), encoding="utf-8")
    (here / "strider-temporary-unmarked").mkdir()
    before = sorted(here.iterdir())
    remove_abandoned()
    assert sorted(here.iterdir()) == before
    assert (elsewhere / MARKER).exists()


def test_a_directory_that_cannot_be_written_is_an_error_with_a_remedy(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(here / "missing"))
    remove_abandoned()
    with pytest.raises(StriderError, match=r"cannot create .*missing.*: No such file .*: .* set TMPDIR"):
        temporary_folder().__enter__()
