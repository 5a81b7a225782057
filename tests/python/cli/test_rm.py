"""`strider rm` removes the named runs, and nothing where a name is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from builders import CaseSpec, RunBuilder
from continued_builders import program
from datasets_builders import made
from strider.cli import main

RUN, OTHER = "2026-11-20-101112-quick-abcd", "2026-11-21-101112-quick-efgh"


@pytest.fixture
def store(tmp_path: Path) -> Path:
    for name in (RUN, OTHER):
        RunBuilder([CaseSpec()], repetitions=1).write(tmp_path / "store" / name)
    return tmp_path / "store"


def rm(store: Path, *words: str) -> int:
    return main(["rm", "--store", str(store), *words])


def names(store: Path) -> list[str]:
    return sorted(entry.name for entry in store.iterdir())


def test_a_run_goes_with_all_its_files_and_what_links_lead_to_stays(store: Path, tmp_path: Path) -> None:
    (store / RUN / "notes").mkdir()
    (tmp_path / "precious").write_text("data")
    (store / RUN / "notes" / "link").symlink_to(tmp_path / "precious")
    assert rm(store, RUN) == 0
    assert names(store) == [OTHER]
    assert (tmp_path / "precious").read_text() == "data"


def test_one_wrong_name_removes_nothing(store: Path) -> None:
    assert rm(store, RUN, "2026-11-22") == 2
    assert rm(store, "2026") == 2
    assert names(store) == [RUN, OTHER]


def test_a_run_named_twice_is_removed_once(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rm(store, RUN, RUN[:12], "latest") == 0
    assert names(store) == []
    assert capsys.readouterr().out == f"removed {store / RUN}\nremoved {store / OTHER}\n"


def test_a_dry_run_lists_and_removes_nothing(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rm(store, "--dry-run", RUN) == 0
    assert capsys.readouterr().out == f"would remove {store / RUN}\n"
    assert names(store) == [RUN, OTHER]


def test_a_directory_with_a_foreign_run_json_stays(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / "run.json").write_text('{"scripts": {"test": "jest"}}')
    assert rm(tmp_path, str(project)) == 2
    assert names(project) == ["run.json"]


def test_a_damaged_run_of_the_store_can_be_removed(store: Path) -> None:
    (store / RUN / "run.json").write_text("{")
    assert rm(store, RUN) == 0
    assert names(store) == [OTHER]


@pytest.mark.parametrize("verb", [["rm", RUN], ["rm", "--keep", "1", "--yes"]])
def test_a_data_set_that_the_run_wrote_is_named(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], verb: list[str]
) -> None:
    target = tmp_path / "a target"
    target.mkdir()
    made(target, "kept", [10])
    run = program(store / RUN, cases=1)
    info = json.loads((run / "run.json").read_text())
    words = [*verb, "--store", str(store)]
    for by, said in (
        ("r", f"data set kept stays in {target}: strider data remove kept --target "),
        (RUN, ""),
    ):
        program(store / RUN, cases=1)
        (run / "run.json").write_text(json.dumps(info | {"run": by, "directory": str(target)}))
        assert main(words) == 0
        printed = capsys.readouterr().out
        assert said in printed
        assert ("stays" in printed) is bool(said)
    assert (target / "strider-data-kept" / "data.0").exists()
