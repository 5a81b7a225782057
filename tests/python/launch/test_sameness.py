"""A run is resumed only where it was started: same machine, target and engine."""

from pathlib import Path
from typing import Any

import pytest

from strider.launch.sameness import build_of, differences, facts

GIB = 1 << 30
THEN: dict[str, Any] = {
    "host": "n1",
    "cores": 8,
    "memory_bytes": 64 * GIB,
    "target": {"path": "/scratch", "file_system": "ext4", "file_system_id": "1f"},
    "versions": {"engine": "1.0", "engine_build": "aa", "mpi": "MPICH 4"},
}


def changed(outer: str, value: object, inner: str = "") -> dict[str, Any]:
    return {**THEN, outer: {**THEN[outer], inner: value} if inner else value}


@pytest.mark.parametrize(
    ("now", "line"),
    [
        (changed("host", "n2"), "host: n1 then, n2 now"),
        (changed("cores", 4), "cores: 8 then, 4 now"),
        (changed("memory_bytes", 32 * GIB), "memory: 64 GiB then, 32 GiB now"),
        (changed("target", "/other", "path"), "target: /scratch then, /other now"),
        (changed("target", "xfs", "file_system"), "file system: ext4 then, xfs now"),
        (changed("target", "2e", "file_system_id"), "file system id: 1f then, 2e now"),
        (changed("versions", "1.1", "engine"), "engine: 1.0 then, 1.1 now"),
        (changed("versions", "bb", "engine_build"), "build of the engine: aa then, bb now"),
        (changed("versions", "Open MPI", "mpi"), "MPI library: MPICH 4 then, Open MPI now"),
    ],
)
def test_each_difference_is_named_with_both_values(now: dict[str, Any], line: str) -> None:
    assert differences(THEN, now) == [line]


def test_what_changes_from_day_to_day_is_no_difference() -> None:
    now = {**THEN, "memory_available_bytes": 1, "kernel": "newer", "memory_bytes": 64 * GIB - 1000}
    assert differences(THEN, now) == []


def test_unknown_is_different_from_known() -> None:
    then = {**THEN, "target": {"path": "/scratch", "file_system": "ext4"}}
    assert differences(then, THEN) == ["file system id: unknown then, 1f now"]


def test_a_place_is_like_itself_and_a_build_unlike_another(tmp_path: Path) -> None:
    program, other = tmp_path / "engine", tmp_path / "other"
    program.write_bytes(b"one")
    other.write_bytes(b"two")
    versions = {"engine": "1", "mpi": "m"}
    here = facts(tmp_path, program, versions)
    assert differences(here, facts(tmp_path, program, versions)) == []
    (line,) = differences(here, facts(tmp_path, other, versions))
    assert line == f"build of the engine: {build_of(program)} then, {build_of(other)} now"
    (tmp_path / "target").mkdir()
    assert len(differences(here, facts(tmp_path / "target", program, versions))) == 1
