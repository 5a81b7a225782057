"""What reports say of resumed runs and of data sets."""

import json
from pathlib import Path

import pytest

from continued_builders import program, resumed
from datasets_builders import made
from strider.cli import main
from strider.report import write_html
from strider.store import load
from strider.units import format_ranges


def page_of(path: Path, tmp_path: Path) -> str:
    return write_html([load(path)], tmp_path / "report.html").read_text()


def shown(path: Path, capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert main(["show", str(path), *words]) == 0
    return capsys.readouterr().out


def test_a_resumed_run_shows_its_starts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = resumed(tmp_path / "run", (1, 3), reason="time limit", differences=["host: a then, b now"])
    text = shown(path, capsys)
    table = text[text.index("Starts of this run:") :].splitlines()[3:6]
    assert [row.split()[0] for row in table] == ["1", "2", "3"]
    assert all(word in row for row, word in zip(table, ["time limit", "time limit", "end of"], strict=True))
    assert "1 h" in table[0]
    page = page_of(path, tmp_path)
    assert "This run was measured in 3 starts, with 2 h of pauses between them." in page
    assert "host: a then, b now" in page
    assert "Repetitions of each case in each start" in page


def test_the_signal_that_interrupted_a_start_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = resumed(tmp_path / "run", (1,), reason="interrupted", signal="SIGTERM")
    assert "interrupted: SIGTERM" in shown(path, capsys)


def test_results_for_other_programs_have_their_starts_and_their_data_set(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    results = json.loads(shown(resumed(tmp_path / "run", (1, 3)), capsys, "--json"))["results"]
    assert [row["starts"] for row in results] == [[1, 2, 3], [1, 2, 3]]
    results = json.loads(shown(program(tmp_path / "program"), capsys, "--json"))["results"]
    assert {row["dataset"] for row in results} == {"kept"}
    assert {tuple(row["starts"]) for row in results} == {(1,)}


def test_a_run_of_one_start_has_no_such_section(tmp_path: Path) -> None:
    assert "Repetitions of each case in each start" not in page_of(program(tmp_path / "run"), tmp_path)


def test_every_start_is_counted_and_many_cuts_are_one_sentence(tmp_path: Path) -> None:
    page = page_of(resumed(tmp_path / "run", range(1, 6), differences=["host: a then, b now"]), tmp_path)
    assert "measured in 6 starts" in page
    assert "This run was cut 5 times between 2026-11-21 04:06:06 UTC and " in page
    assert "Different since its first start: host: a then, b now." in page
    assert "killed, or cut by a power failure at" not in page


@pytest.mark.parametrize(("numbers", "words"), [([], ""), ([3], "3"), ([1, 2, 3, 7, 9, 10], "1–3, 7, 9–10")])
def test_numbers_are_joined_to_ranges(numbers: list[int], words: str) -> None:
    assert format_ranges(numbers) == words


def test_a_program_shows_its_steps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = program(tmp_path / "run")
    page = page_of(path, tmp_path)
    assert "Steps of this program, in order of execution" in page
    assert "Data set kept: made by this run; left: generation 2: 4 MiB in 4 files." in page
    text = shown(path, capsys)
    assert "Data set kept is now not in /mnt/synthetic" in " ".join(text.split())
    (found,) = json.loads(shown(path, capsys, "--json"))["data_sets"]
    assert [step["action"] for step in found["steps"]] == ["made", "read", "updated"]
    assert (found["action"], found["left"]["generation"]) == ("made", 2)


def test_the_writer_of_a_set_and_an_incomplete_write_are_named(tmp_path: Path) -> None:
    page = page_of(program(tmp_path / "run", cases=1, found=7, torn=True), tmp_path)
    assert "rewritten by this run, which found generation 7; left: generation 8, incomplete" in page
    assert "Data set kept is incomplete: the phase that wrote it did not end." in page


def test_what_is_there_now_is_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = program(tmp_path / "run", cases=1)
    info = json.loads((path / "run.json").read_text())
    (path / "run.json").write_text(json.dumps(info | {"directory": str(tmp_path)}))
    made(tmp_path, "kept", [10])
    assert f"is now in {tmp_path}, complete." in shown(path, capsys).replace("\n", "")
    later = program(tmp_path / "later", cases=3)
    (later / "run.json").write_text(json.dumps(info | {"directory": str(tmp_path)}))
    assert "with other data: generation 1, written by run r." in " ".join(shown(later, capsys).split())
