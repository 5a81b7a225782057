"""The file of `--per-rank` before and after a run."""

from pathlib import Path

import pytest

from strider.errors import StriderError
from strider.launch.rank_rows import rank_rows, recorded_phases


def test_no_file_is_wanted_by_default(tmp_path: Path) -> None:
    with rank_rows(None, tmp_path):
        assert not [*tmp_path.iterdir()]


def test_a_run_without_phases_leaves_no_file(tmp_path: Path) -> None:
    file = tmp_path / "rows.nc"
    with rank_rows(file):
        assert file.read_bytes() == b""
        file.write_bytes(b"CDF\x02\0\0\0\0further")
    assert not file.exists()


def test_a_file_with_phases_stays(tmp_path: Path) -> None:
    file = tmp_path / "rows.nc"
    with rank_rows(file):
        file.write_bytes(b"CDF\x02\0\0\1\2further")
    assert recorded_phases(file) == 258


def test_a_resumed_run_keeps_its_file_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "rows.nc"
    file.write_bytes(b"CDF\x02\0\0\0\0")
    with rank_rows(file, is_new=False):
        pass
    assert file.exists()


def test_a_file_on_a_file_system_that_is_remounted_is_refused(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    with (
        pytest.raises(StriderError, match="which --remount-command unmounts"),
        rank_rows(tmp_path / "rows.nc", target, ["remount"]),
    ):
        pass
    assert not (tmp_path / "rows.nc").exists()


def test_a_link_into_the_target_is_refused(tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    (tmp_path / "elsewhere").symlink_to(target)
    with (
        pytest.raises(StriderError, match="is in the target"),
        rank_rows(tmp_path / "elsewhere" / "rows.nc", target),
    ):
        pass
    assert not [*target.iterdir()]
