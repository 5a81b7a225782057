"""Names of other users that are printed neither command the terminal nor look like lines of Strider."""

import ast
import io
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.table import Table

from builders import CaseSpec, RunBuilder
from datasets_builders import made
from strider.cli import main
from strider.console import _console, echo
from strider.datasets.marker import MARKER
from strider.text import forbidden

HOSTILE = "strider-x\x1b]0;title\x07\nstrider: all right\x1b[8m\u202e"
NAME = "2026-11-21-100000-quick-abcd"
PACKAGE = Path(__file__).parents[3] / "python" / "strider"


def is_clean(text: str) -> bool:
    return all(forbidden(line) is None for line in text.split("\n"))


@given(st.text())
def test_a_line_stays_one_line_without_control_characters(text: str) -> None:
    stream = io.StringIO()
    echo(text, stream)
    assert stream.getvalue().endswith("\n")
    assert forbidden(stream.getvalue()[:-1]) is None


@given(st.text(min_size=1))
def test_a_table_holds_no_control_characters_but_its_own(text: str) -> None:
    stream = io.StringIO()
    console = _console(file=stream, width=80)
    table = Table(text)
    table.add_row(text)
    console.print(table)
    console.print(text, markup=False)
    assert is_clean(stream.getvalue())


def test_colours_of_strider_stay() -> None:
    stream = io.StringIO()
    _console(file=stream, width=80, force_terminal=True, color_system="standard").print("[red]x[/red]")
    assert stream.getvalue() == "\x1b[31mx\x1b[0m\n"


def test_a_closed_stream_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", None)
    echo("text")


def test_clean_prints_a_folder_of_another_user_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / HOSTILE).mkdir()
    assert main(["clean", str(tmp_path), "--dry-run"]) == 0
    printed = capsys.readouterr()
    assert is_clean(printed.out + printed.err)
    (line,) = printed.out.splitlines()
    assert "\\u000astrider: all right" in line


def test_data_prints_a_marker_of_another_user_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    marker = made(tmp_path, "kept", [10]) / MARKER
    document = json.loads(marker.read_text())
    document["written"]["run"] = document["owner"]["user"] = document["owner"]["host"] = HOSTILE
    document["case"] = {"pattern": {"name": HOSTILE}, "clients": HOSTILE}
    marker.write_text(json.dumps(document))
    for command in (["list", str(tmp_path)], ["remove", "kept", "--target", str(tmp_path)]):
        main(["data", *command])
        printed = capsys.readouterr()
        assert is_clean(printed.out + printed.err)
        assert len(printed.out.splitlines()) == 1


@pytest.fixture
def hostile_run(tmp_path: Path) -> Path:
    """A run of another user whose values hold line breaks and look like rows."""
    run = RunBuilder([CaseSpec()], repetitions=3).write(tmp_path / NAME)
    for name in ("run.json", "card.json"):
        document = json.loads((run / name).read_text()) if (run / name).exists() else {}
        document |= {"run": HOSTILE, "directory": HOSTILE}
        if "environment" in document:
            document["environment"] |= {"host": HOSTILE, "target": {"path": HOSTILE, "type": HOSTILE}}
        (run / name).write_text(json.dumps(document, ensure_ascii=False))
    events = run / "events.jsonl"
    at = {"case": 1, "repetition": 0, "operation": "write", "rank": 0, "host": HOSTILE, "file": HOSTILE}
    error = {"event": "error", **at, "kind": "io", "message": HOSTILE, "time_s": 1}
    first, *rest = events.read_text().splitlines()
    events.write_text("\n".join([first, json.dumps(error), *rest, ""]))
    return run


@pytest.mark.parametrize(
    "words", [["show"], ["show", "--json"], ["compare", "{run}"], ["list"], ["list", "--json"]]
)
def test_values_of_a_run_of_another_user_make_no_lines(
    hostile_run: Path, capsys: pytest.CaptureFixture[str], words: list[str]
) -> None:
    runs = [str(hostile_run)] if words[0] != "list" else ["--store", str(hostile_run.parent)]
    assert main([words[0], *runs, *(word.format(run=hostile_run) for word in words[1:])]) == 0
    printed = capsys.readouterr()
    assert is_clean(printed.out + printed.err)
    assert not [line for line in printed.out.splitlines() if line.strip().startswith("strider: all right")]
    if "--json" not in words:
        assert "\\u000a" in printed.out


def test_a_list_names_a_run_as_its_folder(hostile_run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["list", "--json", "--store", str(hostile_run.parent)]) == 0
    assert [run["run"] for run in json.loads(capsys.readouterr().out)] == [NAME]


def test_no_verb_prints_otherwise() -> None:
    """One that does: print with `console.echo`, or with the consoles of that module."""
    found = {
        f"{file.name}: {ast.unparse(node)}"
        for file in [*PACKAGE.glob("cli/*.py"), *PACKAGE.glob("running/*.py")]
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("print", "Console")
    }
    assert not found
