"""`strider rm` removes runs by age, number and status; tags and notes protect them."""

import io
import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from builders import CaseSpec, RunBuilder
from strider.cli import main

OLD, MIDDLE, NEW = (f"2026-11-{day}-101112-quick-abcd" for day in (10, 15, 20))
DAYS = {OLD: 40, MIDDLE: 10, NEW: 1}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Three runs of 40, 10 and 1 days ago; the second was interrupted."""
    now = datetime.now(UTC)
    for name, days in DAYS.items():
        status = "interrupted" if name == MIDDLE else "complete"
        path = RunBuilder([CaseSpec()], repetitions=1).write(tmp_path / "store" / name, status)
        info = json.loads((path / "run.json").read_text())
        info["ended"] = (now - timedelta(days=days)).isoformat()
        (path / "run.json").write_text(json.dumps(info))
    return tmp_path / "store"


def rm(store: Path, *words: str) -> int:
    return main(["rm", "--store", str(store), *words])


def names(store: Path) -> list[str]:
    return sorted(entry.name for entry in store.iterdir())


@pytest.mark.parametrize(
    ("words", "kept"),
    [
        (["--older-than", "30d"], [MIDDLE, NEW]),
        (["--older-than", "1w"], [NEW]),
        (["--older-than", "36h"], [NEW]),
        (["--keep", "1"], [NEW]),
        (["--keep", "0"], []),
        (["--keep", "5"], [OLD, MIDDLE, NEW]),
        (["--status", "interrupted"], [OLD, NEW]),
        (["--status", "failed,complete"], [MIDDLE]),
        (["--status", "complete", "--keep", "1"], [MIDDLE, NEW]),
        (["--status", "interrupted", "--older-than", "30d"], [OLD, MIDDLE, NEW]),
    ],
)
def test_all_conditions_must_hold(store: Path, words: list[str], kept: list[str]) -> None:
    assert rm(store, "--yes", *words) == 0
    assert names(store) == kept


def test_a_tag_or_a_note_keeps_a_run(store: Path) -> None:
    assert main(["tag", "--store", str(store), OLD, "+paper"]) == 0
    assert main(["tag", "--store", str(store), NEW, "--note", "the good one"]) == 0
    assert rm(store, "--yes", "--keep", "0") == 0
    assert names(store) == [OLD, NEW]
    assert rm(store, "--yes", "--keep", "0", "--labelled") == 0
    assert names(store) == []


def test_a_run_that_may_be_active_stays(store: Path) -> None:
    RunBuilder([CaseSpec()], repetitions=1).write(store / "2026-11-21-101112-quick-abcd", None)
    assert rm(store, "--yes", "--status", "unfinished") == 0
    assert len(names(store)) == 4


def test_a_dry_run_lists_and_removes_nothing(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rm(store, "--dry-run", "--older-than", "30d") == 0
    printed = capsys.readouterr().out
    assert printed.startswith(f"{OLD}: complete, ")
    assert printed.endswith("would remove 1 run of 3\n")
    assert names(store) == [OLD, MIDDLE, NEW]


@pytest.mark.parametrize(
    ("answer", "kept"), [("y\n", [NEW]), ("n\n", [OLD, MIDDLE, NEW]), ("\n", [OLD, MIDDLE, NEW])]
)
def test_a_terminal_is_asked(
    store: Path, monkeypatch: pytest.MonkeyPatch, answer: str, kept: list[str]
) -> None:
    terminal = io.StringIO(answer)
    monkeypatch.setattr(terminal, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", terminal)
    assert rm(store, "--keep", "1") == 0
    assert names(store) == kept


def test_without_a_terminal_nothing_is_removed(
    store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n"))
    assert rm(store, "--keep", "1") == 2
    assert "2 runs not removed: there is no terminal to ask on; add --yes" in capsys.readouterr().err
    assert names(store) == [OLD, MIDDLE, NEW]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([], "nothing to remove: name runs, or add --older-than AGE, --keep N or --status STATUS"),
        (["--labelled"], "nothing to remove: name runs, or add --older-than"),
        ([OLD, "--keep", "0"], "runs are selected by name or by condition, not by both"),
        ([OLD, "--labelled"], "runs are selected by name or by condition, not by both"),
        (["--keep", "0", "--force"], "--force is for named runs"),
        (["--older-than", "soon"], '--older-than soon: "soon" is not a time'),
        (["--status", "done"], 'unknown --status "done": choose from complete,'),
    ],
)
def test_mistakes_are_named(
    store: Path, capsys: pytest.CaptureFixture[str], words: list[str], message: str
) -> None:
    assert rm(store, "--yes", *words) == 2
    assert message in capsys.readouterr().err
    assert len(names(store)) == 3
