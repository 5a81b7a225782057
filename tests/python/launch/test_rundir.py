"""The run directory."""

import json
import re
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from strider.engine import Description
from strider.errors import ExitCode, StriderError
from strider.launch import rundir

FILES = ["description.json", "plan.json", "run.json", "suite.toml"]
NOW = datetime(2026, 11, 21, 5, 6, 7, 89_000, tzinfo=UTC)


def test_a_run_is_named_by_time_and_suite() -> None:
    assert re.fullmatch(r"2026-11-21-050607-quick-[a-z0-9]{4}", rundir.new_run_id("quick", NOW))


def test_the_time_in_names_and_files_is_utc() -> None:
    elsewhere = NOW.astimezone(timezone(timedelta(hours=9)))
    assert rundir.new_run_id("s", elsewhere).startswith("2026-11-21-050607-")
    assert rundir.iso(elsewhere) == "2026-11-21T05:06:07.089Z"


def test_runs_of_the_same_second_differ() -> None:
    assert len({rundir.new_run_id("s", NOW) for _ in range(20)}) > 1


def test_a_run_directory_begins_with_all_that_is_known_and_is_sealed_at_the_end(
    tmp_path: Path, description: Description
) -> None:
    directory = rundir.create(
        tmp_path / "store", "r1", "{}\n", "# suite\n", description, {"directory": "/data"}
    )
    assert directory.plan.read_text() == "{}\n"
    assert (directory.path / "suite.toml").read_text() == "# suite\n"
    begun = json.loads(directory.info.read_text())
    assert (begun["format"], begun["version"], begun["run"], begun["directory"]) == (
        "strider-run",
        1,
        "r1",
        "/data",
    )
    assert "ended" not in begun
    described = json.loads((directory.path / "description.json").read_text())
    assert described == description.model_dump(mode="json")
    rundir.seal(directory, NOW, "complete", 0)
    sealed = json.loads(directory.info.read_text())
    assert sealed == {
        **begun,
        "ended": "2026-11-21T05:06:07.089Z",
        "status": "complete",
        "exit_code": 0,
        "leftover": None,
        "confinement": None,
    }
    assert sorted(path.name for path in directory.path.iterdir()) == FILES


def test_a_store_that_cannot_be_made_comes_with_a_remedy(tmp_path: Path, description: Description) -> None:
    (tmp_path / "store").touch()
    with pytest.raises(StriderError, match="choose another store with --store") as caught:
        rundir.create(tmp_path / "store", "r1", "", "", description, {})
    assert caught.value.exit_code == ExitCode.CANNOT_RUN


def test_no_draft_is_left_where_the_store_takes_no_more(
    tmp_path: Path, description: Description, monkeypatch: pytest.MonkeyPatch
) -> None:
    directory = rundir.create(tmp_path / "store", "r1", "{}\n", "", description, {})
    begun = directory.info.read_text()

    def full(path: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="No space"):
        rundir.seal(directory, NOW, "complete", 0)
    assert directory.info.read_text() == begun
    assert sorted(path.name for path in directory.path.iterdir()) == FILES
