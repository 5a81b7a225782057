"""Removal of data sets: the files of the manifest, and nothing else."""

import subprocess
from pathlib import Path

import pytest

from datasets_builders import made
from strider.datasets import find, remove
from strider.datasets.folder import opened
from strider.datasets.marker import MARKER, Writer
from strider.errors import StriderError


def test_a_set_is_removed_with_its_folder(tmp_path: Path) -> None:
    made(tmp_path, "kept", [10, 10])
    removed = remove(tmp_path, "kept")
    assert (removed.files, removed.kept) == (2, [])
    assert list(tmp_path.iterdir()) == []


def test_a_removal_looks_at_what_is_there(tmp_path: Path) -> None:
    made(tmp_path, "kept", [10])
    with opened(tmp_path, "kept") as folder:
        folder.write(folder.read().with_(files=[(10_000_000, 10)]))
    assert remove(tmp_path, "kept").files == 1


def test_foreign_entries_stay_and_the_marker_says_that_the_removal_is_not_complete(tmp_path: Path) -> None:
    folder = made(tmp_path, "kept", [10, 10, 10])
    (folder / "data.1").unlink()
    (folder / "data.1").mkdir()
    (folder / "data.7").write_text("mine", encoding="utf-8")
    outside = tmp_path / "outside"
    outside.write_text("mine", encoding="utf-8")
    (folder / "data.2").unlink()
    (folder / "data.2").symlink_to(outside)
    removed = remove(tmp_path, "kept")
    assert removed.files == 1
    assert sorted(line.partition(":")[0] for line in removed.kept) == [
        str(folder / name) for name in ("data.1", "data.2", "data.7")
    ]
    marker = find(tmp_path, "kept")
    assert marker is not None
    assert (marker.state, marker.writer) == ("removing", None)
    assert outside.read_text(encoding="utf-8") == "mine"
    for name in ("data.2", "data.7"):
        (folder / name).unlink()
    (folder / "data.1").rmdir()
    assert remove(tmp_path, "kept").kept == []
    assert find(tmp_path, "kept") is None


def test_a_folder_without_marker_and_a_link_are_left_alone(tmp_path: Path) -> None:
    folder = made(tmp_path, "kept", [10])
    (tmp_path / "strider-data-link").symlink_to(folder)
    with pytest.raises(StriderError, match="cannot open"):
        remove(tmp_path, "link")
    (folder / MARKER).unlink()
    with pytest.raises(StriderError, match="no marker"):
        remove(tmp_path, "kept")
    assert (folder / "data.0").exists()


def test_a_renamed_folder_is_not_taken_for_another_set(tmp_path: Path) -> None:
    made(tmp_path, "kept", [10]).rename(tmp_path / "strider-data-other")
    with pytest.raises(StriderError, match="has the marker of data set kept"):
        remove(tmp_path, "other")


def test_a_set_in_use_stays_and_one_of_another_host_needs_force(tmp_path: Path) -> None:
    made(tmp_path, "kept", [10])
    with opened(tmp_path, "kept") as folder:
        folder.write(folder.read().with_(state="updating", writer=Writer.me("run")))
    with pytest.raises(StriderError, match="wait for its end"):
        remove(tmp_path, "kept", force=True)
    with opened(tmp_path, "kept") as folder:
        folder.write(folder.read().with_(writer=Writer(run="run", host="elsewhere", pid=1)))
    with pytest.raises(StriderError, match="--force"):
        remove(tmp_path, "kept")
    assert remove(tmp_path, "kept", force=True).files == 1


def test_a_mount_in_place_of_a_set_is_refused(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    source = made(tmp_path / "elsewhere", "kept", [10])
    place = tmp_path / source.name
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "--bind", str(source), str(place)], capture_output=True, text=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip(f"machine: no bind mounts ({mounted.stderr.strip()})")
    try:
        with pytest.raises(StriderError, match=f"{place} is a mount point"):
            remove(tmp_path, "kept")
        assert (source / "data.0").exists()
    finally:
        subprocess.run(["umount", str(place)], check=True)
