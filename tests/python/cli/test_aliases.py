"""Earlier names of verbs do the same as the new ones, and print the new name."""

from pathlib import Path

import pytest

from builders import CaseSpec, RunBuilder
from strider.cli import main
from strider.store.labels import read_labels, write_labels

RUN, OTHER, ACTIVE = (f"2026-11-{day}-101112-quick-abcd" for day in (19, 20, 21))
PRUNED = 'strider: "strider prune" is now "strider rm": version 0.3 removes the old name\n'
NOTED = 'strider: "strider note" is now "strider tag RUN --note TEXT": version 0.3 removes the old name\n'


def store_of_runs(folder: Path) -> Path:
    """Writes a store with three runs: the second one has a tag, the third one may be active."""
    for run, end in ((RUN, "complete"), (OTHER, "interrupted"), (ACTIVE, None)):
        RunBuilder([CaseSpec()], repetitions=1).write(folder / run, end)
    write_labels(folder / OTHER, "paper", "")
    return folder


def names(store: Path) -> list[str]:
    return sorted(entry.name for entry in store.iterdir())


@pytest.mark.parametrize(
    ("words", "code", "left"),
    [
        ("--keep 0 --dry-run", 0, [RUN, OTHER, ACTIVE]),
        ("--keep 1", 2, [RUN, OTHER, ACTIVE]),
        ("--keep 0 --yes", 0, [OTHER, ACTIVE]),
        ("--keep 0 --labelled --yes", 0, [ACTIVE]),
        ("--status done", 2, [RUN, OTHER, ACTIVE]),
        ("--status failed", 0, [RUN, OTHER, ACTIVE]),
        ("--older-than soon", 2, [RUN, OTHER, ACTIVE]),
    ],
)
def test_prune_is_rm_with_conditions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], words: str, code: int, left: list[str]
) -> None:
    first, second = store_of_runs(tmp_path / "first"), store_of_runs(tmp_path / "second")
    assert main(["prune", "--store", str(first), *words.split()]) == code
    pruned = capsys.readouterr()
    assert main(["rm", "--store", str(second), *words.split()]) == code
    removed = capsys.readouterr()
    assert (pruned.out, pruned.err) == (removed.out, PRUNED + removed.err)
    assert names(first) == names(second) == left


@pytest.mark.parametrize("words", [[], ["--labelled"], ["--labelled", "--yes"]])
def test_prune_without_conditions_removes_nothing(
    store: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    store_of_runs(store)
    assert main(["prune", *words]) == 2
    message = "strider: nothing to prune by: add --older-than AGE, --keep N or --status STATUS\n"
    assert capsys.readouterr() == ("", PRUNED + message)
    assert len(names(store)) == 3


@pytest.mark.parametrize("words", [[RUN], ["--keep", "0", RUN], ["--keep", "0", "--force"]])
def test_prune_takes_no_names(store: Path, words: list[str]) -> None:
    store_of_runs(store)
    assert main(["prune", *words]) == 2
    assert len(names(store)) == 3


def test_note_replaces_prints_and_removes_the_note(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run = store_of_runs(store) / OTHER
    for words in (["after the update"], [], [""], []):
        assert main(["note", OTHER, *words]) == 0
    printed = "after the update\n" * 2 + f"{OTHER}: no note\n" * 2
    assert capsys.readouterr() == (printed, NOTED * 4)
    assert (read_labels(run).note, read_labels(run).tags) == ("", ["paper"])
    assert main(["note", "2026-11-18", "x"]) == 2


@pytest.mark.parametrize(("verb", "new"), [("prune", "strider rm"), ("note", "strider tag RUN --note TEXT")])
def test_help_of_an_earlier_name_has_the_new_one(
    capsys: pytest.CaptureFixture[str], verb: str, new: str
) -> None:
    assert main([verb, "--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert f"use {new}" in shown
    assert "Version 0.3 removes this name." in shown
    assert main(["--help"]) == 0
    assert f"  {verb} " not in capsys.readouterr().out
