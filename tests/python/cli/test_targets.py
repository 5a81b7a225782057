"""`strider run` with several targets."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import pytest

from strider.cli import main
from strider.engine import Engine
from strider.errors import ExitCode
from strider.launch import Outcome
from strider.running import turns
from strider.running.performing import perform

SUITE = """\
[suite]
name = "trial"
target = ["{old}", "{new}"]
clients = 1
repetitions = 3
[[case]]
interface = "posix"
pattern = "segmented"
transfer = "64KiB"
block = "256KiB"
operations = ["write", "read"]
"""


@pytest.fixture
def place(engine_in_use: Engine, store: Path, old_and_new: Path) -> Path:
    """A folder with a suite, two targets and the store."""
    text = SUITE.format(old=old_and_new / "old", new=old_and_new / "new")
    (old_and_new / "trial.toml").write_text(text, encoding="utf-8")
    return old_and_new


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--against", "OLD"], "--against compares one target with the baseline, not 2"),
        (["--target", "OLD,OLD/"], "two of the targets are the same directory"),
        (["--target", "OLD", "--target", "OLD/missing"], "does not exist"),
        (["--pairs", "4"], "--pairs needs a baseline"),
    ],
)
def test_mistakes_are_found_before_anything_runs(
    place: Path, capfd: pytest.CaptureFixture[str], options: list[str], message: str
) -> None:
    words = [word.replace("OLD", str(place / "old")) for word in options]
    assert main(["run", str(place / "trial.toml"), *words]) == 2
    assert message in capfd.readouterr().err
    assert not (place / "store").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("whole_runs")
def test_one_run_has_all_targets_in_turns(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(place / "trial.toml"), "--quiet"]) == 0
    shown, said = capfd.readouterr()
    assert "3 rounds of 2 targets" in said
    assert shown.count("segmented,") >= 4
    (run,) = (place / "store").iterdir()
    assert (run / "report.html").exists()
    assert main(["export", "latest", "--rows", "results"]) == 0
    rows = list(csv.DictReader(io.StringIO(capfd.readouterr().out)))
    assert [(row["operation"], Path(row["target"]).name, row["n"]) for row in rows] == [
        ("write", "old", "3"),
        ("read", "old", "3"),
        ("write", "new", "3"),
        ("read", "new", "3"),
    ]
    assert main(["compare", "latest", "--by", "target", "--json"]) == 0
    compared = json.loads(capfd.readouterr().out)
    assert {row["change"]["method"] for row in compared["rows"]} == {"paired by round"}
    assert list((place / "old").iterdir()) == list((place / "new").iterdir()) == []


@pytest.mark.slow
def test_what_was_measured_before_the_end_is_one_run_too(
    place: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    outcomes: list[Outcome] = []

    def third_ends(*arguments: object) -> Outcome:
        outcomes.append(perform(*arguments))  # type: ignore[arg-type]
        is_third = len(outcomes) == 3
        return replace(outcomes[-1], exit_code=ExitCode.CHECK_FAILED) if is_third else outcomes[-1]

    monkeypatch.setattr(turns, "perform", third_ends)
    assert main(["run", str(place / "trial.toml"), "--quiet", "--json"]) == 1
    document = json.loads(capfd.readouterr().out)
    assert sorted(result["n"] for result in document["results"]) == [1, 1, 2, 2]
    assert len(list((place / "store").iterdir())) == 1
