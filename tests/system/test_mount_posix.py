"""Programs see on a mount of a list-I/O volume the same as in a local directory, or as the manual states."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from mounting import Mounts, outcome, volume_in
from posix_checklist import Case
from posix_contents import CONTENTS
from posix_names import NAMES
from posix_others import OTHERS, USERS
from strider.engine import Engine
from strider.listio import check, unmount


@pytest.fixture(scope="module")
def volume(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A volume for all cases, which is whole and has no leftover data after them."""
    with volume_in(engine, tmp_path_factory.mktemp("posix") / "volume") as directory:
        yield directory
        found = check(engine, directory)
        assert (found["files"], found["problems"], found["orphans"]) == (0, [], [])


@pytest.fixture(scope="module", params=[False, True], ids=["direct", "cache"])
def mounted(
    request: pytest.FixtureRequest, engine: Engine, volume: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Path]:
    """A mount for all cases."""
    mounts = Mounts(engine, volume, tmp_path_factory.mktemp("mounts"))
    directory = mounts(caches=request.param, allows_others=os.geteuid() == 0)
    try:
        yield directory
    finally:
        unmount(directory)


def compare(case: Case, mounted: Path, reference: Path, cache: bool) -> None:
    """Runs a case on both; the outcomes are equal, or as the case says."""
    found: list[object] = []
    for root in (reference / "case", mounted / "case"):
        root.mkdir()
        try:
            found.append(outcome(lambda root=root: case.call(root)))
        finally:
            shutil.rmtree(root)
    expected, answered = found
    otherwise = case.otherwise_cached if cache else case.otherwise
    if otherwise is None:
        assert answered == expected
    else:
        assert answered == otherwise
        assert answered != expected, "the manual need not state it any more"


@pytest.mark.parametrize("case", [*NAMES, *CONTENTS, *OTHERS], ids=lambda case: case.name)
# proves listio: mount-mode, mount-rename, mount-listing, no-link, no-special-files, no-xattr
# proves listio: no-renameat2-flags, removed-directory, no-tmpfile, chmod, stat-times, no-seek-holes, o-direct
# proves listio: proc-locks, shared-mapping, long-paths
def test_programs_see_what_a_local_directory_shows(
    case: Case, mounted: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    compare(case, mounted, tmp_path, "cache" in request.node.callspec.id)


@pytest.mark.skipif(os.geteuid() != 0, reason="machine: only root can become another user")
@pytest.mark.parametrize("case", USERS, ids=lambda case: case.name)
# proves listio: mount-mode, chown
def test_other_users_have_the_rights_that_the_modes_give(case: Case, mounted: Path, tmp_path: Path) -> None:
    compare(case, mounted, tmp_path, cache=False)
