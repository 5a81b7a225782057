"""Facts about this machine."""

import os
from pathlib import Path

import pytest

from strider.launch import machine

MOUNTS = """\
21 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw,errors=remount-ro
40 21 0:30 / /mnt/with\\040space rw,nosuid - nfs4 server:/export rw,vers=4.2
41 21 0:31 / /mnt rw - tmpfs tmpfs rw
42 21 0:32 / /mnt rw,noatime - lustre mgs@tcp:/fs rw,flock
"""


@pytest.fixture
def mounts(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine with the mounts above."""
    monkeypatch.setattr(machine, "text_of", lambda path: MOUNTS if path == "/proc/self/mountinfo" else "")


@pytest.mark.parametrize(
    ("path", "point", "kind"),
    [
        ("/home/me", "/", "ext4"),
        ("/mnt/with space/x", "/mnt/with space", "nfs4"),
        ("/mnt/x", "/mnt", "lustre"),
        ("/mntx", "/", "ext4"),
    ],
)
def test_a_path_is_on_the_innermost_mount_and_the_latest_of_several(
    mounts: None, path: str, point: str, kind: str
) -> None:
    found = machine.mount_of(Path(path))
    assert found is not None
    assert (found.point, found.kind) == (point, kind)


def test_options_of_mount_and_file_system_are_reported_once(mounts: None) -> None:
    found = machine.mount_of(Path("/"))
    assert found is not None
    assert found.options == "rw,relatime,errors=remount-ro"


def test_a_system_that_reports_nothing_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "text_of", lambda path: "")
    assert machine.mount_of(Path("/")) is None
    assert machine.cpu_model()


def test_the_environment_names_the_target(tmp_path: Path) -> None:
    found = machine.environment(tmp_path)
    assert found["target"]["path"] == str(tmp_path)
    assert 0 < found["target"]["free_bytes"] <= found["target"]["total_bytes"]
    assert found["cores"] <= len(os.sched_getaffinity(0))


@pytest.mark.parametrize(("files", "available", "free_files"), [(1000, 7, 7), (0, 0, None), (5, -1, None)])
def test_a_file_system_may_have_no_limit_of_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, files: int, available: int, free_files: int | None
) -> None:
    """The last is CephFS, which counts its files, and says -1 of how many more there may be."""
    found = list(os.statvfs(tmp_path))
    found[5:8] = files, available, available
    monkeypatch.setattr(os, "statvfs", lambda _: os.statvfs_result(found))
    assert machine.space_of(tmp_path).free_files == free_files
