"""A run is resumed only if no other user can change the commands that it executes."""

import json
import os
import pwd
from datetime import UTC, datetime
from pathlib import Path

import pytest

from strider.engine import Description
from strider.errors import StriderError
from strider.launch.ownership import require_own
from strider.launch.rundir import RunDirectory, create, seal
from strider.own_files import is_private_group

FILES = ["", "run.json", "plan.json", "suite.toml"]
AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="machine: only root gives files to others")
OTHER_USER, OTHER_GROUP = 12345, 12345


@pytest.fixture
def made(tmp_path: Path, description: Description) -> RunDirectory:
    """A run made in a store of a group, where the umask leaves it all rights."""
    before = os.umask(0o002)
    try:
        made = create(tmp_path / "store", "r", "{}", "", description, {"options": {"launcher": "auto"}})
        seal(made, datetime.now(UTC), "complete", 0)
        return made
    finally:
        os.umask(before)


def test_a_run_of_this_user_is_its_own_whatever_the_umask(made: RunDirectory) -> None:
    assert json.loads(require_own(made))["options"] == {"launcher": "auto"}
    assert [(made.path / name).stat().st_mode & 0o022 for name in [*FILES, ".."]] == [0, 0, 0, 0, 0]


@pytest.mark.parametrize("name", FILES)
def test_what_all_can_write_is_named_with_the_remedy(made: RunDirectory, name: str) -> None:
    file = made.path / name
    file.chmod(file.stat().st_mode | 0o002)
    with pytest.raises(StriderError, match=f"^{file} can be written by other users .*: .*chmod go-w {file}$"):
        require_own(made)
    file.chmod(file.stat().st_mode & ~0o022)
    require_own(made)


@AS_ROOT
@pytest.mark.parametrize("name", FILES)
def test_what_belongs_to_another_user_or_group_is_named(made: RunDirectory, name: str) -> None:
    file = made.path / name
    os.chown(file, 0, OTHER_GROUP)
    file.chmod(file.stat().st_mode | 0o020)
    with pytest.raises(StriderError, match=f"^{file} can be written by other users"):
        require_own(made)
    file.chmod(file.stat().st_mode & ~0o020)
    os.chown(file, OTHER_USER, 0)
    with pytest.raises(StriderError, match=f"^{file} belongs to another user, .*: resume a run of your own"):
        require_own(made)


def test_a_run_in_whose_place_others_can_put_another_is_named(made: RunDirectory) -> None:
    """The store belongs to a group, which need not own a run to rename it."""
    store = made.path.parent
    store.chmod(0o777)
    with pytest.raises(StriderError, match=f"can replace {made.path}, .*: chmod \\+t {store}$"):
        require_own(made)
    store.chmod(0o1777)
    require_own(made)


@AS_ROOT
def test_a_run_in_a_store_of_another_user_is_named(made: RunDirectory) -> None:
    os.chown(made.path.parent, OTHER_USER, OTHER_GROUP)
    with pytest.raises(StriderError, match=f"can replace {made.path}, because .* belongs to"):
        require_own(made)


@pytest.mark.parametrize("name", FILES[1:])
def test_what_is_no_regular_file_is_named(made: RunDirectory, name: str) -> None:
    (made.path / name).unlink()
    os.mkfifo(made.path / name)
    with pytest.raises(StriderError, match=f"{name}: not a regular file"):
        require_own(made)


def test_only_the_group_of_the_users_name_is_private() -> None:
    user = pwd.getpwuid(os.geteuid())
    others = [group for group in os.getgroups() if group != user.pw_gid]
    assert not any(map(is_private_group, [*others, OTHER_GROUP, 1]))
